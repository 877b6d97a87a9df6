import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Option, Random, Redacted, Schedule } from "effect"
import { rateLimitsOf, type RateLimits as Numbers } from "../../../src/domain/organization/Plan.ts"
import type { Category } from "../../../src/api/Annotations.ts"
import type { LimitStatus } from "../../../src/http/limits/LimitStatus.ts"
import { RateLimits } from "../../../src/http/limits/RateLimits.ts"
import { Readiness } from "../../../src/engine/lifecycle/Readiness.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import * as Redis from "./redisFixture.ts"
import { withinMinute } from "./withinMinute.ts"

type Limits = RateLimits["Service"]

/** Sends one request. Returns whether it passed. */
const pass = (
  limits: Limits,
  category: Category,
  rateLimits: Numbers,
  organizationId = "an organization",
  address?: string
) =>
  Effect.suspend(() => {
    const outcome = limits.ofOperation("consumer", category).pass({
      organizationId,
      rateLimits,
      ...(address !== undefined && { address: () => address })
    })
    return Effect.map(Effect.isEffect(outcome) ? outcome : Effect.succeed(outcome), hasPassed)
  })

const hasPassed = ({ retryAfterSeconds }: LimitStatus): boolean => retryAfterSeconds === undefined

/** Sends requests, by default all at once. Returns the number of those that passed. */
const passed = (one: Effect.Effect<boolean>, requests: number, concurrency: number | "unbounded" = "unbounded") =>
  Effect.map(Effect.replicateEffect(one, requests, { concurrency }), (outcomes) => outcomes.filter(Boolean).length)

const limited = (consumerApiPerMinute: number) => rateLimitsOf("enterprise", { consumerApiPerMinute })

describe.skipIf(!Redis.canStart)(Redis.title("one count of several processes"), () => {
  const patient = () => ({ prefix: Redis.newPrefix(), answerMillisMax: Redis.patientMillis })

  const two = Effect.gen(function* () {
    const { url } = yield* Redis.ownServer
    const options = patient()
    return [yield* Redis.node(url, options), yield* Redis.node(url, options)] as const
  })

  for (const limit of [1, 2, 10, 97, 1_000, 20_000]) {
    it.live(`allows exactly ${limit} requests on two processes together`, () =>
      Effect.gen(function* () {
        const [one, other] = yield* two
        yield* withinMinute(5)
        const requests = Math.ceil(limit * 0.8) + 20
        const counts = yield* Effect.all(
          [one, other].map(({ limits }) => passed(pass(limits, "general", limited(limit)), requests, 50)),
          { concurrency: 2 }
        )
        assert.strictEqual(counts[0]! + counts[1]!, limit)
      })
    )
  }

  for (const [limit, addresses] of [
    [10, 40],
    [50, 5],
    [50, 200],
    [500, 1],
    [500, 30]
  ] as const) {
    it.live(`passes ${limit} requests, and at most 4/5 more, of ${addresses} addresses at two processes`, () =>
      Effect.gen(function* () {
        const nodes = yield* two
        yield* withinMinute(10)
        const requests = Array.from({ length: Math.max(2 * limit, 4 * addresses) }, (_, index) => index)
        const outcomes = yield* Effect.forEach(
          requests,
          (index) => pass(nodes[index % 2]!.limits, "general", limited(limit), "pressed", `${index % addresses}`),
          { concurrency: 25 }
        )
        const count = outcomes.filter(Boolean).length
        assert.isAtLeast(count, limit)
        assert.isAtMost(count, addresses === 1 ? limit : limit * 1.8)
      })
    )
  }

  it.live("returns the lease of one process when the other needs it", () =>
    Effect.gen(function* () {
      const [one, other] = yield* two
      yield* withinMinute(5)
      // The first request leases an eighth of the limit.
      assert.isTrue(yield* pass(one.limits, "general", limited(1_000)))
      assert.strictEqual(yield* passed(pass(other.limits, "general", limited(1_000)), 1_100, 30), 999)
      assert.isFalse(yield* pass(one.limits, "general", limited(1_000)))
    })
  )

  it.live("is exact with uneven callers, one at a time, in any sequence", () =>
    Effect.gen(function* () {
      const [one, other] = yield* two
      yield* withinMinute(10)
      for (let round = 0; round < 10; round++) {
        const limit = yield* Random.nextIntBetween(1, 200)
        let count = 0
        for (let request = 0; request < limit + 10; request++) {
          const { limits } = (yield* Random.next) < round / 10 ? one : other
          if (yield* pass(limits, "general", limited(limit), `organization ${round}`)) count++
        }
        assert.strictEqual(count, limit, `round ${round}, limit ${limit}`)
      }
    }).pipe(Random.withSeed("uneven"))
  )

  it.live("applies the limits per second and per minute together", () =>
    Effect.gen(function* () {
      const [one, other] = yield* two
      yield* withinMinute(8)
      const rateLimits = rateLimitsOf("enterprise", { queueEntriesPerSecond: 40, queueEntriesPerMinute: 100 })
      const perSecond: Array<number> = []
      for (let second = 0; second < 3; second++) {
        const now = yield* Clock.currentTimeMillis
        yield* Effect.sleep(1_000 - (now % 1_000) + 5)
        const counts = yield* Effect.all(
          [one, other].map(({ limits }) => passed(pass(limits, "queueEntry", rateLimits), 60, 10)),
          { concurrency: 2 }
        )
        perSecond.push(counts[0]! + counts[1]!)
      }
      assert.deepStrictEqual(perSecond, [40, 40, 20])
    })
  )

  it.live("costs few round trips at a high limit", () =>
    Effect.gen(function* () {
      const [{ limits, lease }] = yield* two
      yield* withinMinute(5)
      let leases = 0
      const { lend } = lease
      lease.lend = (request) =>
        Effect.suspend(() => {
          leases++
          return lend(request)
        })
      assert.strictEqual(yield* passed(pass(limits, "general", limited(100_000)), 20_000, 100), 20_000)
      assert.isBelow(leases, 10)
    })
  )

  it.live("loses the lease of a dead process, without a long wait for any request", () =>
    Effect.gen(function* () {
      const { url } = yield* Redis.ownServer
      const options = patient()
      const survivor = yield* Redis.node(url, options)
      yield* withinMinute(5)
      yield* Effect.scoped(
        Effect.flatMap(Redis.node(url, options), ({ limits }) => pass(limits, "general", limited(80)))
      )
      const begun = yield* Clock.currentTimeMillis
      assert.strictEqual(yield* passed(pass(survivor.limits, "general", limited(80)), 200, 20), 80 - 11)
      assert.isBelow((yield* Clock.currentTimeMillis) - begun, 60_000)
    })
  )
})

