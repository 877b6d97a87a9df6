/** The handlers of webhooks on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { WebhookClient } from "../../../delivery/webhook/WebhookClient.ts"
import { descriptionOf, eventTypes } from "../../../domain/webhook/Catalogue.ts"
import { Settings, type Webhook } from "../../../domain/webhook/Webhook.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { Page } from "../../../store/records/Pagination.ts"
import { type LoggedDelivery, WebhookDeliveries } from "../../../store/webhook/WebhookDeliveries.ts"
import { type ReplaySelection, Webhooks, type WithSecret } from "../../../store/webhook/Webhooks.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { orInvalidPage } from "../records/Refusals.ts"
import { revising } from "../records/Settings.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { recordTest, sendTestEvent } from "./TestEvent.ts"

const overlapSecondsDefault = 86_400

export const WebhookHandlers = HttpApiBuilder.group(AdminApi, "webhooks", (handlers) =>
  Effect.gen(function* () {
    const webhooks = yield* Webhooks
    const deliveries = yield* WebhookDeliveries
    const client = yield* WebhookClient
    const checked = checkUrl(client)

    return handlers.handleAll({
      createWebhook: ({ payload }) =>
        forTenant((tenant, by) =>
          Effect.andThen(checked(payload), webhooks.create(tenant, by, revised({}, payload), payload.secret)).pipe(
            Effect.map(shown)
          )
        ),

      listWebhooks: onList(webhooks.list),

      getWebhook: onRecord(webhooks.find),

      changeWebhook: ({ params: { id }, payload }) =>
        forTenant((tenant, by) =>
          Effect.andThen(
            checked(payload),
            webhooks.change(tenant, id, by, (settings) => revised(settings, payload))
          )
        ),

      archiveWebhook: onRecord((tenant, id, by) => Effect.map(webhooks.archive(tenant, id, by), archived)),

      restoreWebhook: onRecord(webhooks.restore),

      enableWebhook: ({ params: { id }, payload: { from = "cursor" } }) =>
        forTenant((tenant, by) => webhooks.enable(tenant, id, by, from)),

      disableWebhook: onRecord(webhooks.disable),

      rotateWebhookSecret: ({ params: { id }, payload: { overlapSeconds = overlapSecondsDefault } }) =>
        forTenant((tenant, by) => Effect.map(webhooks.rotateSecret(tenant, id, by, overlapSeconds), shown)),

      testWebhook: ({ params: { id }, payload }) =>
        forTenant((tenant) =>
          Effect.flatMap(webhooks.target(tenant, id), sendTestEvent(client, tenant, payload?.type)).pipe(
            Effect.flatMap(recordTest(deliveries, id))
          )
        ),

      listWebhookDeliveries: ({ params: { id }, query }) =>
        forTenant((tenant) =>
          Effect.andThen(webhooks.find(tenant, id), deliveries.list(tenant, id, query, query)).pipe(
            Effect.map(logged),
            orInvalidPage(query)
          )
        ),

      replayWebhook: ({ params: { id }, payload: { from } }) =>
        forTenant((tenant) => replay(webhooks, tenant, id, from)),

      listEventTypes: () => Effect.succeed(catalogue)
    })
  })
)

const archived = ({ record }: { readonly record: Webhook }) => record

/** Makes the function that refuses a body with a URL that webhooks may not have. */
const checkUrl = (client: WebhookClient["Service"]) => (payload: { readonly url?: string }) => {
  const expected = payload.url === undefined ? undefined : client.problemOf(payload.url)
  return expected === undefined
    ? Effect.void
    : Effect.fail(invalidInput([issueAt(payload, "url", { kind: "validation", type: "string", expected })]))
}

/** Sends events again: those that failed permanently, or all from an instant or a number on. Returns the webhook. */
const replay = (webhooks: Webhooks["Service"], tenant: Tenant, id: string, from: ReplaySelection) =>
  from === "failed"
    ? Effect.andThen(webhooks.replayFailed(tenant, id), webhooks.find(tenant, id))
    : webhooks.replay(tenant, id, from)

const catalogue = { data: eventTypes.map((type) => ({ type, description: descriptionOf(type) })) }

const shown = ({ webhook, secret }: WithSecret) => ({ ...webhook, secret })

/** Returns a page of the log with the number of retries of each delivery. */
const logged = ({ data, pageInfo }: Page<LoggedDelivery>) => ({
  data: data.map((delivery) => ({ ...delivery, retryCount: delivery.attempts.length - 1 })),
  pageInfo
})

const revised = revising<Settings>(Settings.fields)
