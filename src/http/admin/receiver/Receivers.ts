/** The handlers of receivers on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { AdapterName } from "../../../domain/receiver/Adapter.ts"
import { type Receiver, secretProblemOf, Settings } from "../../../domain/receiver/Receiver.ts"
import { ReceivedEvents } from "../../../store/receiver/ReceivedEvents.ts"
import { Receivers } from "../../../store/receiver/Receivers.ts"
import type { ValidationError } from "../../../api/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { orInvalidPage } from "../records/Refusals.ts"
import { revising } from "../records/Settings.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"

export const ReceiverHandlers = HttpApiBuilder.group(AdminApi, "receivers", (handlers) =>
  Effect.gen(function* () {
    const receivers = yield* Receivers
    const events = yield* ReceivedEvents

    return handlers.handleAll({
      createReceiver: ({ payload }) =>
        forTenant((tenant, by) =>
          Effect.andThen(
            checkSecret(payload.adapter, payload),
            receivers.create(tenant, by, revised({}, payload), payload.secret)
          )
        ),

      listReceivers: onList(receivers.list),

      getReceiver: onRecord(receivers.find),

      // The adapter of a receiver never changes, so the secret can be checked before the record is locked.
      changeReceiver: ({ params: { id }, payload }) =>
        forTenant((tenant, by) =>
          receivers.find(tenant, id).pipe(
            Effect.flatMap(({ adapter }) => checkSecret(adapter, payload)),
            Effect.andThen(receivers.change(tenant, id, by, (settings) => revised(settings, payload), payload.secret))
          )
        ),

      archiveReceiver: onRecord((tenant, id, by) => Effect.map(receivers.archive(tenant, id, by), archived)),

      restoreReceiver: onRecord(receivers.restore),

      listReceivedEvents: ({ params: { id }, query }) =>
        forTenant((tenant) =>
          Effect.andThen(receivers.find(tenant, id), events.list(tenant, id, query, query)).pipe(orInvalidPage(query))
        )
    })
  })
)

const archived = ({ record }: { readonly record: Receiver }) => record

/** Refuses a secret that cannot be one of the adapter. The answer does not show it. */
const checkSecret = (
  adapter: AdapterName,
  { secret }: { readonly secret?: string }
): Effect.Effect<void, ValidationError> => {
  const expected = secret === undefined ? undefined : secretProblemOf(adapter, secret)
  return expected === undefined
    ? Effect.void
    : Effect.fail(invalidInput([issueAt({ secret: "…" }, "secret", { kind: "validation", type: "string", expected })]))
}

const revised = revising<Settings>(Settings.fields)