describe.skipIf(!Redis.canStart)(Redis.title("a lost Redis"), () => {
  const two = Effect.gen(function* () {
    const server = yield* Redis.ownServer
    const options = { prefix: Redis.newPrefix() }
    return { server, nodes: [yield* Redis.node(server.url, options), yield* Redis.node(server.url, options)] as const }
  })

  it.live(
    "after a flush harms nothing: each process still applies the limit, and they soon share one count again",
    () =>
      Effect.gen(function* () {
        const { server, nodes } = yield* two
        yield* withinMinute(8)
        const [one, other] = nodes
        assert.strictEqual(yield* passed(pass(one.limits, "general", limited(100)), 40, 5), 40)
        yield* server.flush
        const counts = yield* Effect.all(
          [one, other].map(({ limits }) => passed(pass(limits, "general", limited(100)), 150, 5)),
          { concurrency: 2 }
        )
        assert.isAtMost(counts[0]! + 40, 100)
        assert.isAtMost(counts[1]!, 100)
        assert.isAtLeast(counts[0]! + counts[1]! + 40, 100)
        assert.strictEqual(yield* passed(pass(one.limits, "general", limited(100), "another"), 60, 5), 60)
        assert.strictEqual(yield* passed(pass(other.limits, "general", limited(100), "another"), 60, 5), 40)
      })
  )

  for (const [how, harm, repair] of [
    ["killed", (server: Redis.OwnServer) => server.kill, (server: Redis.OwnServer) => server.start],
    [
      "paused",
      (server: Redis.OwnServer) => server.signal("SIGSTOP"),
      (server: Redis.OwnServer) => server.signal("SIGCONT")
    ]
  ] as const) {
    const { lines, layer } = Redis.logged()
    it.live(
      `that is ${how} delays nothing: each process counts alone, logs that, and shares again after its return`,
      () =>
        Effect.gen(function* () {
          const { server, nodes } = yield* two
          const [one, other] = nodes
          yield* withinMinute(20)
          assert.strictEqual(yield* passed(pass(one.limits, "general", limited(300)), 10, 5), 10)

          yield* harm(server)
          const begun = yield* Clock.currentTimeMillis
          const alone = yield* Effect.all(
            [one, other].map(({ limits }) => passed(pass(limits, "general", limited(300)), 500, 20)),
            { concurrency: 2 }
          )
          assert.deepStrictEqual(alone, [290, 300], "the limit applies in each process")
          // Waiting for Redis with each request would take 20 s.
          assert.isBelow((yield* Clock.currentTimeMillis) - begun, 60_000)
          assert.isFalse(one.lease.isInReach())
          yield* Redis.until(() => lines.some((line) => line.includes("this process counts rate limits alone")))

          yield* repair(server)
          yield* Redis.until(() => one.lease.isInReach() && other.lease.isInReach())
          assert.strictEqual(yield* passed(pass(one.limits, "general", limited(300), "another"), 200, 20), 200)
          assert.strictEqual(yield* passed(pass(other.limits, "general", limited(300), "another"), 200, 20), 100)
        }).pipe(Effect.provide(layer))
    )
  }

  it.live("is a remark of /ready, which stays ready, and does not prevent a start", () =>
    Effect.gen(function* () {
      const server = yield* Redis.ownServer
      yield* server.kill
      const services = yield* Layer.build(
        RateLimits.layer.pipe(
          Layer.provideMerge(Readiness.layer),
          Layer.provide(Settings.layerTest({ redisUrl: Option.some(Redacted.make(server.url)) }))
        )
      )
      const { report } = Context.get(services, Readiness)
      assert.deepStrictEqual(yield* report, {
        isReady: true,
        reasons: {},
        remarks: { redis: "out of reach; this process counts rate limits alone" },
        facts: {}
      })
      yield* server.start
      const back = yield* report.pipe(
        Effect.repeat({
          until: ({ remarks }) => Object.keys(remarks).length === 0,
          schedule: Schedule.spaced("50 millis")
        }),
        Effect.timeout("20 minutes")
      )
      assert.isTrue(back.isReady)
    })
  )
})
