/**
 * Keeps the notes of staff in the audit log. A note is written after its action, which is recorded with its author and
 * reason in the mechanism's own journal. An action must not seem to fail for its note, because a caller may repeat it.
 */
import { Effect } from "effect"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { type StaffAction, TenantEvents } from "../../../store/organization/TenantEvents.ts"

/** An action with its note. */
export interface Noted {
  readonly distributionId: string
  readonly action: StaffAction["action"]
  /** The code of the reason. */
  readonly reason?: string | null | undefined
  readonly note?: string | null | undefined
  /** Consumers whose places changed. */
  readonly consumers?: number
}

export const make = Effect.map(TenantEvents, (events) => {
  /** Keeps the note, if there is one. */
  return (
    tenant: Tenant,
    by: string,
    { note, reason, action, consumers, distributionId }: Noted
  ): Effect.Effect<void> =>
    typeof note !== "string"
      ? Effect.void
      : events
          .note(tenant, by, distributionId, {
            action,
            note,
            ...(typeof reason === "string" && { reason }),
            ...(consumers !== undefined && { consumers })
          })
          .pipe(Effect.catchCause((cause) => Effect.logWarning("A note of staff could not be kept", cause)))
})
