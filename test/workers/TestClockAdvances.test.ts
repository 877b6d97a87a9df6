/** Advances of a test clock, over a real database, with every worker that acts on what is due. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Beacon, BeaconUnavailable } from "../../src/beacon/Beacon.ts"
import { verifyBeacon } from "../../src/beacon/Quicknet.ts"
import { Delivery } from "../../src/delivery/Delivery.ts"
import * as Draw from "../../src/domain/draw/Draw.ts"
import { verify } from "../../src/domain/draw/proof/Verification.ts"
import type { Kind, MechanismRef } from "../../src/domain/mechanism/Mechanism.ts"
import { Engine } from "../../src/engine/Engine.ts"
import { Alerts } from "../../src/store/message/Alerts.ts"
import * as AlertMails from "../../src/workers/Alerts.ts"
import * as DrawBeacons from "../../src/workers/DrawBeacons.ts"
import * as GrantMessages from "../../src/workers/GrantMessages.ts"
import * as TestClockAdvances from "../../src/workers/TestClockAdvances.ts"
import * as WaitlistNotices from "../../src/workers/WaitlistNotices.ts"
import { Admin, eventually, layer as admin } from "../http/admin/adminFixture.ts"

const begin = Date.parse("2033-01-01T00:00:00Z")
const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const text = (at: number) => new Date(at).toISOString()

/** No round of the time of these tests is published. */
const noRelay = Layer.succeed(Beacon, {
  round: (round) => Effect.fail(new BeaconUnavailable({ round, reasons: ["the test has no relay"] }))
})

const services = Layer.mergeAll(
  TestClockAdvances.layer,
  Layer.provide(DrawBeacons.layer, noRelay),
  WaitlistNotices.layer,
  GrantMessages.layer,
  AlertMails.layer
).pipe(Layer.provideMerge(Layer.provideMerge(Alerts.layer, admin)))

/** An organization's test mode, whose clock stands at the beginning, with a sequence. */
const aRehearsal = Effect.fnUntraced(function* (settings: object = {}) {
  const { call, inTestMode, organization } = yield* Admin
  const engine = yield* Engine
  const sql = yield* SqlClient.SqlClient
  const as = yield* inTestMode(yield* organization(settings))
  const ask = (method: string, path: string, body?: object) =>
    Effect.map(call(method, path, body, as), ({ status, text, body: answer }) => {
      if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
      return answer
    })
  yield* ask("PUT", "/test-clock", { frozenAt: text(begin), seed: "seven" })
  const { id: experienceId } = yield* ask("POST", "/experiences", { name: "Drop" })
  const { id: sequenceId } = yield* ask("POST", "/sequences", { experienceId, name: "Sale" })

  const clock = ask("GET", "/test-clock")
  const consumerIds: Array<string> = []

  return {
    as,
    ask,
    clock,
    experienceId,
    aConsumer: Effect.fnUntraced(function* (body: object = {}) {
      const { id } = yield* ask("POST", "/consumers", body)
      consumerIds.push(id)
      return id as string
    }),
    create: (path: string, settings: object) =>
      Effect.map(ask("POST", `/${path}`, { name: path, sequenceId, ...settings }), ({ id }) => id as string),
    refTo: <K extends Kind>(kind: K, id: string): MechanismRef<K> => ({ kind, id, tenant: as.tenant }),
    enter: (kind: "queue" | "draw" | "timed_release" | "waitlist", id: string, consumerId: string) =>
      engine.send({ kind, id, tenant: as.tenant } as MechanismRef<"queue">, {
        _tag: "Enter",
        consumerId,
        isGuest: false,
        loyaltyScore: 0
      }),
    /** Advances the clock, and waits for the end of it. */
    advance: Effect.fnUntraced(function* (body: object) {
      yield* ask("POST", "/test-clock/advance", body)
      const ended = yield* eventually(clock, ({ status }) => status !== "ADVANCING")
      assert.strictEqual(ended.status, "READY", ended.problem)
      return ended.now as string
    }),
    /** Returns the events of a mechanism: type, instant after the beginning in milliseconds, and number of the consumer. */
    events: Effect.fnUntraced(function* (id: string, ...types: ReadonlyArray<string>) {
      const rows = yield* sql<{ readonly type: string; readonly at: Date; readonly consumer_id: string | null }>`
        select type, at, consumer_id from journal where mechanism_id = ${id} order by sequence`
      return rows
        .filter(({ type }) => types.length === 0 || types.includes(type))
        .map(({ type, at, consumer_id }) => {
          const number = consumer_id === null ? undefined : consumerIds.indexOf(consumer_id)
          return [type, at.getTime() - begin, number] as const
        })
    })
  }
})

