import { assert, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { TestClock } from "effect/testing"
import { defaultRateLimits, rateLimitsOf, type RateLimits as Numbers } from "../../../src/domain/organization/Plan.ts"
import type { Api } from "../../../src/http/limits/Limit.ts"
import type { LimitStatus } from "../../../src/http/limits/LimitStatus.ts"
import { make, type Caller, type RateLimits } from "../../../src/http/limits/RateLimits.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import type { Category } from "../../../src/api/Annotations.ts"

type Limits = RateLimits["Service"]

const organizationId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
const growth = rateLimitsOf("growth")

const minute = 29_921_013 * 60

/** Ten seconds into a minute. */
const start = (minute + 10) * 1_000
const minuteEnds = minute + 60

const limitsAt = (now: number, settings: Parameters<typeof Settings.layerTest>[0] = {}) =>
  Effect.andThen(TestClock.setTime(now), make()).pipe(Effect.provide(Settings.layerTest(settings)))

/** Sends requests at once. Returns the number of those that passed. */
const passed = (limits: Limits, api: Api, category: Category, caller: Partial<Caller>, requests: number): number =>
  statusesOf(limits, api, category, caller, requests).filter(hasPassed).length

const statusesOf = (limits: Limits, api: Api, category: Category, caller: Partial<Caller>, requests: number) => {
  const limit = limits.ofOperation(api, category)
  return Array.from(
    { length: requests },
    () => limit.pass({ organizationId, rateLimits: growth, ...caller }) as LimitStatus
  )
}

const hasPassed = ({ retryAfterSeconds }: LimitStatus): boolean => retryAfterSeconds === undefined

const perMinute: ReadonlyArray<readonly [Api, Category, number]> = [
  ["consumer", "otpRequest", 10],
  ["consumer", "externalAuthorization", 100],
  ["consumer", "queueEntry", 1_000],
  ["consumer", "auctionBid", 500],
  ["consumer", "drawEntry", 1_000],
  ["admin", "analyticsQuery", 100],
  ["admin", "general", 1_000],
  ["consumer", "general", 5_000]
]

describe("rate limits", () => {
  for (const [api, category, limit] of perMinute) {
    it.effect(`allow exactly ${limit} ${category} requests to the ${api} API in a minute`, () =>
      Effect.gen(function* () {
        const limits = yield* limitsAt(start - 10_000)
        for (let round = 0; round < 2; round++) {
          let count = 0
          // Below every burst limit: 50 seconds with requests, then none.
          for (let second = 0; second < 60; second++) {
            count += passed(limits, api, category, {}, second < 50 ? Math.ceil(limit / 49) : 0)
            yield* TestClock.adjust("1 second")
          }
          assert.strictEqual(count, limit)
        }
      })
    )
  }

  const perSecond = [
    ["queueEntry", 100],
    ["auctionBid", 50],
    ["drawEntry", 100]
  ] as const
  for (const [category, limit] of perSecond) {
    it.effect(`allow exactly ${limit} ${category} requests in a second`, () =>
      Effect.gen(function* () {
        const limits = yield* limitsAt(start)
        assert.strictEqual(passed(limits, "consumer", category, {}, limit + 7), limit)
        yield* TestClock.adjust("999 millis")
        assert.strictEqual(passed(limits, "consumer", category, {}, 1), 0)
        yield* TestClock.adjust("1 millis")
        assert.strictEqual(passed(limits, "consumer", category, {}, limit + 7), limit)
      })
    )
  }

  const plans = [
    ["starter", "admin", "general", 500],
    ["starter", "consumer", "general", 2_000],
    ["starter", "admin", "analyticsQuery", 50],
    ["growth", "admin", "general", 1_000],
    ["growth", "consumer", "general", 5_000],
    ["growth", "admin", "analyticsQuery", 100]
  ] as const
  for (const [plan, api, category, limit] of plans) {
    it.effect(`of ${plan} allow exactly ${limit} ${category} requests to the ${api} API`, () =>
      Effect.gen(function* () {
        const limits = yield* limitsAt(start)
        const caller = { rateLimits: rateLimitsOf(plan) }
        assert.strictEqual(passed(limits, api, category, caller, limit + 13), limit)
      })
    )
  }

  it.effect("of enterprise are its own numbers, for categories too, and unlimited without a number", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start)
      const caller = {
        rateLimits: rateLimitsOf("enterprise", { queueEntriesPerSecond: 2_500, otpRequestsPerMinute: 3 })
      }
      assert.strictEqual(passed(limits, "consumer", "queueEntry", caller, 3_000), 2_500)
      assert.strictEqual(passed(limits, "consumer", "otpRequest", caller, 20), 3)
      assert.strictEqual(passed(limits, "consumer", "drawEntry", caller, 20_000), 20_000)
      const [unlimited] = statusesOf(limits, "admin", "general", caller, 1)
      assert.deepStrictEqual(unlimited, { limit: 2 ** 31 - 1, remaining: 2 ** 31 - 1, resetAtSeconds: minuteEnds })
    })
  )

  it.effect("count a category's requests in the general limit too, and refused ones in none", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start)
      const rateLimits: Numbers = { ...defaultRateLimits, consumerApiPerMinute: 15 }
      assert.strictEqual(passed(limits, "consumer", "otpRequest", { rateLimits }, 30), 10)
      assert.strictEqual(passed(limits, "consumer", "general", { rateLimits }, 30), 5)
      assert.strictEqual(passed(limits, "consumer", "queueEntry", { rateLimits }, 1), 0)
    })
  )

  it.effect("apply to an organization across its keys, and to no other organization", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start)
      assert.strictEqual(passed(limits, "consumer", "otpRequest", {}, 6), 6)
      const again = { rateLimits: { ...growth } }
      assert.strictEqual(passed(limits, "consumer", "otpRequest", again, 6), 4)
      assert.strictEqual(passed(limits, "consumer", "otpRequest", { organizationId: "another" }, 6), 6)
    })
  )

  it.effect("report the limit with the least remaining", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start)
      const entries = statusesOf(limits, "consumer", "queueEntry", {}, 101)
      assert.deepStrictEqual(entries[0], { limit: 100, remaining: 99, resetAtSeconds: start / 1_000 + 1 })
      assert.deepStrictEqual(entries[99], { limit: 100, remaining: 0, resetAtSeconds: start / 1_000 + 1 })
      assert.deepInclude(entries[100], { limit: 100, remaining: 0, resetAtSeconds: start / 1_000 + 1 })
      for (let second = 0; second < 9; second++) {
        yield* TestClock.adjust("1 second")
        assert.strictEqual(passed(limits, "consumer", "queueEntry", {}, 99), 99)
      }
      yield* TestClock.adjust("1 second")
      const [last] = statusesOf(limits, "consumer", "queueEntry", {}, 1)
      assert.deepStrictEqual(last, { limit: 1_000, remaining: 8, resetAtSeconds: minuteEnds }, "the minute's")
    })
  )

  it.effect("give refused clients a wait beyond the window, spread over several seconds", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start + 100)
      const refused = statusesOf(limits, "consumer", "otpRequest", {}, 1_010).slice(10)
      const seconds = refused.map(({ retryAfterSeconds }) => retryAfterSeconds!)
      assert.isTrue(seconds.every((wait) => Number.isInteger(wait) && wait >= 50 && wait <= 66))
      const mostInOne = Math.max(...[...Map.groupBy(seconds, (wait) => wait).values()].map(({ length }) => length))
      assert.isBelow(mostInOne, 150)

      const bursts = statusesOf(limits, "consumer", "queueEntry", {}, 300).slice(100)
      assert.deepStrictEqual(new Set(bursts.map(({ retryAfterSeconds }) => retryAfterSeconds)), new Set([1, 2]))
    }).pipe(Random.withSeed("spread"))
  )

  it.effect("per address and per consumer are their shares of the limits by the minute, in each organization", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start, { limitPerAddress: 0.3, limitPerConsumer: 0.005 })
      assert.strictEqual(passed(limits, "consumer", "otpRequest", from("192.0.2.1"), 8), 3)
      assert.strictEqual(passed(limits, "consumer", "otpRequest", from("192.0.2.2"), 2), 2)
      const elsewhere = { ...from("192.0.2.1"), organizationId: "another" }
      assert.strictEqual(
        passed(limits, "consumer", "otpRequest", elsewhere, 8),
        3,
        "each organization counts separately"
      )
      assert.strictEqual(passed(limits, "consumer", "otpRequest", from("192.0.2.3"), 8), 3)
      assert.strictEqual(passed(limits, "consumer", "otpRequest", from("192.0.2.1"), 1), 0)
      const consumer = { ...from("192.0.2.1"), consumerId: "first" }
      assert.strictEqual(passed(limits, "consumer", "queueEntry", consumer, 8), 5)
      assert.strictEqual(passed(limits, "consumer", "queueEntry", { ...consumer, consumerId: "second" }, 2), 2)
      assert.strictEqual(passed(limits, "consumer", "queueEntry", from("192.0.2.1"), 200), 93)
    })
  )

  it.effect("per address and per consumer are in the headers of their refusals, with the end of their window", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start, { limitPerAddress: 0.35, limitPerConsumer: 0.25 })
      const rateLimits: Numbers = { queueEntriesPerSecond: 6, queueEntriesPerMinute: 20 }
      const from = { address: () => "192.0.2.1", rateLimits }
      const refusal = (consumerId: string) =>
        statusesOf(limits, "consumer", "queueEntry", { ...from, consumerId }, 10)[9]!
      const consumer = refusal("first")
      assert.deepInclude(consumer, { limit: 5, remaining: 0, resetAtSeconds: minuteEnds })
      assert.isAtLeast(consumer.retryAfterSeconds!, 50)
      yield* TestClock.adjust("1 second")
      const address = refusal("second")
      assert.deepInclude(address, { limit: 7, remaining: 0, resetAtSeconds: minuteEnds })
      assert.isAtLeast(address.retryAfterSeconds!, 49)
      const burst = statusesOf(limits, "consumer", "queueEntry", { rateLimits }, 7)[6]!
      assert.deepInclude(burst, { limit: 6, remaining: 0, resetAtSeconds: start / 1_000 + 2 })
      assert.include([1, 2], burst.retryAfterSeconds)
    })
  )

  it.effect("per address and per consumer are off by default", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start)
      const caller = { address: () => "192.0.2.1", consumerId: "first", rateLimits: rateLimitsOf("enterprise") }
      assert.strictEqual(passed(limits, "consumer", "queueEntry", caller, 10_000), 10_000)
    })
  )

  const from = (address: string) => ({ address: () => address })

  it.effect("pass at most the figure and what is reserved for first requests, with smaller shares as more press", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start)
      const requests = (address: string) => passed(limits, "consumer", "general", from(address), 6_000)
      assert.deepStrictEqual(["a", "b", "c", "d", "e", "f"].map(requests), [5_000, 250, 159, 144, 131, 119])
      const crowd = Array.from({ length: 4_000 }, (_, index) => requests(`${index}`))
      assert.deepStrictEqual(
        crowd,
        crowd.toSorted((a, b) => b - a)
      )
      assert.deepStrictEqual([crowd[0], crowd.filter((count) => count > 0).length], [108, 717])
      assert.strictEqual(
        crowd.reduce((sum, count) => sum + count, 803),
        4_000
      )
      assert.strictEqual(passed(limits, "consumer", "general", {}, 6_000), 5_000, "the secret key's own budget")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual(requests("f"), 5_000)
    })
  )

  for (const [category, limit, window] of [
    ["otpRequest", 10, "minute"],
    ["queueEntry", 100, "second"],
    ["auctionBid", 50, "second"],
    ["drawEntry", 100, "second"]
  ] as const) {
    it.effect(`let a second address in when the first has used up the ${category} requests of a ${window}`, () =>
      Effect.gen(function* () {
        const limits = yield* limitsAt(start)
        assert.strictEqual(passed(limits, "consumer", category, from("a"), limit + 5), limit)
        assert.isAtLeast(passed(limits, "consumer", category, from("b"), limit + 5), 1)
        assert.strictEqual(passed(limits, "consumer", category, from("a"), 1), 0)
      })
    )
  }

  it.effect("show a single address exactly the organization's limit, one by one", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start)
      const seen = statusesOf(limits, "consumer", "otpRequest", from("a"), 11)
      assert.deepStrictEqual(
        seen.map(({ limit, remaining }) => [limit, remaining]),
        [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0].map((remaining) => [10, remaining])
      )
      assert.deepStrictEqual(seen.map(hasPassed).indexOf(false), 10)
    })
  )

  it.effect("count honest addresses together up to the organization's limit", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start)
      const counts = Array.from({ length: 12 }, (_, index) =>
        passed(limits, "consumer", "otpRequest", from(`${index}`), 1)
      )
      assert.strictEqual(
        counts.reduce((sum, count) => sum + count, 0),
        10
      )
    })
  )

  it.effect("count all requests in one pot with a share of 1", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start, { limitAddressShare: 1 })
      assert.strictEqual(passed(limits, "consumer", "otpRequest", from("a"), 6), 6)
      assert.strictEqual(passed(limits, "consumer", "otpRequest", from("b"), 3), 3)
      assert.strictEqual(passed(limits, "consumer", "otpRequest", {}, 3), 1)
    })
  )

  it.effect("share one account among the addresses beyond the capacity of a minute", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start)
      const many = { rateLimits: { consumerApiPerMinute: 10_000_000 } }
      for (let index = 0; index < 100_000; index++) {
        passed(limits, "consumer", "general", { ...many, ...from(`${index}`) }, 1)
      }
      const own = { rateLimits: { consumerApiPerMinute: 10 } }
      assert.strictEqual(passed(limits, "consumer", "general", { ...own, ...from("x"), organizationId: "b" }, 7), 7)
      assert.strictEqual(passed(limits, "consumer", "general", { ...own, ...from("y"), organizationId: "b" }, 7), 3)
      assert.strictEqual(passed(limits, "consumer", "general", { ...own, ...from("x"), organizationId: "c" }, 7), 7)
    })
  )

  it.effect("keep counting an address when the limits change within the window", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start)
      const limited = (otpRequestsPerMinute: number) => ({ rateLimits: { otpRequestsPerMinute }, ...from("a") })
      assert.strictEqual(passed(limits, "consumer", "otpRequest", limited(10), 5), 5)
      assert.strictEqual(passed(limits, "consumer", "otpRequest", limited(8), 9), 3)
    })
  )

  it.effect("limit unknown callers by address, with the numbers of the default plan", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start)
      const passedOf = (api: Api, address: string, requests: number) =>
        Array.from({ length: requests }, () => limits.passUnknown(api, address)).filter(hasPassed).length
      assert.strictEqual(passedOf("admin", "192.0.2.1", 1_001), 1_000)
      assert.strictEqual(passedOf("consumer", "192.0.2.1", 5_002), 5_000)
      assert.strictEqual(passedOf("consumer", "192.0.2.2", 10), 10)
      assert.isTrue(limits.isUnknownRefused(() => "192.0.2.1"))
      assert.isFalse(limits.isUnknownRefused(() => "192.0.2.2"))
      yield* TestClock.adjust("50 seconds")
      assert.isFalse(limits.isUnknownRefused(() => "192.0.2.1"))
      assert.strictEqual(passedOf("admin", "192.0.2.1", 1_001), 1_000)
    })
  )

  it.effect("track a bounded number of unknown addresses, and one count for all others", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start)
      for (let index = 0; index < 100_000; index++) limits.passUnknown("admin", `${index}`)
      const crowd = Array.from({ length: 1_500 }, (_, index) => limits.passUnknown("admin", `late ${index}`))
      assert.strictEqual(crowd.filter(hasPassed).length, 1_000)
      assert.isTrue(hasPassed(limits.passUnknown("admin", "17")))
    })
  )

  it.effect("do not restart when the clock steps back over the edge of a window", () =>
    Effect.gen(function* () {
      const limits = yield* limitsAt(start + 49_990)
      assert.strictEqual(passed(limits, "consumer", "otpRequest", {}, 10), 10)
      yield* TestClock.setTime(start + 50_000)
      assert.strictEqual(passed(limits, "consumer", "otpRequest", {}, 4), 4)
      yield* TestClock.setTime(start + 49_995)
      assert.strictEqual(passed(limits, "consumer", "otpRequest", {}, 20), 6)
      yield* TestClock.setTime(start - 3_600_000)
      assert.strictEqual(
        passed(limits, "consumer", "otpRequest", {}, 20),
        10,
        "the limits follow a clock that was set back"
      )
    })
  )
})
