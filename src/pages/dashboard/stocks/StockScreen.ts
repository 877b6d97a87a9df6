/** One stock: where its units are, who gets them next, corrections with a reason, its settings and its last events. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { defaultTimeZone } from "../../../domain/values/Locale.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import { Form, type Problems, type Sent } from "../form/Form.ts"
import { formId } from "../FormId.ts"
import { action } from "../Frame.ts"
import { makeMechanisms, makeOffered, type NamedMechanisms } from "../NamedMechanisms.ts"
import { card, count, linkButton } from "../Parts.ts"
import { facts } from "../Table.ts"
import { canJoin } from "./Naming.ts"
import { eventList, makeEvents } from "./StockHistory.ts"
import { allocationTable, stockBar } from "./StockBar.ts"
import { lowField, nothingToAdd, returnsField } from "./StockForm.ts"
import { takerFields, writeTakers } from "./TakerFields.ts"
import { adjustmentReasons, levelBadge, type Stock, stocksPath } from "./Words.ts"

type Api = AdminApiClient["Service"]

/** The forms of the screen. */
export type StockFormName = "takers" | "adjust" | "settings"

/** A form that is shown again: it was refused, or its buttons have moved takers. */
export interface ShownAgain extends Sent {
  readonly form: StockFormName
  readonly problems?: Problems
}

/** Events that the screen shows. The others have a screen of their own. */
const eventsShown = 10

/** The time zone in which stocks show and read times. */
export const timeZoneOf = (api: Api, operator: Operator) =>
  Effect.map(api.run(operator, "organizations", "getOrganization", {}), ({ timeZone }) => timeZone ?? defaultTimeZone)

/** Makes the function that shows a stock. */
export const makeShow = (api: Api) => {
  const named = makeMechanisms(api)
  const offered = makeOffered(api)
  const eventsOf = makeEvents(api)
  return Effect.fnUntraced(function* (operator: Operator, id: string, again?: ShownAgain) {
    const stock = yield* api.run(operator, "stocks", "getStock", { params: { id } })
    const names = yield* named(
      operator,
      stock.allocations.map(({ distributionId }) => distributionId)
    )
    const mayChange = mayDo(operator.role, "operator")
    const events = yield* eventsOf(operator, id, { first: `${eventsShown}` })
    const path = `${stocksPath}/${id}`
    return {
      title: stock.name,
      badge: levelBadge(stock.level),
      links: linkButton(`${path}/history`, "History"),
      status: again?.problems === undefined ? 200 : 400,
      body: html`
        ${unitsCard(stock, names)}
        ${
          mayChange &&
          html`${yield* takersCard(api, operator, stock, { names, offered }, sentTo(again, "takers"))}
          ${adjustCard(stock, path, sentTo(again, "adjust"))} ${settingsCard(stock, path, sentTo(again, "settings"))}`
        }
        ${!mayChange && factsCard(stock)} ${card("What happened", eventList(events.data, events.names))}
        ${mayChange && action(`${path}/archive`, "Archive…", false, "quiet danger", true)}
      `
    }
  })
}

const sentTo = (again: ShownAgain | undefined, form: StockFormName): ShownAgain | undefined =>
  again?.form === form ? again : undefined

const unitsCard = (stock: Stock, names: NamedMechanisms): Html =>
  html`<section class="card stock" id="units">
    <h2>${count(stock.onHand)} units on hand</h2>
    ${stockBar(stock)} ${allocationTable(stock, names)}
  </section>`

const takersCard = Effect.fnUntraced(function* (
  api: Api,
  operator: Operator,
  { id, takers }: Stock,
  { names, offered }: { readonly names: NamedMechanisms; readonly offered: ReturnType<typeof makeOffered> },
  sent: Sent | undefined
) {
  const timeZone = yield* timeZoneOf(api, operator)
  const all = new Map([...names, ...(yield* offered(operator, [], canJoin))])
  const fields = sent?.fields ?? new URLSearchParams()
  if (sent === undefined) writeTakers(fields, takers, timeZone)
  const form = new Form({ fields, ...(sent?.problems !== undefined && { problems: sent.problems }) }, "takers-")
  const path = `${stocksPath}/${id}/takers`
  const list = takerFields(form, fields, {
    nameOf: (of) => all.get(of)?.label ?? "An archived mechanism",
    addable: [...all].map(([one, { label }]) => [one, label] as const),
    nothingToAdd,
    action: path,
    timeZone
  })
  return html`<section class="card">
    <h2>Change who gets units</h2>
    <p class="muted">
      Free units go to the first that is open and in which people wait. A change moves no unit that somebody holds.
    </p>
    ${form.summary("Nothing was changed. This needs another look:")}
    <form method="post" action="${path}">
      ${formId()}
      <button class="unseen" tabindex="-1" aria-hidden="true">Save the list</button>
      ${list}
      <button>Save the list</button>
    </form>
  </section>`
})

const adjustCard = ({ free }: Stock, path: string, sent: Sent | undefined): Html => {
  const form = new Form(sent, "adjust-")
  const fields = html`
    ${form.select("direction", {
      label: "Correction",
      value: "add",
      choices: [
        ["add", "Add units"],
        ["take", "Take units away"]
      ]
    })}
    ${form.input("units", { label: "Units", type: "number", min: 1, hint: `${count(free)} are free. Only those can be taken away.` })}
    ${form.select("reason", {
      label: "Reason",
      choices: [["", "Choose one"], ...Object.entries(adjustmentReasons)],
      hint: "Kept in the history, with your name."
    })}
  `
  return html`<section class="card" id="adjust">
    <h2>Correct the units</h2>
    ${form.summary("Nothing was changed. This needs another look:")}
    <form method="post" action="${path}/adjust">
      ${formId()}
      <div class="columns">${fields}</div>
      <button class="quiet">Correct</button>
    </form>
  </section>`
}

const settingsCard = ({ name, lowAt, returnsCancelled }: Stock, path: string, sent: Sent | undefined): Html => {
  const form = new Form(sent, "settings-")
  const fields = html`
    ${form.input("name", { label: "Name", value: name })} ${form.input("lowAt", { ...lowField, value: lowAt ?? "" })}
    ${form.select("returnsCancelled", { ...returnsField, value: returnsCancelled ? "yes" : "no" })}
  `
  return html`<section class="card">
    <h2>Settings</h2>
    ${form.summary("Nothing was changed. This needs another look:")}
    <form method="post" action="${path}/settings">
      ${formId()}
      <div class="columns">${fields}</div>
      <button class="quiet">Save the settings</button>
    </form>
  </section>`
}

const factsCard = ({ lowAt, returnsCancelled }: Stock): Html =>
  card(
    "Settings",
    facts([
      ["Low at", lowAt === null ? "–" : count(lowAt)],
      ["Cancelled orders", returnsCancelled ? "their units are free again" : "their units stay out"]
    ])
  )
