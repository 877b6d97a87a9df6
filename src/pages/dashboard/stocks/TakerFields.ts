/**
 * Who gets units of a stock, as an ordered list in a form. Buttons move and remove mechanisms, and add others, also
 * without a script; nothing is stored by them.
 */
import { takersMax } from "../../../domain/stock/Configuration.ts"
import { toText } from "../../../domain/values/Time.ts"
import { html, type Html } from "../../Html.ts"
import type { Choice, Form } from "../form/Form.ts"
import { type Row, type RowPlace, Rows } from "../form/Rows.ts"
import { instantIn, numberIn, textIn, typedAt } from "../form/Typed.ts"
import type { Taker } from "./Words.ts"

const suffixes = ["of", "rule", "units", "from"] as const
type Suffix = (typeof suffixes)[number]

const takerRows = new Rows<Suffix>({ name: "taker", all: "takers", suffixes, rowsMax: takersMax })

/** The field with the mechanism that is added. */
const addField = "taker.add"

const rules = [
  ["rest", "What remains"],
  ["units", "A fixed share"],
  ["upTo", "At most so many, as people wait"]
] as const satisfies ReadonlyArray<Choice>

/** Writes the takers of a stock into the fields of its form. Clocks of the zone show from when. */
export const writeTakers = (fields: URLSearchParams, takers: ReadonlyArray<Taker>, timeZone: string): void =>
  takerRows.write(
    fields,
    takers.map(({ distributionId, units, upTo, from }) => ({
      of: distributionId,
      rule: units !== undefined ? "units" : upTo !== undefined ? "upTo" : "rest",
      units: `${units ?? upTo ?? ""}`,
      from: from === undefined ? "" : typedAt(from, timeZone)
    }))
  )

/** Writes the rows that a new form begins with. */
export const startTakers = (fields: URLSearchParams, rows: ReadonlyArray<Row<Suffix>>): void =>
  takerRows.write(fields, rows)

/** Does what the buttons of the list ask for. Returns the form after it; undefined if none was used. */
export const arrangedTakers = (sent: URLSearchParams): URLSearchParams | undefined => {
  const of = textIn(sent, addField)
  const isThere = takerRows.rowsIn(sent).some((row) => row.of === of)
  return takerRows.arranged(sent, of === undefined || isThere ? undefined : { of, rule: "rest" })
}

/** Puts another mechanism in the place of one, such as the one that was made from a row. */
export const replaceTaker = (fields: URLSearchParams, former: string, of: string): void =>
  takerRows.write(
    fields,
    takerRows.rowsIn(fields).map((row) => (row.of === former ? { ...row, of } : row))
  )

/** A taker of a form as the API takes it. */
export interface TypedTaker {
  readonly of: string
  readonly units?: number | string
  readonly upTo?: number | string
  readonly from?: string
}

/** Returns the takers of a form in their order, and what the page itself finds wrong. */
export const takersIn = (fields: URLSearchParams, timeZone: string) => {
  const problems = new Map<string, string>()
  const takers = takerRows.rowsIn(fields).map(({ of = "", rule = "rest" }, index): TypedTaker => {
    const name = (suffix: Suffix) => takerRows.fieldName(index, suffix)
    const units = numberIn(fields, name("units"))
    const hasShare = rule === "units" || rule === "upTo"
    if (hasShare && units === undefined) problems.set(name("units"), "Enter how many.")
    const text = textIn(fields, name("from"))
    const from = text === undefined ? undefined : instantIn(text, timeZone)
    if (from !== undefined && "problem" in from) problems.set(name("from"), from.problem)
    return {
      of,
      ...(hasShare && units !== undefined && { [rule]: units }),
      ...(from !== undefined && "at" in from && { from: toText(from.at) })
    }
  })
  return { takers, problems }
}

/** Returns the field for the path of a value below `takers`. */
export const takerFieldAt = ([index = "", setting]: ReadonlyArray<string>): string | undefined => {
  if (!/^\d+$/.test(index)) return undefined
  const suffix = setting === "from" ? "from" : setting === "units" || setting === "upTo" ? "units" : "rule"
  return takerRows.fieldName(Number(index), suffix)
}

/** What a list of takers shows around its fields. */
interface Around {
  /** How mechanisms are called, by the value of their row. */
  readonly nameOf: (of: string) => string
  /** What can be added. */
  readonly addable: ReadonlyArray<Choice>
  /** Why nothing can be added, if that is so. */
  readonly nothingToAdd: string
  /** When a turn begins whose field is empty. */
  readonly emptyFrom?: string
  readonly action: string
  readonly timeZone: string
  /** More fields of a row. */
  readonly more?: (of: string) => Html | false
}

/** The list with its buttons. */
export const takerFields = (form: Form, fields: URLSearchParams, around: Around): Html => {
  const rows = takerRows.rowsIn(fields)
  const listed = new Set(rows.map(({ of }) => of))
  const addable = around.addable.filter(([of]) => !listed.has(of))
  const { action } = around
  return html`<section id="takers">
    ${takerRows.countField(fields)}
    <ol class="rules">
      ${rows.map(({ of = "" }, index) => oneTaker(form, { index, count: rows.length, action }, of, around))}
    </ol>
    ${rows.length === 0 && html`<p class="muted">Nobody is in the list yet. Add who gets units first.</p>`}
    ${
      addable.length === 0
        ? html`<p class="hint">${around.nothingToAdd}</p>`
        : html`<div class="filters">
            ${form.select(addField, { label: "Another mechanism", choices: addable })}
            ${takerRows.addButton(fields, "Add to the list", action)}
          </div>`
    }
  </section>`
}

const oneTaker = (form: Form, place: RowPlace, of: string, around: Around): Html => {
  const { nameOf, timeZone, emptyFrom = "Empty: from the beginning.", more } = around
  const name = (suffix: Suffix) => takerRows.fieldName(place.index, suffix)
  const number = place.index + 1
  return html`<li>
    <fieldset>
      <legend>${number}. <bdi>${nameOf(of)}</bdi></legend>
      <input type="hidden" name="${name("of")}" value="${of}" />
      <div class="columns">
        ${form.select(name("rule"), { label: `Taker ${number} gets`, value: "rest", choices: rules })}
        ${form.input(name("units"), {
          label: `Units of taker ${number}`,
          type: "number",
          min: 1,
          isOptional: true,
          hint: "Of a fixed share, or at most."
        })}
        ${form.input(name("from"), {
          label: `Turn of taker ${number} begins`,
          type: "datetime-local",
          isOptional: true,
          hint: `${emptyFrom} Clocks of ${timeZone}.`
        })}
      </div>
      ${more?.(of)} ${takerRows.buttons(place)}
    </fieldset>
  </li>`
}
