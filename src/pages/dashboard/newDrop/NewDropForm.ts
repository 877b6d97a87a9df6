/** The form of a new drop: its name, its product, when it opens, each part, and who may enter. */
import type { AdminAnswer } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { Form, type Sent } from "../form/Form.ts"
import { stockOf } from "../../../domain/rehearsal/Units.ts"
import { timeZones, typedAt, units } from "../form/Typed.ts"
import { formId } from "../FormId.ts"
import type { Screen } from "../Frame.ts"
import { weekdays } from "./Answers.ts"
import type { Ask } from "./Ask.ts"
import { atOnce, everybody, isBefore, withCode } from "./Body.ts"
import type { Part } from "./Parts.ts"
import { productFields } from "./ProductPart.ts"
import { textFields } from "./Texts.ts"

/** What a form offers to choose from, and what it begins with. */
export interface Surroundings {
  readonly products: AdminAnswer<"products", "listProducts">["data"]
  readonly audiences: AdminAnswer<"audiences", "listAudiences">["data"]
  readonly stocks: ReadonlyArray<{ readonly id: string; readonly name: string }>
  readonly timeZone: string
  readonly currencyCode: string
  readonly now: Millis
}

/** Sent along by a drop whose units are shared out on the screen after it. */
export const thenField = "then"
export const thenStock = "stock"

/** The form for these parts. Without any, its mechanisms are made on the next screen, from one stock. */
export const formScreen = (
  chosen: ReadonlyArray<Part>,
  { preview, ...around }: Surroundings & { readonly preview: Html },
  sent?: Sent
): Screen => {
  const form = new Form(sent)
  const fields = html`
    ${dropFields(form, around)} ${productFields(form, around.products, sent?.fields)}
    ${chosen.map((part) => partFields(form, part, chosen, around))} ${accessFields(form, around, chosen)}
    ${textFields(form, chosen)}
  `
  const isShared = chosen.length === 0
  const button = isShared ? "Create the drop, and go on" : "Create the drop"
  return {
    title: "New drop",
    status: sent?.problems === undefined ? 200 : 400,
    body: html`
      ${form.summary("Nothing was created yet. This needs another look:")}
      <p class="muted">
        ${isShared ? "Several mechanisms, one stock" : titleOf(chosen)} ·
        <a href="/dashboard/new">Choose something else</a>
      </p>
      <form
        method="post"
        action="/dashboard/new"
        enctype="multipart/form-data"
        class="drop"
        data-stocks="${JSON.stringify(stocksOf(around.products))}"
      >
        <input type="hidden" name="part" value="${chosen.map(({ name }) => name).join(",")}" />${formId()}
        ${isShared && html`<input type="hidden" name="${thenField}" value="${thenStock}" />`}
        <!-- Enter in a field creates the drop, and does not add sizes. -->
        <button class="unseen" tabindex="-1" aria-hidden="true">${button}</button>
        ${fields}
        <section class="card">
          <h2>Preview</h2>
          <div data-preview>${preview}</div>
        </section>
        <button>${button}</button>
        <a class="button quiet" href="/dashboard">Cancel</a>
      </form>
    `
  }
}

/** The units of each product whose stock is counted, for the script, which keeps the units of the drop equal to it. */
const stocksOf = (products: Surroundings["products"]): { readonly [productId: string]: number } =>
  Object.fromEntries(
    products.flatMap((product) => {
      const stock = stockOf([product])
      return stock === undefined ? [] : [[product.id, stock]]
    })
  )

const titleOf = (chosen: ReadonlyArray<Part>): string => chosen.map(({ title }) => title).join(", then ")

const day = 86_400_000
const hour = 3_600_000

/** Tomorrow, at a full hour. */
const suggested = ({ now, timeZone }: Surroundings): string => typedAt(Math.ceil(now / hour) * hour + day, timeZone)

const dropFields = (form: Form, around: Surroundings): Html => {
  const { timeZone, currencyCode } = around
  return html`<section class="card">
    <h2>The drop</h2>
    ${form.input("name", { label: "Name", hint: "Consumers read it above the room." })}
    <div class="columns">
      ${form.select("when", {
        label: "Opening",
        value: "at",
        choices: [
          ["at", "At this date and time"],
          [atOnce, "At once"]
        ]
      })}
      ${form.input("opens", {
        label: "Opens",
        type: "datetime-local",
        value: suggested(around),
        isOptional: true,
        hint: "In this time zone."
      })}
      ${form.select("timeZone", {
        label: "Time zone",
        value: timeZone,
        choices: timeZones(timeZone),
        hint: "Visitors elsewhere also see their own time."
      })}
      ${form.input("currency", { label: "Currency", value: currencyCode, placeholder: "EUR", hint: "Three letters, such as EUR." })}
    </div>
  </section>`
}

