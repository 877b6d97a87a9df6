/** Consumers: the list, and one consumer with its places, orders and sessions; its export, and its erasure. */
import { Effect } from "effect"
import { isolated } from "../../../domain/values/Direction.ts"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { type Html, html } from "../../Html.ts"
import { Refusal } from "../../Refusal.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { action, asked } from "../Frame.ts"
import { nameOf as nameOfConsumer } from "../Names.ts"
import { get, post, type Reply, type RouteRequest } from "../Route.ts"
import { facts, filter, filters, instant, listQueryOf, mechanismColumns, pager, search, table } from "../Table.ts"
import { orderTable } from "./Orders.ts"
import {
  admission,
  admitForm,
  denial,
  denyForm,
  makePlaceAction,
  type Place,
  type PlaceAction
} from "./PlaceActions.ts"

type Consumer = AdminAnswer<"consumers", "getConsumer">
type Session = AdminAnswer<"consumers", "listConsumerSessions">["data"][number]

const path = "/dashboard/consumers"

/** Rows of each table of one consumer. */
const rowsMax = "50"

/** The word that confirms an erasure. */
const erasureWord = "ERASE"

/** The routes of consumers. */
export const make = (api: AdminApiClient["Service"]) => {
  const show = makeShow(api)
  const steering = <Reason extends string>(action: PlaceAction<Reason>) => {
    const steer = makePlaceAction(api, path, action)
    return post(`/consumers/:id/${action.path}`, "operator", (operator, sent) =>
      Effect.map(steer(operator, sent), (outcome): Reply =>
        "ask" in outcome ? outcome.ask : { goTo: `${path}/${sent.params["id"]}`, done: outcome.done }
      )
    )
  }
  const find = (operator: Operator, id: string) => api.run(operator, "consumers", "getConsumer", { params: { id } })
  return [
    get("/consumers", (operator, { query }) =>
      Effect.map(
        api.run(operator, "consumers", "listConsumers", {
          query: { sortDir: "desc", ...listQueryOf(query, ["search", "type"]) }
        }),
        (page) => ({ title: "Consumers", body: listOf(page, query) })
      )
    ),
    get("/consumers/:id", (operator, { params }) => show(operator, params["id"]!)),
    get("/consumers/:id/export", (operator, { params }) =>
      Effect.map(api.run(operator, "consumers", "exportConsumer", { params: { id: params["id"]! } }), (exported) => ({
        file: JSON.stringify(api.encode("consumers", "exportConsumer", exported), undefined, 2),
        name: `consumer-${exported.consumer.id}.json`
      }))
    ),
    post("/consumers/:id/end-sessions", "operator", (operator, { params, fields }) => {
      const id = params["id"]!
      if (!fields.has("confirmed")) return Effect.map(find(operator, id), endingSessions)
      return Effect.map(
        api.run(operator, "consumers", "endConsumerSessions", { params: { id } }),
        ({ ended }): Reply => ({ goTo: `${path}/${id}`, done: `${ended} sessions were ended.` })
      )
    }),
    steering(admission(api)),
    steering(denial(api)),
    post("/consumers/:id/erase", "admin", makeErase(api))
  ]
}

const endingSessions = (consumer: Consumer) =>
  asked({
    title: `End all sessions of ${isolated(nameOf(consumer), "")}?`,
    says: "The consumer is signed out on every device. Its places stay; a guest cannot come back to them.",
    path: `${path}/${consumer.id}/end-sessions`,
    back: `${path}/${consumer.id}`,
    button: "End all sessions",
    isHarmful: true
  })

type Page = AdminAnswer<"consumers", "listConsumers">

const listOf = (page: Page, query: URLSearchParams): Html => html`
  ${filters(
    path,
    html`${search("Email, phone, name or id", query)} ${filter("Type", "type", ["guest", "authenticated"], query)}`
  )}
  ${table<Consumer>(
    "Consumers, newest first",
    page.data,
    [
      { title: "Consumer", cell: (consumer) => html`<a href="${path}/${consumer.id}">${nameOf(consumer)}</a>` },
      { title: "Type", cell: ({ type }) => type },
      { title: "Phone", cell: ({ phone }) => phone ?? "–" },
      { title: "Orders", cell: ({ orderCount }) => orderCount },
      { title: "First seen", cell: ({ createdAt }) => instant(createdAt) }
    ],
    query.size > 0
      ? html`No matching consumers. <a href="${path}">Show all</a>`
      : html`Nobody has been here yet. <a href="/dashboard/new">Create a drop</a> and share its room.`
  )}
  ${pager(page, path, query)}
`

