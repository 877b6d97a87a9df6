/**
 * The tab People of a drop: who waits, was admitted, bought, won, lost or booked, with filters, denials of many at once,
 * the check-in of bookings, and a file for spreadsheets.
 */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { denialsMax } from "../../../api/admin/SteeringApi.ts"
import { AdminReason } from "../../../domain/mechanism/Denial.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { isUuid } from "../../../domain/values/Ids.ts"
import { type Html, html } from "../../Html.ts"
import { notFound, Refusal } from "../../Refusal.ts"
import { asked } from "../Frame.ts"
import { counted } from "../Parts.ts"
import { get, post, type Reply } from "../Route.ts"
import { pager, table } from "../Table.ts"
import { type Mechanism, pathOf } from "./Drop.ts"
import { allPlaces } from "./KindView.ts"
import { dayOfQuery, makeCheckIn } from "./people/Bookings.ts"
import { columnsOf, isDeniable } from "./people/Columns.ts"
import { filtersOf } from "./people/Filters.ts"
import { makeListed } from "./people/Listed.ts"
import { mechanismIn } from "./people/MechanismIn.ts"
import { makeMove, makeMoveScreen } from "./people/Moving.ts"
import type { Person } from "./people/Person.ts"
import type { Tab, TabNeeds } from "./Tab.ts"

/** The tab. */
export const make = ({ api }: TabNeeds): Tab => ({
  path: "/people",
  title: "People",
  // A person may be in several mechanisms, and the tab lists one of them.
  count: ({ mechanisms }) => (mechanisms.length === 1 ? allPlaces(mechanisms[0]!) : undefined),
  show: makeShow(api),
  routes: ({ read }) => [
    get(
      "/experiences/:id/people.csv",
      Effect.fnUntraced(function* (operator, { params, query }) {
        const { mechanisms } = yield* read(operator, params["id"]!)
        const wanted = query.get("mechanism")
        const mechanism = mechanisms.find(({ id }) => wanted === null || id === wanted)
        if (mechanism === undefined) return yield* notFound
        const csv = yield* api.run(operator, "distributions", "exportDistributionConsumers", {
          params: { id: mechanism.id },
          query: Object.fromEntries(
            ["status", "contact", "day"].map((name) => [name, query.get(name) || undefined] as const)
          )
        })
        return { response: csv }
      })
    ),
    post("/experiences/:id/people/deny", "operator", makeDeny(api)),
    post("/experiences/:id/people/check-in", "operator", makeCheckIn(api)),
    { ...get("/experiences/:id/people/move", makeMoveScreen(api)), role: "operator" },
    post("/experiences/:id/people/move", "operator", makeMove(api))
  ]
})

const makeShow = (api: TabNeeds["api"]): Tab["show"] => {
  const listed = makeListed(api)
  return Effect.fnUntraced(function* (operator, drop, { query }) {
    const mechanism = drop.mechanisms.find(({ id }) => id === query.get("mechanism")) ?? drop.mechanisms[0]
    if (mechanism === undefined) return { body: html`<p class="lead">Nobody can enter yet: this drop is empty.</p>` }
    const path = `${drop.path}/people`
    const { page, caption, empty } = yield* listed(operator, mechanism, path, query, drop.now)
    const maySteer = mayDo(operator.role, "operator")
    const day = dayOfQuery(mechanism, query, drop.now)
    return {
      body: html`
        ${filtersOf(drop, mechanism, path, query, day)}
        ${table<Person>(caption, page.data, columnsOf(mechanism, maySteer, path, day), empty)}
        ${pager(page, path, query)}
        ${maySteer && isDeniable(mechanism) && page.data.length > 0 && denyForm(mechanism, path)}
      `
    }
  })
}

const denialNames: { readonly [R in AdminReason]: string } = {
  ADMIN_ACTION: "A decision of the organizer",
  BOT_DETECTED: "A program",
  FRAUD_DETECTED: "Fraud"
}

const denyForm = (mechanism: Mechanism, path: string): Html => html`
  <form method="post" action="${path}/deny" id="deny" class="card">
    <h2>Deny those who are chosen</h2>
    <input type="hidden" name="mechanism" value="${mechanism.id}" />
    <label
      >Reason
      <select name="reason" required>
        <option value="">Choose one</option>
        ${AdminReason.literals.map((reason) => html`<option value="${reason}">${denialNames[reason]}</option>`)}
      </select></label
    >
    <button class="quiet danger">Deny…</button>
  </form>
`

/** Makes the form that denies many places, once it is confirmed. */
const makeDeny = (api: TabNeeds["api"]) =>
  Effect.fnUntraced(function* (
    operator: Operator,
    { params, fields }: { readonly params: { readonly [name: string]: string }; readonly fields: URLSearchParams }
  ) {
    const experienceId = params["id"]!
    const path = `${pathOf(experienceId)}/people`
    const mechanism = yield* mechanismIn(api, operator, experienceId, fields.get("mechanism"))
    const consumerIds = fields
      .getAll("consumer")
      .filter((id) => isUuid(id))
      .slice(0, denialsMax)
    const reason = AdminReason.literals.find((one) => one === fields.get("reason"))
    const wrong =
      consumerIds.length === 0 ? "Choose at least one person." : reason === undefined ? "Choose a reason." : undefined
    if (wrong !== undefined) return yield* new Refusal({ status: 400, code: "INVALID", detail: wrong })
    const back = `${path}?mechanism=${mechanism.id}`
    if (!fields.has("confirmed")) {
      const people = counted(consumerIds.length, "person", "people")
      const says = `${people} will lose the place in ${mechanism.name}, with the reason “${denialNames[reason!]}”. This cannot be undone.`
      return asked({
        title: `Deny ${people}?`,
        says,
        path: `${path}/deny`,
        back,
        button: `Deny ${people}`,
        fields,
        isHarmful: true
      })
    }
    const { denied, refused } = yield* api.run(operator, "distributions", "denyDistributionConsumers", {
      params: { id: mechanism.id },
      payload: { consumerIds, reason }
    })
    const done = `${counted(denied, "person was", "people were")} denied.${refused > 0 ? ` ${refused} had no place any more.` : ""}`
    const reply: Reply = { goTo: back, done }
    return reply
  })