describe("An advance", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("tells a waitlist of the next opening in the instant in which the one before is over", () =>
      Effect.gen(function* () {
        const { advance, create, events } = yield* aRehearsal()
        yield* create("queues", { admitRate: 60, openAt: text(begin + hour), closeAt: text(begin + 2 * hour) })
        yield* create("queues", { admitRate: 60, openAt: text(begin + 5 * hour) })
        const id = yield* create("waitlists", {})
        yield* advance({ to: text(begin + 6 * hour) })
        assert.deepStrictEqual(yield* events(id, "NoticeScheduled", "NoticeDue"), [
          ["NoticeScheduled", 0, undefined],
          ["NoticeDue", hour, undefined],
          ["NoticeScheduled", 2 * hour, undefined],
          ["NoticeDue", 5 * hour, undefined]
        ])
      })
    )

    it.effect("may be waited for in its request, which shows when something is due next", () =>
      Effect.gen(function* () {
        const { ask, create } = yield* aRehearsal()
        yield* create("queues", { admitRate: 60, openAt: text(begin + 2 * hour) })
        for (const seconds of [3_600, 0, 1]) {
          const { status } = yield* ask("POST", "/test-clock/advance", { by: seconds, waitSeconds: 10 })
          assert.strictEqual(status, "READY")
        }
        const shown = yield* ask("POST", "/test-clock/advance", { by: 1, waitSeconds: 10 })
        assert.deepInclude(shown, { now: text(begin + hour + 2 * second), nextDueAt: text(begin + hour + 50 * minute) })
        const late = yield* ask("POST", "/test-clock/advance", { by: 1, waitSeconds: 0 })
        assert.strictEqual(late.status, "ADVANCING")
      })
    )

    it.effect("lets a queue admit at its rate, and grants expire, each at its instant", () =>
      Effect.gen(function* () {
        const { aConsumer, advance, create, enter, events } = yield* aRehearsal()
        const id = yield* create("queues", {
          admitRate: 60,
          admissionExpirationSeconds: 120,
          lobbyOpenAt: text(begin),
          openAt: text(begin + hour)
        })
        for (let index = 0; index < 4; index++) yield* enter("queue", id, yield* aConsumer())
        assert.strictEqual(yield* advance({ to: text(begin + hour - 1) }), text(begin + hour - 1))
        assert.deepStrictEqual(yield* events(id, "Granted"), [])
        assert.strictEqual(yield* advance({ by: 86_400 }), text(begin + hour - 1 + 24 * hour))
        const granted = yield* events(id, "Granted")
        assert.deepStrictEqual(
          granted.map(([, at]) => at - granted[0]![1]),
          [0, 1_000, 2_000, 3_000]
        )
        assert.isAtMost(granted[0]![1] - hour, second)
        const expired = yield* events(id, "Expired")
        assert.deepStrictEqual(
          expired.map(([, at, number]) => [at, number]),
          granted.map(([, at, number]) => [at + 120 * second, number])
        )
      })
    )

    it.effect("simulates the beacon of a draw, whose proof says so and is not valid", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const { aConsumer, advance, create, enter, events, refTo } = yield* aRehearsal()
        const drawAt = begin + 24 * hour
        const id = yield* create("draws", { drawAt: text(drawAt), winnerCount: 1, beacon: "drand" })
        for (let index = 0; index < 3; index++) yield* enter("draw", id, yield* aConsumer())
        yield* advance({ by: 2 * 86_400 })
        const [[, providedAt] = []] = yield* events(id, "BeaconProvided")
        assert.isAtLeast(providedAt!, 24 * hour)
        assert.isAtMost(providedAt!, 24 * hour + 3 * second)
        assert.lengthOf(yield* events(id, "Won"), 1)
        const proof = yield* engine.proof(refTo("draw", id))
        const written: Draw.Proof = JSON.parse(yield* Stream.mkString(proof!))
        assert.strictEqual(written.beaconNetwork, "simulated")
        assert.match(written.notProven[0]!, /rehearsal/)
        const { checks, isValid } = verify(written, Option.some(verifyBeacon))
        assert.isFalse(isValid)
        assert.deepStrictEqual(
          checks.filter(({ holds }) => !holds).map(({ what }) => what),
          ["the beacon is of drand's network quicknet", "the network signed this round"]
        )
      })
    )

    it.effect("opens, closes and settles what has a time", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const { aConsumer, advance, ask, create, enter, events, refTo } = yield* aRehearsal()
        const [ann, bob] = [yield* aConsumer(), yield* aConsumer()]
        const release = yield* create("timed-releases", {
          openAt: text(begin + hour),
          closeAt: text(begin + 2 * hour),
          admissionExpirationSeconds: 600
        })
        const auction = yield* create("auctions", {
          closeAt: text(begin + hour),
          settleAt: text(begin + 3 * hour),
          startPrice: "10"
        })
        for (const [consumerId, amount] of [
          [ann, "10"],
          [bob, "12"]
        ] as const) {
          yield* engine.send(refTo("auction", auction), { _tag: "Bid", consumerId, amount })
        }
        const lifecycle = (id: string) => Effect.map(ask("GET", `/distributions/${id}`), (found) => found.lifecycle)
        assert.strictEqual(yield* lifecycle(release), "scheduled")
        yield* advance({ by: 3_600 })
        assert.strictEqual(yield* lifecycle(release), "open")
        yield* enter("timed_release", release, ann)
        yield* advance({ by: 3_600 })
        assert.deepStrictEqual(yield* events(release, "Expired"), [["Expired", hour + 600 * second, 0]])
        assert.notStrictEqual(yield* lifecycle(release), "open")
        assert.deepStrictEqual(yield* events(auction, "Won", "Lost"), [])
        yield* advance({ by: 3_600 })
        assert.sameDeepMembers(yield* events(auction, "Won", "Lost"), [
          ["Won", 3 * hour, 1],
          ["Lost", 3 * hour, 0]
        ])
      })
    )

    it.effect("keeps every message, and sends none", () =>
      Effect.gen(function* () {
        const delivery = yield* Delivery
        const alerts = yield* Alerts
        const { aConsumer, advance, as, ask, create, enter, experienceId } = yield* aRehearsal({
          grantMessages: "email"
        })
        const ann = yield* aConsumer({ email: "ann@example.com" })
        const bob = yield* aConsumer({ email: "bob@example.com" })
        const cleo = yield* aConsumer({ email: "cleo@example.com" })
        const queue = yield* create("queues", {
          admitRate: 1,
          admissionExpirationSeconds: 60,
          lobbyOpenAt: text(begin),
          openAt: text(begin + 24 * hour)
        })
        const waitlist = yield* create("waitlists", {})
        yield* enter("queue", queue, ann)
        yield* enter("waitlist", waitlist, bob)
        const alert = { tenant: as.tenant, topic: "REMINDER", subjectId: experienceId, consumerId: cleo } as const
        assert.isTrue(yield* alerts.want(alert, "en"))
        yield* advance({ by: 2 * 86_400 })
        const { data } = yield* ask("GET", "/outbox")
        const seen = (data as ReadonlyArray<{ readonly to: string; readonly sentAt: string }>).map(
          ({ to, sentAt }) => [to, Math.floor((Date.parse(sentAt) - begin) / minute)] as const
        )
        assert.sameDeepMembers(seen, [
          ["cleo@example.com", 24 * 60 - 10],
          ["bob@example.com", 24 * 60],
          ["ann@example.com", 24 * 60]
        ])
        assert.deepStrictEqual(delivery.outbox!(as.tenant, undefined), [])
        assert.lengthOf((yield* ask("GET", "/messages")).data, 3)
      })
    )

    it.effect("in random steps gives the same journals as at once", () =>
      Effect.gen(function* () {
        const atOnce = yield* aDrop
        yield* atOnce.advance({ by: 3 * 86_400 })
        const expected = yield* atOnce.journals
        assert.isAbove(expected.flat().length, 60)
        for (const seed of [7]) {
          const inSteps = yield* aDrop
          let left = 3 * 86_400
          for (let random = seed; left > 0;) {
            random = (random * 48_271) % 2_147_483_647
            const seconds = Math.min(left, 1 + (random % (random % 3 === 0 ? 40_000 : 40)) * (random % 5))
            left -= seconds
            yield* inSteps.advance({ by: seconds })
          }
          assert.deepStrictEqual(yield* inSteps.journals, expected, `seed ${seed}`)
        }
      })
    )
  })
})

