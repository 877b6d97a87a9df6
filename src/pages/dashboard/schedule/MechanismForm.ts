/** The form of one mechanism on the schedule of a drop: what can be changed, and what cannot, with the reason. */
import type { StaffReason } from "../../../domain/mechanism/Author.ts"
import { kindNames } from "../../../domain/mechanism/Mechanism.ts"
import { toText } from "../../../domain/values/Time.ts"
import { html, type Html } from "../../Html.ts"
import type { Mechanism } from "../drop/Drop.ts"
import { Form, type Sent } from "../form/Form.ts"
import { instantIn, minutesIn, minutesOf, noMinutes, numberIn, textIn, typedAt } from "../form/Typed.ts"
import { formId } from "../FormId.ts"
import { badge, count } from "../Parts.ts"
import { reasonNames } from "../Reasons.ts"
import { stockIdOf, stockSettings } from "../stocks/Naming.ts"
import { stocksPath } from "../stocks/Words.ts"
import { fixedBy, type Term, termsFor } from "./Terms.ts"

/** The value of a setting, or of one in a setting. */
const valueIn = (mechanism: Mechanism, setting: string): unknown =>
  setting
    .split(".")
    .reduce<unknown>((value, name) => (value as { readonly [name: string]: unknown } | null)?.[name], mechanism)

/** The value of a setting as its field shows it. Clocks of the mechanism's zone show times. */
const shownIn = (mechanism: Mechanism, { setting, type }: Term): string => {
  const value = valueIn(mechanism, setting)
  if (type === "switch") return value === true ? "yes" : "no"
  if (value === null || value === undefined) return ""
  if (type === "instant") return typedAt(value as number, mechanism.timeZone)
  if (type === "minutes") return minutesOf(value as number)
  return `${value as string | number}`
}

/** What the form needs to know. */
interface Surroundings {
  readonly path: string
  readonly mayChange: boolean
  /** The stocks of which a person can choose. */
  readonly stocks: ReadonlyArray<{ readonly id: string; readonly name: string }>
}

/** The form, or the settings alone for those who may not change them. */
export const mechanismForm = (mechanism: Mechanism, { path, mayChange, stocks }: Surroundings, sent?: Sent): Html => {
  const { id, type, lifecycle, timeZone } = mechanism
  const form = new Form(sent, `${id}-`)
  const terms = termsFor(mechanism).map((term) => ({ term, fixed: fixedBy(mechanism, term.setting) }))
  const open = terms.filter(({ fixed }) => fixed === undefined && mayChange)
  const fixed = terms.filter(({ fixed: why }) => why !== undefined || !mayChange)
  const fields = open.map(({ term }) => termField(form, mechanism, term, stocks))
  const reason = form.select("reason", {
    label: "Reason",
    value: "SCHEDULE_CHANGED" satisfies StaffReason,
    choices: Object.entries(reasonNames),
    hint: "Kept in the history, with your name."
  })
  return html`<section class="card" id="m-${id}">
    <h2>
      <bdi>${mechanism.name}</bdi>
      <small>${kindNames[type]}</small> ${badge(lifecycle, lifecycle === "open" ? "ok" : "over")}
    </h2>
    ${form.summary("Nothing was changed. This needs another look:")}
    ${
      open.length > 0 &&
      html`<form method="post" action="${path}/mechanism">
        <input type="hidden" name="mechanism" value="${id}" />${formId()}
        <p class="hint">Times are those of ${timeZone}.</p>
        <div class="columns">${fields}${reason}</div>
        <button>Save</button>
      </form>`
    }
    ${unitsFact(mechanism, stocks)} ${fixed.length > 0 && fixedFacts(mechanism, fixed, stocks)}
  </section>`
}

/** The units that a mechanism has from its stock at this moment. */
const unitsFact = (mechanism: Mechanism, stocks: Surroundings["stocks"]): Html | false => {
  const stockId = stockIdOf(mechanism)
  if (stockId === undefined || !("allocation" in mechanism)) return false
  const { units = 0, held = 0, sold = 0 } = mechanism.allocation ?? {}
  const stock = html`<a href="${stocksPath}/${stockId}"><bdi>${nameOfStock(stockId, stocks)}</bdi></a>`
  return html`<dl class="facts fixed">
    <div>
      <dt>Units from its stock</dt>
      <dd>${count(units + sold)}</dd>
      <dd class="hint">${count(held)} held, ${count(sold)} sold. ${stock} gives it more when it is its turn.</dd>
    </div>
  </dl>`
}

const nameOfStock = (id: string, stocks: Surroundings["stocks"]): string =>
  stocks.find((stock) => stock.id === id)?.name ?? "Its stock"

