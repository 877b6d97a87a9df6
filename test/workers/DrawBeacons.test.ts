/** Draws that wait for a round of the beacon, over an engine with a test clock, with real rounds. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Beacon, BeaconUnavailable } from "../../src/beacon/Beacon.ts"
import * as DrawBeacons from "../../src/workers/DrawBeacons.ts"
import * as Draw from "../../src/domain/draw/Draw.ts"
import { creationOf } from "../../src/engine/lifecycle/Creation.ts"
import { Engine } from "../../src/engine/Engine.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import * as JournalMemory from "../../src/store/journal/JournalMemory.ts"
import { published } from "../beacon/relay.ts"

const tenant = { organizationId: "00000000-0000-7000-8000-0000000000a1", mode: "live" } as const
const id = (n: number) => `00000000-0000-7000-9000-${n.toString(16).padStart(12, "0")}`
const draw = (n: number) => ({ kind: "draw", id: id(n), tenant }) as const
const consumerId = (n: number) => `00000000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`

/** Round 1,000 is the first after this time. */
const drawAt = Draw.timeOfRound(1_000) - 2_000

const configuration: Draw.Configuration = {
  name: "raffle",
  timeZone: "UTC",
  closeAt: drawAt,
  drawAt,
  supportsGuest: true,
  winnerCount: 1,
  continueSelectingUntilCompleted: false,
  loyaltyBiasEnabled: false,
  loyaltyWeight: 1,
  beacon: "drand"
}

/** Creates a draw, as the Admin API does, and enters two consumers. */
const createDraw = Effect.fnUntraced(function* (engine: Engine["Service"], n: number, settings = configuration) {
  const journal = yield* Journal
  const identity = { ...tenant, id: id(n), kind: "draw", experienceId: id(100), sequenceId: id(101) } as const
  yield* journal.create([creationOf(identity, settings, "test", drawAt - 60_000)])
  for (const consumer of [1, 2]) {
    const enter = { _tag: "Enter", consumerId: consumerId(consumer), isGuest: true, loyaltyScore: 0 } as const
    yield* engine.send(draw(n), enter)
  }
})

/** Starts a process. Returns its engine, the requested rounds, and its end. */
const serve = Effect.fnUntraced(function* (relays: { areUp: boolean }) {
  const requested: Array<number> = []
  const beacon = Layer.succeed(Beacon, {
    round: (round) =>
      Effect.suspend(() => {
        requested.push(round)
        const found = published.find((candidate) => candidate.round === round)
        return relays.areUp && found !== undefined
          ? Effect.succeed(found)
          : Effect.fail(new BeaconUnavailable({ round, reasons: ["https://relay.example: TimeoutError"] }))
      })
  })
  const scope = yield* Scope.make()
  const layer = DrawBeacons.layer.pipe(Layer.provide(beacon), Layer.provideMerge(Engine.layer({ node: "test" })))
  const engine = Context.get(yield* Layer.buildWithScope(Layer.fresh(layer), scope), Engine)
  return { engine, requested, end: Scope.close(scope, Exit.void) }
})

const statuses = (engine: Engine["Service"], n: number) =>
  Effect.forEach([1, 2], (consumer) => Effect.map(engine.view(draw(n), consumerId(consumer)), ({ status }) => status))

const isDrawn = (engine: Engine["Service"], n: number) =>
  Effect.map(statuses(engine, n), (statuses) => statuses.toSorted().join() === "DENIED,WON")

const logged: Array<string> = []
const log = Logger.layer([Logger.map(Logger.formatJson, (line) => void logged.push(line))])

const before = TestClock.setTime(drawAt - 30_000)
const seconds = (count: number) => TestClock.adjust(`${count} seconds`)

