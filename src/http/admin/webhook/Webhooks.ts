/** The handlers of webhooks on the Admin API. */
import { Clock, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { randomUUID } from "node:crypto"
import { signatureHeaders } from "../../../delivery/webhook/Signature.ts"
import { WebhookClient } from "../../../delivery/webhook/WebhookClient.ts"
import { descriptionOf, eventTypes } from "../../../domain/webhook/Catalogue.ts"
import { Settings } from "../../../domain/webhook/Webhook.ts"
import { toText } from "../../../domain/values/Time.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { type LoggedDelivery, WebhookDeliveries } from "../../../store/webhook/WebhookDeliveries.ts"
import { Webhooks, type WithSecret } from "../../../store/webhook/Webhooks.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { AdminApi } from "../Api.ts"
import { orInvalidPage } from "../records/Lists.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { revising } from "../records/Payloads.ts"

const overlapSecondsDefault = 86_400

export const WebhookHandlers = HttpApiBuilder.group(
  AdminApi,
  "webhooks",
  Effect.fnUntraced(function* (handlers) {
    const webhooks = yield* Webhooks
    const deliveries = yield* WebhookDeliveries
    const client = yield* WebhookClient

    /** Refuses a URL that webhooks may not have. */
    const checked = (payload: { readonly url?: string }) => {
      const expected = payload.url === undefined ? undefined : client.problemOf(payload.url)
      return expected === undefined
        ? Effect.void
        : Effect.fail(invalidInput([issueAt(payload, "url", { kind: "validation", type: "string", expected })]))
    }

    const test = Effect.fnUntraced(function* (tenant: Tenant, id: string) {
      const { url, secret } = yield* webhooks.target(tenant, id)
      const now = yield* Clock.currentTimeMillis
      const eventId = `evt_test_${randomUUID()}`
      const body = JSON.stringify({
        id: eventId,
        type: "webhook.test",
        timestamp: toText(now),
        organization_id: tenant.organizationId,
        mode: tenant.mode,
        data: {}
      })
      const signed = { id: eventId, timestampSeconds: Math.floor(now / 1_000), body }
      return yield* client.post(
        url,
        { "content-type": "application/json", ...signatureHeaders(signed, [secret]) },
        body
      )
    })

    return handlers.handleAll({
      createWebhook: ({ payload }) =>
        forTenant((tenant, by) =>
          Effect.andThen(
            checked(payload),
            Effect.map(webhooks.create(tenant, by, revised({}, payload), payload.secret), shown)
          )
        ),

      listWebhooks: onList((tenant, query) => webhooks.list(tenant, query, {})),

      getWebhook: onRecord((tenant, id) => webhooks.find(tenant, id)),

      changeWebhook: ({ params: { id }, payload }) =>
        forTenant((tenant, by) =>
          Effect.andThen(
            checked(payload),
            webhooks.change(tenant, id, by, (settings) => revised(settings, payload))
          )
        ),

      archiveWebhook: onRecord((tenant, id, by) =>
        Effect.map(webhooks.archive(tenant, id, by), ({ record }) => record)
      ),

      restoreWebhook: onRecord((tenant, id, by) => webhooks.restore(tenant, id, by)),

      enableWebhook: ({ params: { id }, payload: { from = "cursor" } }) =>
        forTenant((tenant, by) => webhooks.enable(tenant, id, by, from)),

      disableWebhook: onRecord((tenant, id, by) => webhooks.disable(tenant, id, by)),

      rotateWebhookSecret: ({ params: { id }, payload: { overlapSeconds = overlapSecondsDefault } }) =>
        forTenant((tenant, by) => Effect.map(webhooks.rotateSecret(tenant, id, by, overlapSeconds), shown)),

      testWebhook: onRecord((tenant, id) => test(tenant, id)),

      listWebhookDeliveries: ({ params: { id }, query }) =>
        forTenant((tenant) =>
          Effect.andThen(
            webhooks.find(tenant, id),
            Effect.map(deliveries.list(tenant, id, query, query), ({ data, pageInfo }) => ({
              data: data.map(logged),
              pageInfo
            }))
          ).pipe(orInvalidPage(query))
        ),

      replayWebhook: ({ params: { id }, payload: { from } }) =>
        forTenant((tenant) =>
          from === "failed"
            ? Effect.andThen(webhooks.replayFailed(tenant, id), webhooks.find(tenant, id))
            : webhooks.replay(tenant, id, from)
        ),

      listEventTypes: () =>
        Effect.succeed({ data: eventTypes.map((type) => ({ type, description: descriptionOf(type) })) })
    })
  })
)

const shown = ({ webhook, secret }: WithSecret) => ({ ...webhook, secret })

const logged = (delivery: LoggedDelivery) => ({ ...delivery, retryCount: delivery.attempts.length - 1 })

const revised = revising<Settings>(Settings.fields)
