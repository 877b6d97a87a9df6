/**
 * Tells mechanisms of a change of their experience's window (completions 3, "Shared").
 *
 * The change is committed first, and numbered; then each mechanism that knows an earlier one records it, in its own journal.
 * The caller that changes the experience is answered when all have it. Cut off in between, the same change sent again goes on with
 * those that have not: what a mechanism knows stands in its record. Two changes at once may reach a mechanism in any order,
 * and it keeps the later one.
 */
import { Effect, Result } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import { ExperienceWindows } from "../../store/experience/ExperienceWindows.ts"
import { sendAdminTo } from "./NamedMechanisms.ts"
import { NoticeSchedule } from "./NoticeSchedule.ts"

/** Mechanisms that are told at the same time. */
const concurrency = 8

/** Tells the experience's mechanisms of its window; fails when one cannot be told, after the others have been. */
export const tellMechanisms = Effect.fn("tellMechanisms")(function* (tenant: Tenant, by: string, experienceId: string) {
  const windows = yield* ExperienceWindows
  const notices = yield* NoticeSchedule
  const untold = yield* windows.untold(tenant, experienceId)
  const tellings = yield* Effect.forEach(
    untold,
    ({ window, ...mechanism }) =>
      Effect.result(sendAdminTo(tenant, mechanism, { _tag: "SetExperienceWindow", window, by })),
    { concurrency }
  )
  for (const sequenceId of new Set(untold.map((mechanism) => mechanism.sequenceId))) {
    yield* notices.reschedule({ ...tenant, sequenceId })
  }
  const failure = tellings.find(Result.isFailure)
  if (failure !== undefined) return yield* Effect.fail(failure.failure)
})
