/** An advance in which something due does not happen. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { NoticeSchedule } from "../../src/engine/lifecycle/NoticeSchedule.ts"
import { UnitTransfers } from "../../src/engine/lifecycle/UnitTransfers.ts"
import { Invalidations } from "../../src/store/coordination/Invalidations.ts"
import { Leases } from "../../src/store/coordination/Leases.ts"
import { Alerts } from "../../src/store/message/Alerts.ts"
import { DueInstants, type Overdue } from "../../src/store/testClock/DueInstants.ts"
import { TestClockChanges } from "../../src/store/testClock/TestClockChanges.ts"
import * as TestClocks from "../../src/store/testClock/TestClocks.ts"
import * as TestClockAdvances from "../../src/workers/TestClockAdvances.ts"
import { eventually } from "../http/admin/adminFixture.ts"
import { aTenant, inTestMode } from "../store/support/recordsFixture.ts"
import * as TestDatabase from "../store/support/TestDatabase.ts"
import { movableClock } from "../support/movableClock.ts"

const begin = Date.parse("2033-01-01T00:00:00Z")
const clock = movableClock()

/** What the test lets be overdue. */
let overdue: Overdue | undefined

const due = Layer.succeed(DueInstants, {
  next: () => Effect.undefined,
  work: () =>
    Effect.sync(() => ({
      overdue,
      hasMilestones: false,
      hasAlerts: false,
      hasWaitlists: false,
      stockIds: [],
      nextAt: undefined
    }))
})

/** No waitlist is asked for. */
const notices = Layer.mock(NoticeSchedule, {})

const transfers = Layer.mock(UnitTransfers, { carryOf: () => Effect.succeed(false) })

const services = TestClockAdvances.layerNoDeps.pipe(
  Layer.provideMerge(Layer.mergeAll(due, notices, transfers, Leases.layer, TestClockChanges.layer, Alerts.layer)),
  Layer.provideMerge(Layer.provideMerge(TestClocks.layer, Invalidations.layer)),
  Layer.provideMerge(TestDatabase.layer),
  Layer.provideMerge(clock.layer)
)

describe("An advance in which something is overdue", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect(
      "goes on while something happens, fails after half a minute in which nothing does, and can be begun again",
      () =>
        Effect.gen(function* () {
          const changes = yield* TestClockChanges
          const tenant = inTestMode(yield* aTenant())
          const ended = eventually(
            changes.read(tenant),
            ({ advance, problem }) => advance === undefined || problem !== undefined
          )
          yield* changes.create(tenant, "test", { frozenAt: begin, seed: "seven", webhookIds: [] }, begin)
          overdue = { what: 'the queue "Line" has not acted', mark: "1" }
          yield* changes.begin(tenant, begin, begin + 60_000)
          for (const mark of ["2", "3"]) {
            yield* Effect.sleep(300)
            yield* clock.putForward(20_000)
            overdue = { ...overdue, mark }
          }
          yield* Effect.sleep(300)
          assert.isUndefined((yield* changes.read(tenant)).problem)
          yield* clock.putForward(31_000)
          const failed = yield* ended
          assert.deepInclude(failed, { frozenAt: begin, advance: { from: begin, to: begin + 60_000 } })
          assert.match(
            failed.problem!,
            /^At 2033-01-01T00:00:00\.000Z the queue "Line" has not acted, for 30 seconds\.$/
          )
          overdue = undefined
          yield* changes.begin(tenant, begin, begin + 60_000)
          assert.strictEqual((yield* ended).frozenAt, begin + 60_000)
        })
    )
  })
})
