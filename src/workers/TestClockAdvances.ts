/**
 * Advances test clocks. An advance is a job in the row of its clock: it goes from one instant at which something is due to
 * the next, and from there on when all of it has happened. Each step is one statement that compares the row, so after the
 * end of a process another one goes on where it was.
 */
import { Effect, FiberMap, Latch, Layer } from "effect"
import { statusOf, type TestClock } from "../domain/organization/TestClock.ts"
import type { Tenant } from "../domain/values/Ids.ts"
import { type Millis, toText } from "../domain/values/Time.ts"
import { NoticeSchedule } from "../engine/lifecycle/NoticeSchedule.ts"
import { UnitTransfers } from "../engine/lifecycle/UnitTransfers.ts"
import { Invalidations } from "../store/coordination/Invalidations.ts"
import { Leases } from "../store/coordination/Leases.ts"
import * as Time from "../store/coordination/Time.ts"
import { DueInstants, type DueWork, type Overdue } from "../store/testClock/DueInstants.ts"
import { TestClockChanges } from "../store/testClock/TestClockChanges.ts"
import { TestClocks } from "../store/testClock/TestClocks.ts"
import { Alerts } from "../store/message/Alerts.ts"
import { markMilestones } from "../store/webhook/ExperienceMilestones.ts"
import { MessagesOwed } from "./Outbox.ts"
import { makeWithLease, orElseLogged, start } from "./WorkerLoop.ts"

/** Pause between two looks for advances, if no notification ends it. */
const pollMillis = 2_000

/** Pauses between looks at what is overdue: the short one for the first few, the long one after that. */
const lookMillis = { short: 2, long: 25, shortMax: 20 } as const

/** After this time without progress an advance has failed. */
export const stuckSeconds = 30

/** Advances at the same time. */
const advancesAtOnce = 4

/** What has been done once nothing was overdue. More may be overdue after it. */
const carried: Overdue = { what: "units of stocks have not been carried", mark: "stocks" }
const scheduled: Overdue = { what: "waitlists have not been told of openings", mark: "waitlists" }

const failureMessage = "A test clock could not be advanced for now"

/** The end of a wait: what is due next, or what is overdue after a time in which nothing happened. */
interface Settled {
  readonly nextAt?: Millis | undefined
  readonly stuck?: string
}

/** Makes the function that waits until nothing is overdue. */
const makeSettle = Effect.gen(function* () {
  const due = yield* DueInstants
  const alerts = yield* Alerts
  const owed = yield* MessagesOwed
  const notices = yield* NoticeSchedule
  const transfers = yield* UnitTransfers

  /** Returns what is due and has not happened. Wakes those that send messages. */
  const overdueOf = Effect.fnUntraced(function* (tenant: Tenant, { frozenAt }: TestClock) {
    const { overdue, hasMilestones, hasAlerts, ...others } = yield* due.work(tenant, frozenAt)
    const now = yield* Time.serverNow
    if (hasMilestones) yield* markMilestones(now, tenant)
    const wanted = hasAlerts ? yield* alerts.due(now, tenant) : []
    if (overdue !== undefined) owed.grants.openUnsafe()
    if (wanted.length > 0) owed.alerts.openUnsafe()
    const mark = wanted.map(({ consumerId, subjectId }) => `${subjectId} ${consumerId}`).join()
    const emails = wanted.length > 0 ? { what: "emails that consumers asked for have not been sent", mark } : undefined
    return { overdue: overdue ?? emails, ...others }
  })

  /** Does what follows once nothing is overdue. Returns what it was; undefined if there was nothing. */
  const follow = Effect.fnUntraced(function* (
    tenant: Tenant,
    { hasWaitlists, stockIds }: Pick<DueWork, "hasWaitlists" | "stockIds">
  ) {
    if (yield* transfers.carryOf(tenant, stockIds)) return carried
    // A mechanism that is over opens for no waitlist any more. A new notice may be due at once.
    return hasWaitlists && (yield* notices.rescheduleOf(tenant)) ? scheduled : undefined
  })

  return Effect.fnUntraced(function* (tenant: Tenant, clock: TestClock) {
    let since = yield* Time.serverNow
    let mark = ""
    let isScheduled = false
    for (let looks = 1; ; looks++) {
      const { overdue, nextAt, ...following } = yield* overdueOf(tenant, clock)
      const { hasWaitlists } = following
      const reason = overdue ?? (yield* follow(tenant, { ...following, hasWaitlists: hasWaitlists && !isScheduled }))
      if (reason === undefined) return { nextAt } satisfies Settled
      if (reason === scheduled) isScheduled = true
      const now = yield* Time.serverNow
      if (reason.mark !== mark) [mark, since] = [reason.mark, now]
      if (now - since > stuckSeconds * 1_000) return { stuck: reason.what } satisfies Settled
      if (reason === overdue) yield* Effect.sleep(looks <= lookMillis.shortMax ? lookMillis.short : lookMillis.long)
    }
  })
})

/**
 * Makes the function that advances a clock, as this process knows it, to the end of its advance. Returns false if there is
 * none.
 */
const makeAdvance = Effect.gen(function* () {
  const changes = yield* TestClockChanges
  const invalidations = yield* Invalidations
  const settle = yield* makeSettle

  return Effect.fnUntraced(
    function* (known: TestClock) {
      const tenant = { organizationId: known.organizationId, mode: "test" } as const
      let clock = known
      for (;;) {
        if (clock.advance === undefined || statusOf(clock) !== "ADVANCING") return false
        const { stuck, nextAt }: Settled = yield* settle(tenant, clock)
        const { to } = clock.advance
        if (stuck !== undefined || clock.frozenAt >= to) {
          const problem = stuck && `At ${toText(clock.frozenAt)} ${stuck}, for ${stuckSeconds} seconds.`
          yield* changes.finish(clock, problem)
          // This process knows of the end before it looks for the next advance.
          yield* invalidations.settled
          return true
        }
        const next = Math.min(nextAt ?? to, to)
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
    const advanceOne = (clock: TestClock) =>
      withLease(`test clock ${clock.organizationId}`, "keep", advance(clock)).pipe(
        orElseLogged(failureMessage, false),
        // The next one may have begun meanwhile.
        Effect.map((hasEnded) => void (hasEnded && wakeUp.openUnsafe()))
      )
    const advanceAll = Effect.gen(function* () {
      for (const clock of clocks.all()) {
        if (statusOf(clock) !== "ADVANCING") continue
        if ((yield* FiberMap.size(advancing)) >= advancesAtOnce) return
        yield* FiberMap.run(advancing, clock.organizationId, advanceOne(clock), { onlyIfMissing: true })
      }
    })
    yield* start({ round: advanceAll, pauseMillis: pollMillis, wakeUp, failureMessage })
  })
)

/** The worker with its database services. */
export const layer = layerNoDeps.pipe(
  Layer.provide(Layer.merge(NoticeSchedule.layer, UnitTransfers.layer)),
  Layer.provide(Layer.mergeAll(Leases.layer, TestClockChanges.layer, DueInstants.layer, Alerts.layer))
)
