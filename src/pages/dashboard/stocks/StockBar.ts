/** A stock as one bar with what its parts mean, and a table of its mechanisms. */
import { html, type Html } from "../../Html.ts"
import type { NamedMechanisms } from "../NamedMechanisms.ts"
import { barPicture, count, type Share } from "../Parts.ts"
import { table } from "../Table.ts"
import { mechanismLink, ruleOf, type Stock } from "./Words.ts"

type Allocation = Stock["allocations"][number]

/** Returns the parts of a stock, which add up to the units on hand: how they are drawn and called. */
export const partsOf = ({ sold, free, underway, allocations }: Stock) => {
  const held = allocations.reduce((sum, one) => sum + one.held, 0)
  const allocated = allocations.reduce((sum, one) => sum + one.allocated, 0)
  return [
    { style: "ok", name: "sold", value: sold },
    { style: "main", name: "held by people who may buy", value: held },
    { style: "calm", name: "with mechanisms, not held", value: allocated - held },
    { style: "warn", name: "under way", value: underway },
    { style: "free", name: "free", value: free }
  ] as const
}

/** The bar with its legend. The units of each mechanism are side by side in it. */
export const stockBar = (stock: Stock): Html => {
  const { onHand, sold, free, underway, allocations } = stock
  const shares: ReadonlyArray<Share> = [
    { value: sold, style: "ok" },
    ...allocations.flatMap(({ held, allocated }): ReadonlyArray<Share> => [
      { value: held, style: "main" },
      { value: allocated - held, style: "calm" }
    ]),
    { value: underway, style: "warn" },
    { value: free, style: "free" }
  ]
  const parts = partsOf(stock)
  const says = parts.map(({ name, value }) => `${count(value)} ${name}`).join(", ")
  return html`<div class="bar">
      ${barPicture(
        shares.filter(({ value }) => value > 0),
        onHand,
        `Of ${count(onHand)} units: ${says}`
      )}
    </div>
    <ul class="legend">
      ${parts.map(
        ({ style, name, value }) => html`<li><i class="${style}"></i><strong>${count(value)}</strong> ${name}</li>`
      )}
    </ul>`
}

interface Row {
  readonly at: number
  readonly one: Allocation
}

/** The mechanisms of a stock in the order of its takers. */
export const allocationTable = ({ name, allocations, takers }: Stock, names: NamedMechanisms): Html => {
  const ruleFor = (id: string) => ruleOf(takers.find(({ distributionId }) => distributionId === id))
  return table<Row>(
    `Who gets units of ${name}, in this order`,
    allocations.map((one, at) => ({ at, one })),
    [
      {
        title: "Mechanism",
        cell: ({ at, one }) => {
          const named = names.get(one.distributionId)
          return html`${at + 1}. ${named === undefined ? "An archived mechanism" : mechanismLink(named)}`
        }
      },
      { title: "Gets", cell: ({ one }) => ruleFor(one.distributionId) },
      { title: "Has", cell: ({ one }) => count(one.allocated) },
      { title: "Held", cell: ({ one }) => count(one.held) },
      { title: "Sold", cell: ({ one }) => count(one.sold) }
    ],
    "No mechanism sells from it yet. Orders without one take its free units."
  )
}
