/**
 * The form "Sell from one stock" of a drop: the stock with its sizes, and who gets its units in what order. Mechanisms of
 * the drop that have not opened can join, and others are made from their rows.
 */
import type { Millis } from "../../../domain/values/Time.ts"
import { html, type Html } from "../../Html.ts"
import type { Drop, Mechanism } from "../drop/Drop.ts"
import type { TabBody } from "../drop/Tab.ts"
import { type Choice, Form, type Sent } from "../form/Form.ts"
import { formId } from "../FormId.ts"
import { askField, guestsField } from "../newDrop/NewDropForm.ts"
import { draw, type Part, parts, queue, release, waitlist } from "../newDrop/Parts.ts"
import { canNameStock, stockIdOf } from "../stocks/Naming.ts"
import type { Size } from "../stocks/Sizes.ts"
import { startTakers, takerFields, takersIn, writeTakers } from "../stocks/TakerFields.ts"
import type { Stock } from "../stocks/Words.ts"
import { tabPath } from "./Sequences.ts"

/** The parts that the form can make, in the order in which units usually go. */
const madeHere = [draw, queue, release, waitlist]
const madeAtFirst: ReadonlySet<Part> = new Set([draw, queue, waitlist])

/** Units of the draw that a new form begins with. */
const drawnAtFirst = "100"

/** The value of the choice for a stock that is made. */
export const newStock = "new"

const path = `${tabPath}/stock`

/** The address of the form of a drop. `opens` is when its first mechanism opens, as the clocks of the drop show it. */
export const sharingPath = (dropPath: string, opens?: string): string =>
  `${dropPath}${path}${opens === undefined ? "" : `?${new URLSearchParams({ opens })}`}`

/** The way to the form, on the schedule of a drop. */
export const sharingLink = (schedulePath: string): Html =>
  html`<section class="card">
    <h2>Sell from one stock</h2>
    <p class="muted">
      Say once how many units there are and who gets them in what order, such as a draw for 100, a queue for the rest,
      and a waitlist for what falls back. What one does not sell goes to the next.
    </p>
    <p><a class="button quiet" href="${schedulePath}/stock">Sell from one stock</a></p>
  </section>`

/** The row of a mechanism that is made. */
const rowOf = ({ name }: Part): string => `new:${name}`

/** Returns the part that is made from a row; undefined for a mechanism that is there. */
export const partOf = (of: string): Part | undefined => parts.find((part) => rowOf(part) === of)

/** The mechanisms of a drop that can be in the list: those that have still to open, and those of its stock. */
export const joining = ({ mechanisms }: Drop): ReadonlyArray<Mechanism> =>
  mechanisms.filter((one) => canNameStock(one) || (stockIdOf(one) !== undefined && one.lifecycle !== "closed"))

/** The parts that can be made. A drop has one waitlist. */
const makeable = ({ mechanisms }: Drop): ReadonlyArray<Part> =>
  madeHere.filter((part) => part !== waitlist || !mechanisms.some(({ type }) => type === waitlist.kind))

/** What a new form begins with. */
interface First {
  /** When the first mechanism opens, as a person has typed it; empty: at once. */
  readonly opens: string
  /** The sizes that the drop offers. */
  readonly sizes: ReadonlyArray<Size>
  /** The stock from which the drop sells already. */
  readonly stock: Stock | undefined
}

/**
 * The fields of a new form: what sells from the stock already; or what is there, and of draw, queue and waitlist what is
 * missing.
 */
export const firstFields = (drop: Drop, { opens, sizes, stock }: First): URLSearchParams => {
  const fields = new URLSearchParams({ opens, name: drop.experience.name, stock: stock?.id ?? newStock })
  for (const { id } of sizes) fields.append("variants", id)
  const there = joining(drop)
  if (stock !== undefined) {
    const own = stock.takers.filter(({ distributionId }) => there.some(({ id }) => id === distributionId))
    writeTakers(fields, own, drop.experience.timeZone)
    return fields
  }
  const missing = makeable(drop).filter(
    (part) => madeAtFirst.has(part) && !there.some(({ type }) => type === part.kind)
  )
  const rows = [
    ...there.map((one) => ({
      of: one.id,
      type: one.type,
      units: one.type === "draw" ? `${one.winnerCount}` : ""
    })),
    ...missing.map((part) => ({ of: rowOf(part), type: part.kind, units: drawnAtFirst }))
  ].toSorted((one, other) => rankOf(one.type) - rankOf(other.type))
  startTakers(
    fields,
    rows.map(({ of, type, units }) => (type === "draw" ? { of, rule: "units", units } : { of, rule: "rest" }))
  )
  return fields
}

/** A draw has a fixed share and comes first. A waitlist gets what falls back, and comes last. */
const rankOf = (type: Mechanism["type"]): number => (type === "draw" ? 0 : type === "waitlist" ? 2 : 1)

/** What the form offers. */
interface Surroundings {
  readonly sizes: ReadonlyArray<Size>
  readonly stocks: ReadonlyArray<{ readonly id: string; readonly name: string }>
}

