/** The form of a new stock: its name, the sizes that it has, and who gets units of it. */
import { html } from "../../Html.ts"
import type { Refusal } from "../../Refusal.ts"
import { Form, problemsOf, type Problems, type Sent } from "../form/Form.ts"
import { numberIn, textIn } from "../form/Typed.ts"
import { formId } from "../FormId.ts"
import type { Screen } from "../Frame.ts"
import type { NamedMechanisms } from "../NamedMechanisms.ts"
import type { Size } from "./Sizes.ts"
import { takerFieldAt, takerFields } from "./TakerFields.ts"
import { stocksPath } from "./Words.ts"

/** The product whose sizes alone are offered. Without it those of the newest products are. */
export const productField = "product"

/** What the form offers. */
interface Surroundings {
  readonly sizes: ReadonlyArray<Size>
  readonly mechanisms: NamedMechanisms
  readonly timeZone: string
}

/** What a person reads where nothing can be added to a list of takers. */
export const nothingToAdd = "A mechanism can join until it opens. There is no other that has still to open."

export const returnsField = {
  label: "Cancelled orders",
  choices: [
    ["yes", "Their units are free again"],
    ["no", "Their units stay out"]
  ]
} as const

export const lowField = {
  label: "Low at",
  type: "number",
  min: 1,
  isOptional: true,
  hint: "Webhooks tell when so many units or fewer are not sold. Empty: never."
} as const

/** The screen with the form. It shows what was typed. */
export const newScreen = ({ sizes, mechanisms, timeZone }: Surroundings, { fields, problems }: Sent): Screen => {
  const form = new Form({ fields, ...(problems !== undefined && { problems }) })
  const action = stocksPath
  const button = "Make the stock"
  const parts = html`<section class="card">
      <h2>The stock</h2>
      <div class="columns">
        ${form.input("name", { label: "Name", hint: "For your team." })} ${form.input("lowAt", lowField)}
        ${form.select("returnsCancelled", { ...returnsField, value: "yes" })}
      </div>
      ${
        sizes.length === 0
          ? html`<p class="muted">
              No size is left that has no stock. <a href="/dashboard/catalogue">Add one in the catalogue</a>.
            </p>`
          : form.boxes(
              "variants",
              "Sizes",
              sizes.map(({ id, label }) => [id, label] as const),
              {
                hint: `With their units. The stock begins with the sum, and counts them from then on.${fields.has(productField) ? "" : " A size that is not here: begin at its product, in the catalogue."}`
              }
            )
      }
    </section>
    <section class="card">
      <h2>Who gets units, in this order</h2>
      ${takerFields(form, fields, {
        nameOf: (of) => mechanisms.get(of)?.label ?? "A mechanism that has opened",
        addable: [...mechanisms].map(([id, { label }]) => [id, label] as const),
        nothingToAdd,
        action,
        timeZone
      })}
    </section>`
  return {
    title: "New stock",
    status: problems === undefined ? 200 : 400,
    body: html`
      ${form.summary("Nothing was made yet. This needs another look:")}
      <form method="post" action="${action}" class="drop">
        ${formId()}
        ${fields.has(productField) && html`<input type="hidden" name="${productField}" value="${fields.get(productField)}" />`}
        <!-- Enter in a field makes the stock, and does not move takers. -->
        <button class="unseen" tabindex="-1" aria-hidden="true">${button}</button>
        ${parts}
        <button>${button}</button>
        <a class="button quiet" href="${stocksPath}">Cancel</a>
      </form>
    `
  }
}

/** The settings of a sent form. */
export const settingsIn = (fields: URLSearchParams) => ({
  name: textIn(fields, "name") ?? "",
  returnsCancelled: fields.get("returnsCancelled") !== "no",
  lowAt: numberIn(fields, "lowAt") ?? null
})

/** Returns the problems of a refusal at the fields of a form with a stock. */
export const stockProblems = (refusal: Pick<Refusal, "wrong" | "detail" | "code">): Problems =>
  refusal.code === "VARIANT_IN_STOCK"
    ? new Map([["variants", "Another stock has one of these sizes."]])
    : problemsOf(refusal, ([setting = "", ...below]) => {
        if (setting === "takers") return takerFieldAt(below) ?? "takers"
        return setting === "variantIds" ? "variants" : setting
      })
