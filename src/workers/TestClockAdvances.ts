/**
 * Advances test clocks. An advance is a job in the row of its clock: it goes from one instant at which something is due to
 * the next, and from there on when all of it has happened. Each step is one statement that compares the row, so after the
 * end of a process another one goes on where it was.
 */
import { Effect, FiberMap, Latch, Layer } from "effect"
import { statusOf, type TestClock } from "../domain/organization/TestClock.ts"
import type { Tenant } from "../domain/values/Ids.ts"
import { toText } from "../domain/values/Time.ts"
import { NoticeSchedule } from "../engine/lifecycle/NoticeSchedule.ts"
import { Invalidations } from "../store/coordination/Invalidations.ts"
import { Leases } from "../store/coordination/Leases.ts"
import * as Time from "../store/coordination/Time.ts"
import { DueInstants } from "../store/testClock/DueInstants.ts"
import { TestClockChanges } from "../store/testClock/TestClockChanges.ts"
import { TestClocks } from "../store/testClock/TestClocks.ts"
import { Alerts } from "../store/message/Alerts.ts"
import { markMilestones } from "../store/webhook/ExperienceMilestones.ts"
import { MessagesOwed } from "./Outbox.ts"
import { makeWithLease, orElseLogged, start } from "./WorkerLoop.ts"

/** Pause between two looks for advances, if no notification ends it. */
const pollMillis = 2_000

/** Pauses between two looks at what is overdue. */
const lookMillis = { least: 2, most: 50 } as const

/** After this time without progress an advance has failed. */
export const stuckSeconds = 30

/** Advances at the same time. */
const advancesAtOnce = 4

const failureMessage = "A test clock could not be advanced for now"

/** Makes the function that waits until nothing is overdue. It returns what is, after a time in which nothing happened. */
const makeSettle = Effect.gen(function* () {
  const due = yield* DueInstants
  const alerts = yield* Alerts
  const owed = yield* MessagesOwed
  const notices = yield* NoticeSchedule

  /** Returns what is due and has not happened. Wakes those that send messages. */
  const overdueOf = Effect.fnUntraced(function* (tenant: Tenant, { frozenAt }: TestClock) {
    const { overdue, hasMilestones, hasAlerts, hasWaitlists } = yield* due.work(tenant, frozenAt)
    const now = yield* Time.serverNow
    if (hasMilestones) yield* markMilestones(now, tenant)
    const wanted = hasAlerts ? yield* alerts.due(now, tenant) : []
    if (overdue !== undefined) owed.grants.openUnsafe()
    if (wanted.length > 0) owed.alerts.openUnsafe()
    const mark = wanted.map(({ consumerId, subjectId }) => `${subjectId} ${consumerId}`).join()
    const emails = wanted.length > 0 ? { what: "emails that consumers asked for have not been sent", mark } : undefined
    return { overdue: overdue ?? emails, hasWaitlists }
  })

  return Effect.fnUntraced(function* (tenant: Tenant, clock: TestClock) {
    let since = yield* Time.serverNow
    let mark = ""
    let isScheduled = false
    for (let pause: number = lookMillis.least; ; pause = Math.min(lookMillis.most, pause * 2)) {
      const { overdue, hasWaitlists } = yield* overdueOf(tenant, clock)
      if (overdue === undefined) {
        // A mechanism that is over opens for no waitlist any more. A new notice may be due at once.
        if (isScheduled || !hasWaitlists || !(yield* notices.rescheduleOf(tenant))) return undefined
        isScheduled = true
        continue
      }
      const now = yield* Time.serverNow
      if (overdue.mark !== mark) [mark, since] = [overdue.mark, now]
      if (now - since > stuckSeconds * 1_000) return overdue.what
      yield* Effect.sleep(pause)
    }
  })
})

/** Makes the function that advances a clock to the end of its advance. Returns false if there is none. */
const makeAdvance = Effect.gen(function* () {
  const changes = yield* TestClockChanges
  const due = yield* DueInstants
  const invalidations = yield* Invalidations
  const settle = yield* makeSettle

  return Effect.fnUntraced(
    function* (organizationId: string) {
      const tenant = { organizationId, mode: "test" } as const
      let clock = yield* changes.read(tenant)
      for (;;) {
        if (clock.advance === undefined || statusOf(clock) !== "ADVANCING") return false
        const stuck = yield* settle(tenant, clock)
        const { to } = clock.advance
        if (stuck !== undefined || clock.frozenAt >= to) {
          const problem = stuck && `At ${toText(clock.frozenAt)} ${stuck}, for ${stuckSeconds} seconds.`
          yield* changes.finish(clock, problem)
          // This process knows of the end before it looks for the next advance.
          yield* invalidations.settled
          return true
        }
        const next = Math.min((yield* due.next(tenant, clock.frozenAt)) ?? to, to)
        const isStill = yield* changes.step(clock, next)
        yield* invalidations.settled
        clock = isStill ? { ...clock, frozenAt: next } : yield* changes.read(tenant)
      }
    },
    Effect.catchTag("RecordNotFound", () => Effect.succeed(false))
  )
})

/** Starts the fibers that advance clocks. A long advance delays no other. It asks the database for nothing while no clock is to be advanced. */
export const layerNoDeps = Layer.effectDiscard(
  Effect.gen(function* () {
    const clocks = yield* TestClocks
    const withLease = yield* makeWithLease
    const advance = yield* makeAdvance
    const wakeUp = yield* Latch.make()
    yield* Effect.acquireRelease(
      Effect.sync(() => clocks.onChange(() => void wakeUp.openUnsafe())),
      (unsubscribe) => Effect.sync(unsubscribe)
    )
    const advancing = yield* FiberMap.make<string, void>()
    const advanceOne = (organizationId: string) =>
      withLease(`test clock ${organizationId}`, "keep", advance(organizationId)).pipe(
        orElseLogged(failureMessage, false),
        // The next one may have begun meanwhile.
        Effect.map((hasEnded) => void (hasEnded && wakeUp.openUnsafe()))
      )
    const advanceAll = Effect.gen(function* () {
      for (const clock of clocks.all()) {
        if (statusOf(clock) !== "ADVANCING") continue
        if ((yield* FiberMap.size(advancing)) >= advancesAtOnce) return
        yield* FiberMap.run(advancing, clock.organizationId, advanceOne(clock.organizationId), { onlyIfMissing: true })
      }
    })
    yield* start({ round: advanceAll, pauseMillis: pollMillis, wakeUp, failureMessage })
  })
)

/** The worker with its database services. */
export const layer = layerNoDeps.pipe(
  Layer.provide(NoticeSchedule.layer),
  Layer.provide(Layer.mergeAll(Leases.layer, TestClockChanges.layer, DueInstants.layer, Alerts.layer))
)