/** The screen of the form. It shows what was typed. */
export const sharingScreen = (drop: Drop, around: Surroundings, { fields, problems }: Sent): TabBody => {
  const { path: dropPath, experience } = drop
  const form = new Form({ fields, ...(problems !== undefined && { problems }) }, "share-")
  const action = `${dropPath}${path}`
  const button = "Share the units out"
  const made = takersIn(fields, experience.timeZone).takers.flatMap(({ of }) => partOf(of) ?? [])
  const body = html`${stockFields(form, around)} ${takersOf(drop, form, fields, action)}
  ${made.length > 0 && madeFields(drop, form, made)}`
  return {
    status: problems === undefined ? 200 : 400,
    body: html`
      ${form.summary("Not everything is done yet. This needs another look:")}
      <form method="post" action="${action}" class="drop">
        ${formId()}
        <!-- Enter in a field shares the units out, and does not move takers. -->
        <button class="unseen" tabindex="-1" aria-hidden="true">${button}</button>
        ${body}
        <button>${button}</button>
        <a class="button quiet" href="${dropPath}${tabPath}">Cancel</a>
      </form>
    `
  }
}

const stockFields = (form: Form, { sizes, stocks }: Surroundings): Html => {
  const known = stocks.map(({ id, name }): Choice => [id, name])
  return html`<section class="card">
    <h2>The stock</h2>
    <div class="columns">
      ${
        known.length > 0
          ? form.select("stock", { label: "Stock", choices: [[newStock, "A new one, from the fields here"], ...known] })
          : html`<input type="hidden" name="stock" value="${newStock}" />`
      }
      ${form.input("name", { label: "Name", isOptional: true, hint: "Of a new stock, for your team." })}
      ${form.input("units", {
        label: "Units on hand",
        type: "number",
        isOptional: true,
        hint: "All that there are to sell. Empty: as the catalogue and the stock count them."
      })}
    </div>
    ${
      sizes.length === 0
        ? html`<p class="muted">
            No size is left that has no stock. <a href="/dashboard/catalogue">Add one in the catalogue</a>, or choose a
            stock.
          </p>`
        : form.boxes(
            "variants",
            "Sizes of a new stock",
            sizes.map(({ id, label }) => [id, label] as const),
            { hint: "With their units. They are sold as one, and counted in the stock from then on." }
          )
    }
  </section>`
}

const takersOf = (drop: Drop, form: Form, fields: URLSearchParams, action: string): Html => {
  const { experience } = drop
  const there = joining(drop)
  const nameOf = (of: string) => {
    const part = partOf(of)
    const mechanism = drop.mechanisms.find(({ id }) => id === of)
    return part === undefined ? (mechanism?.name ?? "A mechanism that has opened") : `A new ${part.title.toLowerCase()}`
  }
  const apart = drop.mechanisms.filter((one) => !there.includes(one) && one.lifecycle !== "closed")
  return html`<section class="card">
    <h2>Who gets units, in this order</h2>
    <p class="muted">
      A fixed share is kept for it while it is open. Free units go to the first that is open and in which people wait.
    </p>
    ${takerFields(form, fields, {
      nameOf,
      addable: [
        ...there.map(({ id, name }): Choice => [id, name]),
        ...makeable(drop).map((part): Choice => [rowOf(part), `A new ${part.title.toLowerCase()}`])
      ],
      nothingToAdd: "Everything that can join is in the list.",
      emptyFrom: "Empty: from the beginning, and a waitlist when the one before it is over.",
      action,
      timeZone: experience.timeZone,
      more: (of) => moreOf(drop, form, of)
    })}
    ${
      apart.length > 0 &&
      html`<p class="hint">
        ${apart.map(({ name }) => name).join(", ")}: with units of its own, because it has opened or sells none.
      </p>`
    }
  </section>`
}

/** The questions of a mechanism that is made. Its units follow from its share. */
const moreOf = ({ experience: { timeZone }, now }: Drop, form: Form, of: string): Html | false => {
  const part = partOf(of)
  if (part === undefined) return false
  const around = { now, timeZone, stocks: [] }
  const asks = part.asks.filter(({ name, isOfSite }) => isOfSite !== true && name !== "units" && name !== "stock")
  return html`<div class="columns">
    ${form.input(`${part.name}.name`, { label: `Name of the ${part.title.toLowerCase()}`, isOptional: true, placeholder: part.title, hint: "Consumers read it." })}
    ${
      part.kind !== "waitlist" &&
      form.input(`${part.name}.opens`, {
        label: `The ${part.title.toLowerCase()} opens`,
        type: "datetime-local",
        isOptional: true,
        hint: `Empty: when the one before it is over, else as below. Clocks of ${timeZone}.`
      })
    }
    ${asks.map((ask) => askField(form, part, ask, around))}
  </div>`
}

const madeFields = ({ experience: { sequences, timeZone } }: Drop, form: Form, made: ReadonlyArray<Part>): Html =>
  html`<section class="card">
    <h2>What is made</h2>
    <div class="columns">
      ${form.input("opens", {
        label: "Opens",
        type: "datetime-local",
        isOptional: true,
        hint: `The first that is made. Empty: at once. Clocks of ${timeZone}.`
      })}
      ${guestsField(form, made)}
      ${
        sequences.length > 1
          ? form.select("sequence", { label: "For", choices: sequences.map((one) => [one.id, one.name] as const) })
          : sequences.length === 1 && html`<input type="hidden" name="sequence" value="${sequences[0]!.id}" />`
      }
    </div>
  </section>`

/** When the turn of one begins that gets what falls back: when this one is over, or an hour after it opens. */
export const afterwards = (
  { openAt, closeAt }: { readonly openAt: Millis | null | undefined; readonly closeAt: Millis | null | undefined },
  now: Millis
): Millis => closeAt ?? (openAt ?? now) + 3_600_000
