/** A copy of a drop whose times move together. */
import type { Millis } from "../../../domain/values/Time.ts"
import { html, type Html } from "../../Html.ts"
import type { Drop } from "../drop/Drop.ts"
import { Form, type Sent } from "../form/Form.ts"
import { instantIn, numberIn, textIn, typedAt } from "../form/Typed.ts"
import { formId } from "../FormId.ts"

const week = 7 * 86_400_000

/** The next time in whole weeks after an instant at which the copy can open. */
const suggested = (openAt: Millis, now: Millis): Millis =>
  openAt + Math.max(1, Math.ceil((now + 86_400_000 - openAt) / week)) * week

export const copyForm = ({ experience, now }: Drop, path: string, sent: Sent | undefined): Html => {
  const form = new Form(sent, "copy-")
  const { openAt, timeZone, name } = experience
  const fields = html`
    ${form.input("name", { label: "Name of the copy", isOptional: true, placeholder: `${name} (copy)` })}
    ${
      openAt === null
        ? form.input("days", { label: "Days later", type: "number", min: -3_650, max: 3_650, value: 7 })
        : form.input("opens", {
            label: "The copy opens",
            type: "datetime-local",
            value: typedAt(suggested(openAt, now), timeZone),
            hint: `All its times move by as much. Clocks of ${timeZone}.`
          })
    }
  `
  return html`<section class="card">
    <h2>Make a copy</h2>
    <p class="muted">
      Settings, products and texts are copied, with new dates and without entries. Access codes are not: set new ones.
    </p>
    ${form.summary("Nothing was copied. This needs another look:")}
    <form method="post" action="${path}/copy">
      ${formId()}
      <div class="columns">${fields}</div>
      <button class="quiet">Make a copy</button>
    </form>
  </section>`
}

/** The shift of all times, or what is wrong with it, and the field that says it. */
type Shift = { readonly field: string } & ({ readonly seconds: unknown } | { readonly problem: string })

export const shiftIn = ({ experience: { openAt, timeZone } }: Drop, fields: URLSearchParams): Shift => {
  if (openAt === null) {
    const days = numberIn(fields, "days") ?? 0
    return { field: "days", seconds: typeof days === "number" ? days * 86_400 : days }
  }
  const found = instantIn(textIn(fields, "opens") ?? "", timeZone)
  return "at" in found
    ? { field: "opens", seconds: Math.round((found.at - openAt) / 1_000) }
    : { field: "opens", problem: found.problem }
}