const partFields = (form: Form, part: Part, chosen: ReadonlyArray<Part>, around: Surroundings): Html => {
  const first = chosen.find((one) => !isBefore(one))
  const isLater = !isBefore(part) && part !== first
  return html`<section class="card">
    <h2>${part.title}</h2>
    <p class="muted">${isLater ? part.after : part.use}</p>
    <div class="columns">
      ${
        isLater &&
        form.input(`${part.name}.opens`, {
          label: "Opens",
          type: "datetime-local",
          isOptional: true,
          hint: "Empty: when the part before it is over and its winners have had their time, else with the drop."
        })
      }
      ${chosen.length > 1 && form.input(`${part.name}.name`, { label: "Name", isOptional: true, hint: "Consumers read it. Empty: the name of the drop." })}
      ${commonAsks(part, around).map((ask) => askField(form, part, ask, around))}
    </div>
    ${siteFields(form, part, around)}
  </section>`
}

type PartSurroundings = Pick<Surroundings, "now" | "timeZone" | "stocks">

/** The questions that every drop with the part has to answer. */
export const commonAsks = ({ asks }: Part, { stocks }: Pick<Surroundings, "stocks">): ReadonlyArray<Ask> =>
  asks.filter(({ isOfSite, isOfStock }) => isOfSite !== true && (isOfStock !== true || stocks.length > 0))

/** The others, closed until a person needs them or something in them is wrong. */
export const siteFields = (form: Form, part: Part, around: PartSurroundings): Html | false => {
  const asks = part.asks.filter(({ isOfSite }) => isOfSite === true)
  const isOpen = asks.some(({ name, value = "" }) => form.valueOf(`${part.name}.${name}`, value) !== `${value}`)
  return (
    asks.length > 0 &&
    html`<details ${isOpen && html`open`}>
      <summary>In front of a site, with a gate</summary>
      <div class="columns">${asks.map((ask) => askField(form, part, ask, around))}</div>
    </details>`
  )
}

/** What the field of a question begins with. `stock` is that of the drop, undefined if it is not counted. */
interface Around extends PartSurroundings {
  readonly stock?: number | undefined
}

/** The field of a question. */
export const askField = (form: Form, part: Part, ask: Ask, around: Around): Html => {
  const name = `${part.name}.${ask.name}`
  const { label, hint, isOptional = false, areSoldUnits = false } = ask
  const value = (areSoldUnits ? around.stock : undefined) ?? ask.value
  const shared = { label, value, isOptional, ...(hint !== undefined && { hint }) }
  const { min = 0, max = 1_000_000_000 } = ask
  switch (ask.type) {
    case "number":
      return form.input(name, { ...shared, type: "number", min, max, ...(areSoldUnits && { marks: html`data-units` }) })
    case "minutes":
      return form.input(name, { ...shared, type: "number", min, max, isFraction: true })
    case "choice":
      return form.select(name, { ...shared, choices: ask.choices ?? [] })
    case "stock":
      return form.select(name, {
        ...shared,
        choices: [["", "Its own units"], ...around.stocks.map(({ id, name: called }) => [id, called] as const)]
      })
    case "amount":
      return form.input(name, { ...shared, placeholder: "129.00" })
    case "date":
      return form.input(name, {
        ...shared,
        type: "date",
        value: typedAt(around.now + day, around.timeZone).slice(0, 10)
      })
    case "time":
      return form.input(name, { ...shared, type: "time" })
    case "days":
      return form.boxes(name, label, weekdays, { ticked: weekdays.slice(0, 6).map(([one]) => one) })
    case "span":
      return form.input(name, {
        ...shared,
        type: "number",
        min,
        max,
        after: html`<select name="${name}.unit" aria-label="Unit of: ${label}">
          ${units.map(([minutes, unit]) => html`<option value="${minutes}" ${form.valueOf(`${name}.unit`, "1") === minutes && html`selected`}>${unit}</option>`)}
        </select>`
      })
  }
}

/** Whether the mechanisms that a form makes are open to guests. */
export const guestsField = (form: Form, chosen: ReadonlyArray<Part>): Html =>
  form.select("guests", {
    label: "Sign-in",
    value: chosen.some(({ wantsSignIn }) => wantsSignIn === true) ? "no" : "yes",
    choices: [
      ["yes", "Not needed: guests may enter"],
      ["no", "Needed: an email address or a phone number"]
    ]
  })

const accessFields = (form: Form, { audiences }: Surroundings, chosen: ReadonlyArray<Part>): Html =>
  html`<section class="card">
    <h2>Who may enter</h2>
    <div class="columns">
      ${form.select("who", {
        label: "For",
        value: everybody,
        choices: [
          [everybody, "Everybody"],
          [withCode, "People with an access code"],
          ...audiences.map(({ id, name }) => [id, `Members of ${name}`] as const)
        ]
      })}
      ${form.input("code", {
        label: "Access code",
        isOptional: true,
        autocomplete: "off",
        hint: "At least 6 characters. It is stored as a hash and never shown again."
      })}
      ${chosen.length > 0 && guestsField(form, chosen)}
      ${form.input("perPerson", {
        label: "Orders per person",
        type: "number",
        min: 1,
        isOptional: true,
        hint: "Who has ordered as often cannot enter again. Empty: no limit."
      })}
    </div>
  </section>`