describe("A draw that names the beacon", () => {
  const test = (what: string, body: () => Effect.Effect<void, unknown, Journal>) =>
    it.effect(what, () => Effect.provide(body(), [JournalMemory.layer, log]))

  test("is drawn when the first round after its time is signed, and not before", () =>
    Effect.gen(function* () {
      yield* before
      const { engine, requested, end } = yield* serve({ areUp: true })
      yield* createDraw(engine, 1)
      yield* TestClock.setTime(Draw.timeOfRound(1_000) - 1)
      assert.deepStrictEqual([requested, yield* statuses(engine, 1)], [[], ["ENTERED", "ENTERED"]])
      yield* seconds(2)
      assert.deepStrictEqual(requested, [1_000])
      assert.isTrue(yield* isDrawn(engine, 1))
      yield* seconds(10)
      assert.deepStrictEqual(requested, [1_000])
      yield* end
    }))

  test("shares the round with all draws that wait for it", () =>
    Effect.gen(function* () {
      yield* before
      const { engine, requested, end } = yield* serve({ areUp: true })
      for (const n of [1, 2, 3]) yield* createDraw(engine, n)
      yield* seconds(40)
      assert.deepStrictEqual(requested, [1_000])
      for (const n of [1, 2, 3]) assert.isTrue(yield* isDrawn(engine, n))
      yield* end
    }))

  test("waits while every relay fails, is drawn when one works, and only the changes are logged", () =>
    Effect.gen(function* () {
      logged.length = 0
      const relays = { areUp: false }
      yield* before
      const { engine, requested, end } = yield* serve(relays)
      yield* createDraw(engine, 1)
      yield* seconds(3_600)
      assert.isAbove(requested.length, 100)
      assert.deepStrictEqual(yield* statuses(engine, 1), ["ENTERED", "ENTERED"])
      assert.strictEqual(logged.length, 1)
      assert.match(logged[0]!, /beacon is unavailable.*relay\.example: TimeoutError/)
      relays.areUp = true
      yield* seconds(10)
      assert.isTrue(yield* isDrawn(engine, 1))
      yield* seconds(60)
      assert.strictEqual(logged.length, 2)
      assert.match(logged[1]!, /beacon is available again/)
      yield* end
    }))

  test("does not wait for a different round that no relay has", () =>
    Effect.gen(function* () {
      yield* before
      const { engine, requested, end } = yield* serve({ areUp: true })
      yield* createDraw(engine, 1, { ...configuration, closeAt: drawAt - 3_000, drawAt: drawAt - 3_000 })
      yield* createDraw(engine, 2)
      yield* seconds(40)
      assert.includeMembers(requested, [999, 1_000])
      assert.deepStrictEqual(yield* statuses(engine, 1), ["ENTERED", "ENTERED"])
      assert.isTrue(yield* isDrawn(engine, 2))
      yield* end
    }))

  test("is drawn by the process that starts after the one in which it waited", () =>
    Effect.gen(function* () {
      yield* before
      const first = yield* serve({ areUp: false })
      yield* createDraw(first.engine, 1)
      yield* seconds(60)
      assert.deepStrictEqual(yield* statuses(first.engine, 1), ["ENTERED", "ENTERED"])
      yield* first.end
      yield* seconds(60)
      const second = yield* serve({ areUp: true })
      yield* seconds(2)
      assert.isTrue(yield* isDrawn(second.engine, 1))
      yield* second.end
    }))

  test("no longer waits after an admin has ended it", () =>
    Effect.gen(function* () {
      yield* before
      const { engine, requested, end } = yield* serve({ areUp: false })
      yield* createDraw(engine, 1)
      yield* seconds(60)
      yield* engine.sendAdmin(draw(1), { _tag: "End", by: "test" })
      yield* seconds(10)
      const tries = requested.length
      assert.isAbove(tries, 0)
      yield* seconds(60)
      assert.strictEqual(requested.length, tries)
      yield* end
    }))

  test("does not delay a draw without a beacon", () =>
    Effect.gen(function* () {
      yield* before
      const { engine, requested, end } = yield* serve({ areUp: false })
      const { beacon: _, ...without } = configuration
      yield* createDraw(engine, 1, without)
      yield* seconds(32)
      assert.isTrue(yield* isDrawn(engine, 1))
      assert.deepStrictEqual(requested, [])
      yield* end
    }))
})