const nameOf = (consumer: Consumer): string => nameOfConsumer({ ...consumer, consumerId: consumer.id })

/** Makes the function that shows one consumer. */
const makeShow = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, id: string) {
    const input = { params: { id }, query: { first: rowsMax } }
    const consumer = yield* api.run(operator, "consumers", "getConsumer", { params: { id } })
    const [places, sessions, orders] = yield* Effect.all(
      [
        api.run(operator, "consumers", "listConsumerPlaces", input),
        api.run(operator, "consumers", "listConsumerSessions", input),
        api.run(operator, "orders", "listOrders", { query: { first: rowsMax, sortDir: "desc", consumerId: id } })
      ],
      { concurrency: 3 }
    )
    return {
      title: nameOf(consumer),
      body: html`
        <section class="card">
          <h2>Profile</h2>
          ${profileOf(consumer)}
          <p><a class="button quiet" href="${path}/${id}/export" download>Export all stored data</a></p>
        </section>
        ${placesOf(places.data, operator, id)} ${orderTable("Orders", orders.data, "This consumer has no orders.")}
        ${sessionsOf(sessions.data)}
        ${
          mayDo(operator.role, "operator") &&
          sessions.data.length > 0 &&
          action(`${path}/${id}/end-sessions`, "End all sessions", false, "quiet", true)
        }
        ${mayDo(operator.role, "admin") && erasureOf(id)}
      `
    }
  })

const profileOf = (consumer: Consumer): Html =>
  facts([
    ["Id", consumer.id],
    ["Type", consumer.type],
    ["Email", consumer.email],
    ["Phone", consumer.phone],
    ["Full name", consumer.fullName],
    ["External id", consumer.externalId],
    ["Orders", consumer.orderCount],
    ["Total spent", Object.entries(consumer.totalOrderValues).map(([code, sum]) => `${sum} ${code} `)],
    ["First seen", instant(consumer.createdAt)]
  ])

const placesOf = (places: ReadonlyArray<Place>, { role }: Operator, id: string): Html =>
  table<Place>(
    "Places",
    places,
    [
      ...mechanismColumns("Mechanism"),
      { title: "Status", cell: ({ status }) => status },
      { title: "Entered", cell: ({ enteredAt }) => instant(enteredAt) },
      { title: "Risk", cell: ({ risk }) => risk.score },
      ...(mayDo(role, "operator")
        ? [{ title: "Actions", cell: (place: Place) => steeringOf(place, `${path}/${id}`) }]
        : [])
    ],
    "This consumer has not entered any mechanism."
  )

const steeringOf = (place: Place, consumerPath: string): Html =>
  html`${admitForm(consumerPath, place)} ${denyForm(consumerPath, place)}`

const sessionsOf = (sessions: ReadonlyArray<Session>): Html =>
  table<Session>(
    "Sessions",
    sessions,
    [
      { title: "Began", cell: ({ createdAt }) => instant(createdAt) },
      { title: "Type", cell: ({ type }) => type },
      { title: "Last used", cell: ({ lastRefreshedAt }) => instant(lastRefreshedAt) },
      { title: "Ends", cell: ({ expiresAt }) => instant(expiresAt) }
    ],
    "This consumer has no active sessions."
  )

const erasureOf = (id: string): Html => html`
  <section class="card">
    <h2>Erase</h2>
    <p>
      The consumer loses its places and sessions. Its addresses, names, attributes and identities are deleted
      permanently. Orders keep what was sold.
    </p>
    <form method="post" action="${path}/${id}/erase">
      <label
        >Type ${erasureWord} to confirm
        <input name="confirmation" required autocomplete="off" pattern="${erasureWord}" />
      </label>
      <button class="danger">Erase this consumer</button>
    </form>
  </section>
`

/** Makes the form that erases a consumer, if it is confirmed. */
const makeErase = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, { params, fields }: RouteRequest) {
    if (fields.get("confirmation") !== erasureWord) {
      return yield* new Refusal({ status: 400, code: "INVALID", detail: `Type ${erasureWord} to confirm.` })
    }
    yield* api.run(operator, "consumers", "archiveConsumer", {
      params: { id: params["id"]! },
      query: { erase: "true" }
    })
    return { goTo: path, done: "The consumer was erased." }
  })