/** A drop with one mechanism of each kind whose time matters, and people in them. */
const aDrop = Effect.gen(function* () {
  const engine = yield* Engine
  const { aConsumer, advance, ask, create, enter, events, experienceId, refTo } = yield* aRehearsal()
  // A sequence that is open from the beginning, so the waitlist is not in it.
  const { id: sequenceId } = yield* ask("POST", "/sequences", { experienceId, name: "Open" })
  const people = yield* Effect.forEach(Array.from({ length: 6 }), () => aConsumer())
  const queue = yield* create("queues", {
    admitRate: 6,
    admissionExpirationSeconds: 90,
    recycleExpiredAdmissions: true,
    sequenceId,
    closeAt: text(begin + 11 * hour)
  })
  const draw = yield* create("draws", {
    sequenceId,
    closeAt: text(begin + 20 * hour),
    drawAt: text(begin + 21 * hour),
    winnerCount: 2,
    admissionExpirationSeconds: 300,
    continueSelectingUntilCompleted: true,
    beacon: "drand"
  })
  const auction = yield* create("auctions", {
    sequenceId,
    closeAt: text(begin + 30 * hour),
    settleAt: text(begin + 31 * hour),
    startPrice: "10",
    admissionExpirationSeconds: 600
  })
  const release = yield* create("timed-releases", {
    sequenceId,
    admissionExpirationSeconds: 7,
    closeAt: text(begin + 40 * hour)
  })
  yield* create("timed-releases", { openAt: text(begin + 15 * hour) })
  const waitlist = yield* create("waitlists", {})
  for (const [index, consumerId] of people.entries()) {
    yield* enter("queue", queue, consumerId)
    yield* enter("draw", draw, consumerId)
    yield* enter("timed_release", release, consumerId)
    yield* enter("waitlist", waitlist, consumerId)
    const amount = `${10 + index}` as never
    yield* engine.send(refTo("auction", auction), { _tag: "Bid", consumerId, amount })
  }
  return {
    advance,
    /** The journals. Who wins a draw follows from its seed, and notices of one instant are sent at the same time. */
    journals: Effect.map(
      Effect.forEach([queue, draw, auction, release, waitlist], (id) => events(id)),
      (journals) =>
        journals.map((journal, index) => {
          if (index === 1) return journal.map(([type, at]) => [type, at])
          return index === 4 ? journal.map((event) => event.join()).toSorted() : journal
        })
    )
  }
})
