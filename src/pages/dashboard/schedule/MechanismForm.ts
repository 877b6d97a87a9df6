/** The form of one mechanism on the schedule of a drop: what can be changed, and what cannot, with the reason. */
import type { StaffReason } from "../../../domain/mechanism/Author.ts"
import { kindNames } from "../../../domain/mechanism/Mechanism.ts"
import { toText } from "../../../domain/values/Time.ts"
import { html, type Html } from "../../Html.ts"
import type { Mechanism } from "../drop/Drop.ts"
import { Form, type Sent } from "../form/Form.ts"
import { instantIn, numberIn, textIn, times, typedAt } from "../form/Typed.ts"
import { formId } from "../FormId.ts"
import { badge } from "../Parts.ts"
import { reasonNames } from "../Reasons.ts"
import { fixedBy, type Term, termsOf } from "./Terms.ts"

/** The value of a setting as its field shows it. Clocks of the mechanism's zone show times. */
const shownIn = (mechanism: Mechanism, { setting, type }: Term): string => {
  const value = (mechanism as unknown as { readonly [name: string]: unknown })[setting]
  if (value === null || value === undefined) return ""
  if (type === "instant") return typedAt(value as number, mechanism.timeZone)
  if (type === "minutes") return `${Math.round(((value as number) / 60) * 100) / 100}`
  return `${value as string | number}`
}

/** The form, or the settings alone for those who may not change them. */
export const mechanismForm = (mechanism: Mechanism, path: string, mayChange: boolean, sent?: Sent): Html => {
  const { id, type, lifecycle, timeZone } = mechanism
  const form = new Form(sent, `${id}-`)
  const terms = termsOf[type].map((term) => ({ term, fixed: fixedBy(mechanism, term.setting) }))
  const open = terms.filter(({ fixed }) => fixed === undefined && mayChange)
  const fixed = terms.filter(({ fixed: why }) => why !== undefined || !mayChange)
  const fields = open.map(({ term }) => termField(form, mechanism, term))
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
    ${fixed.length > 0 && fixedFacts(mechanism, fixed)}
  </section>`
}

const fixedFacts = (
  mechanism: Mechanism,
  fixed: ReadonlyArray<{ readonly term: Term; readonly fixed: string | undefined }>
): Html =>
  html`<dl class="facts fixed">
    ${fixed.map(
      ({ term, fixed: why }) =>
        html`<div>
          <dt>${term.label}</dt>
          <dd dir="auto">${shownIn(mechanism, term).replace("T", " ") || "–"}</dd>
          ${why !== undefined && html`<dd class="hint">${why}</dd>`}
        </div>`
    )}
  </dl>`

const termField = (form: Form, mechanism: Mechanism, term: Term): Html => {
  const value = shownIn(mechanism, term)
  const { setting, label, isOptional, min = 0 } = term
  const shared = { label, value, isOptional, ...(term.hint !== undefined && term.hint !== "" && { hint: term.hint }) }
  const types = {
    instant: "datetime-local",
    number: "number",
    minutes: "number",
    amount: "text",
    text: "text"
  } as const
  return html`<input type="hidden" name="was.${setting}" value="${value}" />${form.input(setting, {
      ...shared,
      type: types[term.type],
      min
    })}`
}

/** The changes of a sent form: only the fields that a person has changed since the page was shown. */
export const changesIn = (mechanism: Mechanism, fields: URLSearchParams) => {
  const problems = new Map<string, string>()
  const changes = termsOf[mechanism.type].flatMap((term): ReadonlyArray<readonly [string, unknown]> => {
    const { setting, type } = term
    const typed = fields.get(setting)
    if (typed === null || typed === fields.get(`was.${setting}`)) return []
    const text = textIn(fields, setting)
    if (text === undefined) return [[setting, term.isOptional ? null : ""]]
    if (type === "number") return [[setting, numberIn(fields, setting)]]
    if (type === "minutes") return [[setting, times(numberIn(fields, setting), 60)]]
    if (type !== "instant") return [[setting, text]]
    const found = instantIn(text, mechanism.timeZone)
    if ("at" in found) return [[setting, toText(found.at)]]
    problems.set(setting, found.problem)
    return []
  })
  return { changes: Object.fromEntries(changes), problems }
}
