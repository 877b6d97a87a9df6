/** A mechanism that is added to a drop: the questions of a part of a new drop, in a form of its own. */
import { isOffered } from "../../../domain/experience/ExperienceProduct.ts"
import { stockOf } from "../../../domain/rehearsal/Units.ts"
import { type Millis, toText } from "../../../domain/values/Time.ts"
import { html, type Html } from "../../Html.ts"
import type { Drop } from "../drop/Drop.ts"
import { Form, type Sent } from "../form/Form.ts"
import { instantIn, textIn } from "../form/Typed.ts"
import { formId } from "../FormId.ts"
import { Answers } from "../newDrop/Answers.ts"
import { askField, commonAsks, guestsField, siteFields, type Surroundings } from "../newDrop/NewDropForm.ts"
import { askOf, type Part, parts } from "../newDrop/Parts.ts"

/** Returns the part that an address or a form names. */
export const partIn = (fields: URLSearchParams): Part | undefined =>
  parts.find(({ name }) => name === fields.get("part"))

/** The parts that can be added. */
export const addLinks = (path: string): Html =>
  html`<section class="card">
    <h2>Add to this drop</h2>
    <p class="muted">Another way to take part, beside what is there.</p>
    <ul class="plain">
      ${parts.map(
        ({ name, title, use }) =>
          html`<li><a href="${path}/add?part=${name}">Add: ${title}</a> <span class="hint">${use}</span></li>`
      )}
    </ul>
  </section>`

/** The form of a part. */
export const addForm = (
  { experience, now }: Drop,
  { path, stocks }: { readonly path: string; readonly stocks: Surroundings["stocks"] },
  part: Part,
  sent: Sent | undefined
): Html => {
  const form = new Form(sent, "add-")
  const { sequences, timeZone, name } = experience
  const around = { now, timeZone, stocks }
  const fields = html`
    ${form.input("name", { label: "Name", value: name, hint: "Consumers read it as it is, in every language." })}
    ${sequences.length > 1 && form.select("sequence", { label: "For", choices: sequences.map((one) => [one.id, one.name] as const) })}
    ${form.input("opens", {
      label: "Opens",
      type: "datetime-local",
      isOptional: true,
      hint: `Empty: at once. Clocks of ${timeZone}.`
    })}
    ${commonAsks(part, around).map((ask) => askField(form, part, ask, { ...around, stock: stockIn(experience) }))}
    ${guestsField(form, [part])}
  `
  return html`<section class="card">
    <h2>Add: ${part.title}</h2>
    <p class="muted">${part.use}</p>
    ${form.summary("Nothing was added. This needs another look:")}
    <form method="post" action="${path}/add">
      ${formId()}<input type="hidden" name="part" value="${part.name}" />
      ${sequences.length === 1 && html`<input type="hidden" name="sequence" value="${sequences[0]!.id}" />`}
      <div class="columns">${fields}</div>
      ${siteFields(form, part, around)}
      <button>Add</button>
      <a class="button quiet" href="${path}">Cancel</a>
    </form>
  </section>`
}

/** The counted units of what the drop offers; undefined if none are there to be given. */
const stockIn = ({ products }: Drop["experience"]): number | undefined => {
  const offered = [...new Map(products.map(({ product }) => [product.id, product])).values()]
  const stock = stockOf(
    offered.map(({ variants }) => ({ variants: variants.filter((one) => isOffered(products, one)) }))
  )
  return stock === 0 ? undefined : stock
}

/** The settings of a sent form, and what is wrong with it. */
export const addedIn = (part: Part, fields: URLSearchParams, timeZone: string, now: Millis) => {
  const problems = new Map<string, string>()
  const text = textIn(fields, "opens")
  const opens = text === undefined ? { at: undefined } : instantIn(text, timeZone)
  if ("problem" in opens) problems.set("opens", opens.problem)
  const openAt = "at" in opens ? opens.at : undefined
  const answers = new Answers(fields, { prefix: part.name, timeZone }, problems)
  const { settings } = part.make(answers, { openAt, start: openAt ?? now })
  const opening = openAt === undefined ? {} : { openAt: toText(openAt) }
  const name = textIn(fields, "name") ?? ""
  return { problems, settings: { name, ...opening, ...settings, supportsGuest: fields.get("guests") !== "no" } }
}

/** Makes the function that returns the field of a setting. */
export const fieldIn =
  (part: Part) =>
  ([setting = "", under]: ReadonlyArray<string>): string => {
    const own = { openAt: "opens", sequenceId: "sequence" }[setting]
    const ask = askOf(part, setting, under)
    return own ?? (ask === undefined ? setting : `${part.name}.${ask.name}`)
  }
