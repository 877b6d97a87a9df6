/**
 * Tells waitlists when their sequence opens (completions 3, "Waitlist"): at the earliest opening of its other mechanisms.
 *
 * Whoever changes one of these calls `reschedule` afterwards. The change and what follows from it are two commits, in two
 * journals; a process that dies in between leaves a waitlist that knows an old time, and `rescheduleAll` puts it right.
 */
import { Context, Effect, Layer, Semaphore } from "effect"
import { inTurn } from "../../store/postgres/Turn.ts"
import { type Opening, type SequenceRef, Waitlists } from "../../store/mechanism/Waitlists.ts"
import { Engine } from "../Engine.ts"

export class NoticeSchedule extends Context.Service<
  NoticeSchedule,
  {
    /** Brings the sequence's waitlists up to date. What cannot be done now is logged, and left to `rescheduleAll`. */
    reschedule(sequence: SequenceRef): Effect.Effect<void>
    /** Brings up to date whatever waitlist is not. */
    readonly rescheduleAll: Effect.Effect<void>
  }
>()("usher/engine/lifecycle/NoticeSchedule") {
  /** Over whatever tells of openings. */
  static readonly layerNoDeps = Layer.effect(
    NoticeSchedule,
    Effect.gen(function* () {
      const engine = yield* Engine
      const waitlists = yield* Waitlists
      // Who has read earlier must not write later.
      const turn = yield* Semaphore.make(1)

      const tell = ({ waitlistId, organizationId, mode, opensAt }: Opening) =>
        engine
          .sendAdmin(
            { kind: "waitlist", id: waitlistId, tenant: { organizationId, mode } },
            { _tag: "ScheduleNotice", ...(opensAt !== undefined && { at: opensAt }) }
          )
          .pipe(
            Effect.catchTag("MechanismNotFound", () => Effect.void),
            Effect.catch(untold)
          )

      const reschedule = ({ organizationId, mode, sequenceId }: SequenceRef) =>
        waitlists.openings({ organizationId, mode, sequenceId }).pipe(
          Effect.flatMap((openings) => Effect.forEach(openings, tell, { discard: true })),
          (rescheduled) => inTurn(turn, rescheduled),
          Effect.catch(untold)
        )

      const rescheduleAll = Effect.gen(function* () {
        const openings = yield* waitlists.openings()
        const told = yield* engine.query("waitlist", ({ noticeAt }) => noticeAt)
        const known = new Map(told.map(({ mechanism, answer }) => [mechanism.id, answer]))
        const outdated = openings.filter(({ waitlistId, opensAt = Infinity }) => known.get(waitlistId) !== opensAt)
        yield* Effect.forEach(outdated, reschedule, { discard: true })
      }).pipe(Effect.catch(untold))

      return { reschedule, rescheduleAll }
    })
  )

  /** Over the database. */
  static readonly layer = NoticeSchedule.layerNoDeps.pipe(Layer.provide(Waitlists.layer))
}

const untold = (cause: unknown) => Effect.logWarning("A waitlist may not know yet when its sequence opens", cause)
