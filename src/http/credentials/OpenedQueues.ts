/** What the key of a gate opens of queues: those that the gate's rules name. Any other is as unknown as one of a stranger. */
import { Effect } from "effect"
import { CurrentTenant } from "../../api/Credentials.ts"
import { NotFound } from "../../api/Errors.ts"

/** Returns the caller, if it may use the queue. */
export const callerAt = (queueId: string) =>
  Effect.flatMap(CurrentTenant, (caller) =>
    caller.gate === undefined || caller.gate.queueIds.has(queueId)
      ? Effect.succeed(caller)
      : Effect.fail(NotFound.of("Queue"))
  )
