/**
 * Notifies waitlists when their sequence opens: at the earliest opening of its other mechanisms.
 *
 * A caller that changes one of these openings calls `reschedule` afterwards. The change and the notice are two
 * commits in two journals. If the process dies between them, the waitlist keeps an old time until `rescheduleAll`
 * corrects it.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { withPermitTimeout } from "../../store/postgres/PermitTimeout.ts"
import { type Opening, type SequenceRef, Waitlists } from "../../store/mechanism/Waitlists.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { TestClocks } from "../../store/testClock/TestClocks.ts"
import { Engine } from "../Engine.ts"

export class NoticeSchedule extends Context.Service<
  NoticeSchedule,
  {
    /** Updates the waitlists of a sequence. Logs a failure and leaves the update to `rescheduleAll`. */
    reschedule(sequence: SequenceRef): Effect.Effect<void>
    /**
     * Updates every waitlist whose time is outdated. Those of a tenant with a test clock are left to its advance, because
     * their journals must not depend on the server's time.
     */
    readonly rescheduleAll: Effect.Effect<void>
    /** Updates the waitlists of a tenant whose time is outdated. Returns true if there may be some. */
    rescheduleOf(tenant: Tenant): Effect.Effect<boolean>
  }
>()("usher/engine/lifecycle/NoticeSchedule") {
  /** Requires `Waitlists`, the source of openings. */
  static readonly layerNoDeps = Layer.effect(NoticeSchedule)(
    Effect.gen(function* () {
      const engine = yield* Engine
      const waitlists = yield* Waitlists
      const clocks = yield* TestClocks
      // A later read must not be overtaken by the write of an earlier one.
      const turn = yield* Semaphore.make(1)

      const schedule = ({ waitlistId, organizationId, mode, opensAt }: Opening) =>
        engine
          .sendAdmin(
            { kind: "waitlist", id: waitlistId, tenant: { organizationId, mode } },
            { _tag: "ScheduleNotice", ...(opensAt !== undefined && { at: opensAt }) }
          )
          .pipe(
            Effect.catchTag("MechanismNotFound", () => Effect.void),
            Effect.catch(logFailure)
          )

      const reschedule = ({ organizationId, mode, sequenceId }: SequenceRef) =>
        waitlists.openings({ organizationId, mode, sequenceId }).pipe(
          Effect.flatMap((openings) => Effect.forEach(openings, schedule, { discard: true })),
          (rescheduled) => withPermitTimeout(turn, rescheduled),
          Effect.catch(logFailure)
        )

      const rescheduleSome = Effect.fnUntraced(function* (openings: ReadonlyArray<Opening>) {
        const scheduled = yield* engine.query("waitlist", ({ noticeAt }) => noticeAt)
        const known = new Map(scheduled.map(({ mechanism, answer }) => [mechanism.id, answer]))
        const outdated = openings.filter(({ waitlistId, opensAt = Infinity }) => known.get(waitlistId) !== opensAt)
        yield* Effect.forEach(outdated, reschedule, { discard: true })
        return outdated.length > 0
      })

      const rescheduleAll = waitlists.openings().pipe(
        Effect.map((openings) => openings.filter((opening) => clocks.of(opening) === undefined)),
        Effect.flatMap(rescheduleSome),
        Effect.asVoid,
        Effect.catch(logFailure)
      )

      const rescheduleOf = (tenant: Tenant) =>
        waitlists.openings(tenant).pipe(
          Effect.flatMap(rescheduleSome),
          Effect.catch((cause) => Effect.as(logFailure(cause), false))
        )

      return { reschedule, rescheduleAll, rescheduleOf }
    })
  )

  /** Reads openings from the database. */
  static readonly layer = NoticeSchedule.layerNoDeps.pipe(Layer.provide(Waitlists.layer))
}

const logFailure = (cause: unknown) => Effect.logWarning("A waitlist may not know yet when its sequence opens", cause)
