/** Webhooks: the list, a new one with its secret shown once, and one webhook with its deliveries. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { eventTypes } from "../../../domain/webhook/Catalogue.ts"
import { type Html, html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { formId } from "../FormId.ts"
import { action, asked, doneNote, field, problemNote } from "../Frame.ts"
import { get, post, type Reply, type Run, type RouteRequest } from "../Route.ts"
import { facts, filter, filters, instant, listQueryOf, pager, table } from "../Table.ts"

type Webhook = AdminAnswer<"webhooks", "getWebhook">
type Delivery = AdminAnswer<"webhooks", "listWebhookDeliveries">["data"][number]
type Api = AdminApiClient["Service"]

const path = "/dashboard/webhooks"

/** The routes of webhooks. */
export const make = (api: Api) => {
  const showAll = makeShowAll(api)
  const show = makeShow(api)
  const shown = ({ params }: RouteRequest, done: string): Reply => ({ goTo: `${path}/${params["id"]}`, done })
  /** An operation on a webhook, after which the webhook is shown. */
  const doing =
    (perform: (operator: Operator, id: string) => ReturnType<typeof api.run>, done: string): Run =>
    (operator, sent) =>
      Effect.as(perform(operator, sent.params["id"]!), shown(sent, done))
  const input = (id: string, payload?: object) => ({ params: { id }, payload })

  return [
    get("/webhooks", showAll),
    post("/webhooks", "admin", makeCreate(api, showAll)),
    get("/webhooks/:id", show),
    post(
      "/webhooks/:id/test",
      "admin",
      Effect.fnUntraced(function* (operator, sent) {
        const { statusCode, body } = yield* api.run(operator, "webhooks", "testWebhook", input(sent.params["id"]!, {}))
        return shown(sent, `The test event was answered with ${statusCode ?? "nothing"}. ${body}`)
      })
    ),
    post(
      "/webhooks/:id/replay",
      "admin",
      doing(
        (operator, id) => api.run(operator, "webhooks", "replayWebhook", input(id, { from: "failed" })),
        "The failed deliveries are being sent again."
      )
    ),
    post("/webhooks/:id/disable", "admin", (operator, sent) => {
      const id = sent.params["id"]!
      const disabled = api.run(operator, "webhooks", "disableWebhook", input(id))
      return sent.fields.has("confirmed")
        ? Effect.as(disabled, shown(sent, "The webhook is disabled. Its events wait."))
        : Effect.map(api.run(operator, "webhooks", "getWebhook", input(id)), disabling)
    }),
    post(
      "/webhooks/:id/enable",
      "admin",
      doing(
        (operator, id) => api.run(operator, "webhooks", "enableWebhook", input(id, {})),
        "The webhook is enabled. It gets what it missed."
      )
    )
  ]
}

const disabling = ({ id, url }: Webhook) =>
  asked({
    title: "Disable the webhook?",
    says: `${url} gets no event until the webhook is enabled again. Then it gets what it missed.`,
    path: `${path}/${id}/disable`,
    back: `${path}/${id}`,
    button: "Disable",
    isHarmful: true
  })

const makeShowAll = (api: Api) =>
  Effect.fnUntraced(function* (operator: Operator, { query, fields }: RouteRequest, problem?: string) {
    const page = yield* api.run(operator, "webhooks", "listWebhooks", {
      query: { sortDir: "desc", ...listQueryOf(query) }
    })
    return {
      title: "Webhooks",
      status: problem === undefined ? 200 : 400,
      body: html`
        ${table<Webhook>(
          "Webhooks, newest first",
          page.data,
          [
            { title: "Address", cell: ({ id, url }) => html`<a href="${path}/${id}">${url}</a>` },
            { title: "Status", cell: statusOf },
            { title: "Events", cell: ({ events }) => events.join(", ") },
            { title: "Created", cell: ({ createdAt }) => instant(createdAt) }
          ],
          mayDo(operator.role, "admin")
            ? "No webhook yet. Add the address of your server below; Usher reports events to it."
            : "No webhook yet. An admin can add one."
        )}
        ${pager(page, path, query)} ${mayDo(operator.role, "admin") && newForm(fields, problem)}
      `
    }
  })

const statusOf = ({ status, disabledReason, failingSince }: Webhook) => {
  if (disabledReason !== null) return `${status} (${disabledReason})`
  return failingSince === null ? status : html`${status}, failing since ${instant(failingSince)}`
}