const fixedFacts = (
  mechanism: Mechanism,
  fixed: ReadonlyArray<{ readonly term: Term; readonly fixed: string | undefined }>,
  stocks: Surroundings["stocks"]
): Html =>
  html`<dl class="facts fixed">
    ${fixed.map(
      ({ term, fixed: why }) =>
        html`<div>
          <dt>${term.label}</dt>
          <dd dir="auto">${factOf(mechanism, term, stocks)}</dd>
          ${why !== undefined && html`<dd class="hint">${why}</dd>`}
        </div>`
    )}
  </dl>`

const factOf = (mechanism: Mechanism, term: Term, stocks: Surroundings["stocks"]): string => {
  const value = shownIn(mechanism, term)
  if (term.type === "stock") return value === "" ? ownUnits : nameOfStock(value, stocks)
  // A mechanism without an opening has been open since it was made.
  if (term.setting === "openAt" && value === "" && mechanism.lifecycle !== "scheduled")
    return `At once: ${typedAt(mechanism.createdAt, mechanism.timeZone).replace("T", " ")}`
  if (term.type === "switch") return term.choices?.find(([choice]) => choice === value)?.[1] ?? value
  return value.replace("T", " ") || "–"
}

/** How the choice without a stock is called. */
const ownUnits = "Its own units"

/** The field of a setting, and what it shows at first. {@link changesIn} reads both. */
export const termField = (
  form: Form,
  mechanism: Mechanism,
  term: Term,
  stocks: Surroundings["stocks"]
): Html | false => {
  const value = shownIn(mechanism, term)
  const { setting, label, isOptional, min = 0 } = term
  const shared = { label, value, isOptional, ...(term.hint !== undefined && term.hint !== "" && { hint: term.hint }) }
  const was = html`<input type="hidden" name="was.${setting}" value="${value}" />`
  if (term.type === "stock") {
    const known = stocks.map(({ id, name }) => [id, name] as const)
    const others = value === "" || stocks.some(({ id }) => id === value) ? [] : [[value, "Its stock"] as const]
    const choices = [["", ownUnits] as const, ...known, ...others]
    return choices.length > 1 && html`${was}${form.select(setting, { ...shared, choices })}`
  }
  if (term.type === "switch") return html`${was}${form.select(setting, { ...shared, choices: term.choices ?? [] })}`
  const types = {
    instant: "datetime-local",
    number: "number",
    minutes: "number",
    amount: "text",
    text: "text"
  } as const
  return html`${was}${form.input(setting, {
    ...shared,
    type: types[term.type],
    min,
    isFraction: term.type === "minutes"
  })}`
}

/** The changes of a sent form: only the fields that a person has changed since the page was shown. */
export const changesIn = (mechanism: Mechanism, fields: URLSearchParams) => {
  const problems = new Map<string, string>()
  const changes = termsFor(mechanism).flatMap((term): ReadonlyArray<readonly [string, unknown]> => {
    const { setting, type } = term
    const typed = fields.get(setting)
    if (typed === null || typed === fields.get(`was.${setting}`)) return []
    const text = textIn(fields, setting)
    if (type === "stock") return Object.entries(stockSettings(mechanism.type, text ?? null))
    if (text === undefined) return [[setting, term.isOptional ? null : ""]]
    if (type === "switch") return [[setting, text === "yes"]]
    if (type === "number") return [[setting, numberIn(fields, setting)]]
    if (type === "minutes") {
      const seconds = minutesIn(fields, setting)
      if (typeof seconds === "number") return [[setting, seconds]]
      problems.set(setting, noMinutes)
      return []
    }
    if (type !== "instant") return [[setting, text]]
    const found = instantIn(text, mechanism.timeZone)
    if ("at" in found) return [[setting, toText(found.at)]]
    problems.set(setting, found.problem)
    return []
  })
  return { changes: nested(Object.fromEntries(changes), mechanism), problems }
}

/** The changes with the values of one setting in it. It is sent whole, and an empty one is none. */
const nested = (
  changes: { readonly [setting: string]: unknown },
  mechanism: Mechanism
): { readonly [setting: string]: unknown } => {
  const made: { [setting: string]: unknown } = {}
  for (const [setting, value] of Object.entries(changes)) {
    const [whole = "", inner] = setting.split(".")
    if (inner === undefined) made[whole] = value
    else made[whole] = { ...((made[whole] ?? valueIn(mechanism, whole)) as object | null), [inner]: value }
  }
  for (const [setting, value] of Object.entries(made)) {
    const values = typeof value === "object" && value !== null ? Object.values(value) : []
    if (values.length > 0 && values.every((one) => one === null)) made[setting] = null
    else if (values.includes(null)) {
      made[setting] = Object.fromEntries(Object.entries(value as object).filter(([, one]) => one !== null))
    }
  }
  return made
}
