/**
 * Notifies mechanisms of a change to their experience's window.
 *
 * The change is committed first and gets a number. Each mechanism with an earlier number then records it in its own
 * journal. The caller gets its answer when all mechanisms have it. If the work is interrupted, sending the same
 * change again continues with the rest, because each mechanism's record holds the number it knows. Two concurrent
 * changes may reach a mechanism in any order; it keeps the later one.
 */
import { Effect, Result } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import { ExperienceWindows } from "../../store/experience/ExperienceWindows.ts"
import { sendAdminTo } from "./NamedMechanisms.ts"
import { NoticeSchedule } from "./NoticeSchedule.ts"

/** Mechanisms that are notified at the same time. */
const concurrency = 8

/** Sends the experience's window to its mechanisms. If one cannot be notified, the call fails after all others were. */
export const tellMechanisms = Effect.fn("tellMechanisms")(function* (tenant: Tenant, by: string, experienceId: string) {
  const windows = yield* ExperienceWindows
  const notices = yield* NoticeSchedule
  const outdated = yield* windows.untold(tenant, experienceId)
  const results = yield* Effect.forEach(
    outdated,
    ({ window, ...mechanism }) =>
      Effect.result(sendAdminTo(tenant, mechanism, { _tag: "SetExperienceWindow", window, by })),
    { concurrency }
  )
  for (const sequenceId of new Set(outdated.map((mechanism) => mechanism.sequenceId))) {
    yield* notices.reschedule({ ...tenant, sequenceId })
  }
  const failure = results.find(Result.isFailure)
  if (failure !== undefined) return yield* Effect.fail(failure.failure)
})