const newForm = (fields: URLSearchParams, problem: string | undefined): Html => html`
  <form method="post" action="${path}" class="card">
    <h2>New webhook</h2>
    ${problemNote(problem)}
    ${field(
      "Address",
      "url",
      { type: "url", value: fields.get("url") ?? "" },
      "An https address of your server. Usher posts signed events to it."
    )}
    <label
      >Events
      <select name="events" multiple required size="8">
        ${eventTypes.map(
          (type) =>
            html`<option value="${type}" ${fields.getAll("events").includes(type) && html`selected`}>${type}</option>`
        )}
      </select></label
    >
    ${field("Description", "description", { value: fields.get("description") ?? "", isOptional: true })}
    ${formId()}<button>Create webhook</button>
  </form>
`

/** Makes the form that creates a webhook. Its answer shows the secret, this once. */
const makeCreate = (api: Api, showAll: ReturnType<typeof makeShowAll>) =>
  Effect.fnUntraced(function* (operator: Operator, sent: RouteRequest) {
    const description = sent.fields.get("description")?.trim() ?? ""
    const payload = {
      url: sent.fields.get("url")?.trim() ?? "",
      events: sent.fields.getAll("events"),
      ...(description !== "" && { description })
    }
    return yield* api.run(operator, "webhooks", "createWebhook", { payload }).pipe(
      Effect.map(({ id, url, secret }): Reply => ({
        title: "Webhook created",
        body: secretOf(id, url, secret),
        again: {
          goTo: `${path}/${id}`,
          done: "This webhook was created before. Its secret was shown then, and only once."
        }
      })),
      Effect.catchTag("Refusal", (refusal) =>
        refusal.status === 400
          ? showAll(operator, sent, refusal.detail ?? "Choose an https address and at least one event.")
          : Effect.fail(refusal)
      )
    )
  })

const secretOf = (id: string, url: string, secret: string): Html => html`
  <section class="card">
    ${doneNote(`Events go to ${url} from now on.`)}
    <p>This secret signs them. It is shown once; copy it to your server now.</p>
    <p><code class="secret">${secret}</code></p>
    <p><a class="button" href="${path}/${id}">I have copied it</a></p>
  </section>
`

const makeShow = (api: Api) =>
  Effect.fnUntraced(function* (operator: Operator, { params, query }: RouteRequest) {
    const id = params["id"]!
    const webhook = yield* api.run(operator, "webhooks", "getWebhook", { params: { id } })
    const page = yield* api.run(operator, "webhooks", "listWebhookDeliveries", {
      params: { id },
      query: { sortDir: "desc", ...listQueryOf(query, ["status"]) }
    })
    const own = `${path}/${id}`
    return {
      title: webhook.url,
      body: html`
        <section class="card">
          ${facts([
            ["Status", statusOf(webhook)],
            ["Events", webhook.events.join(", ")],
            ["Description", webhook.description],
            ["Order", webhook.ordering],
            ["Retries", webhook.schedule]
          ])}
        </section>
        ${mayDo(operator.role, "admin") && actionsOf(webhook, own)}
        ${filters(own, filter("Status", "status", ["DELIVERED", "WAITING", "FAILED"], query))}
        ${deliveriesOf(page.data)} ${pager(page, own, query)}
      `
    }
  })

const actionsOf = ({ status }: Webhook, own: string): Html =>
  html`<div class="actions">
    ${action(`${own}/test`, "Send a test event")}
    ${action(`${own}/replay`, "Send failed deliveries again", false, "quiet")}
    ${
      status === "ENABLED"
        ? action(`${own}/disable`, "Disable", false, "quiet", true)
        : action(`${own}/enable`, "Enable", false, "quiet")
    }
  </div>`

const deliveriesOf = (deliveries: ReadonlyArray<Delivery>): Html =>
  table<Delivery>(
    "Deliveries, newest first",
    deliveries,
    [
      { title: "Event", cell: ({ type }) => type },
      { title: "Status", cell: ({ status }) => status },
      { title: "Attempts", cell: ({ attempts }) => attempts.length },
      {
        title: "Last response",
        cell: ({ attempts }) => {
          const last = attempts.at(-1)
          return last && `${last.statusCode ?? "none"} ${last.body.slice(0, 200)}`
        }
      },
      { title: "When", cell: ({ updatedAt }) => instant(updatedAt) },
      { title: "Event id", cell: ({ eventId }) => eventId }
    ],
    "Nothing was delivered yet. Send a test event, or wait for the first event."
  )
