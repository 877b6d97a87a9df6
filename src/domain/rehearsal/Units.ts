/** Findings about units, stock and products. */
import { declarations, grantsOnEntry } from "../mechanism/Mechanism.ts"
import {
  type CheckedDrop,
  type CheckedMechanism,
  type CheckedProduct,
  mechanismsOf,
  number,
  quoted
} from "./CheckedDrop.ts"
import { error, type Finding, warning } from "./Finding.ts"

export const unitFindings = (drop: CheckedDrop): ReadonlyArray<Finding> => [
  ...productFindings(drop),
  ...wayFindings(drop),
  ...stockFindings(drop),
  ...takerFindings(drop),
  ...assignmentFindings(drop)
]

/** Returns the units that a mechanism gives away; undefined if it has no such number. */
export const unitsOf = ({ kind, settings }: CheckedMechanism): number | undefined =>
  settings.maxAdmissions ??
  settings.winnerCount ??
  settings.quantity ??
  (grantsOnEntry(kind) ? settings.capacity : undefined)

/** A product whose variants may be counted. */
interface Counted {
  readonly variants: ReadonlyArray<Pick<CheckedProduct["variants"][number], "inventoryQuantity" | "inventoryPolicy">>
}

/** Returns the counted units of all offered variants; undefined if more can be sold than are counted. */
export const stockOf = (products: ReadonlyArray<Counted>): number | undefined => {
  const variants = products.flatMap(({ variants }) => variants)
  if (variants.length === 0 || variants.some(({ inventoryPolicy }) => inventoryPolicy !== "deny")) return undefined
  return variants.reduce((sum, { inventoryQuantity }) => sum + Math.max(0, inventoryQuantity ?? 0), 0)
}

const productFindings = (drop: CheckedDrop): ReadonlyArray<Finding> => {
  const { experience, products } = drop
  if (products.length === 0 && mechanismsOf(drop).some((one) => unitsOf(one) !== undefined)) {
    const message = "The drop gives away units, but offers no product."
    return [error("NO_PRODUCT", message, { record: "experience", id: experience.id, field: "products" })]
  }
  const isAuctioned = mechanismsOf(drop).some(({ settings }) => settings.auctionType !== undefined)
  return products.flatMap(({ productId: id, name, variants }) => {
    const at = { record: "product", id } as const
    const nameOf = (sku: string | null) => (sku === null ? quoted(name) : `${quoted(name)}, ${sku}`)
    const soldOut = variants.filter((one) => one.inventoryPolicy === "deny" && (one.inventoryQuantity ?? 0) <= 0)
    const priceless = isAuctioned ? [] : variants.filter(({ price }) => price === null)
    return [
      ...soldOut.map(({ sku }) =>
        error("VARIANT_SOLD_OUT", `${nameOf(sku)} has no unit in stock.`, { ...at, field: "inventoryQuantity" })
      ),
      ...priceless.map(({ sku }) =>
        warning("VARIANT_WITHOUT_PRICE", `${nameOf(sku)} has no price.`, { ...at, field: "price" })
      )
    ]
  })
}

/** Whether people continue in a shop. The gate of a site leads its visitors back by itself. */
const leadsToShop = ({ kind, settings }: CheckedMechanism): boolean =>
  declarations[kind].grants.length > 0 &&
  settings.slotsFrom === undefined &&
  settings.admissionRenewal === undefined &&
  settings.standby !== true

const wayFindings = (drop: CheckedDrop): ReadonlyArray<Finding> => {
  const { products } = drop
  const [first] = products
  const leading = mechanismsOf(drop).filter(leadsToShop)
  if (first === undefined || leading.length === 0 || products.some(({ url }) => isWebAddress(url))) return []
  const names = leading.map(({ settings }) => quoted(settings.name)).join(", ")
  const message = `No product has a page in your shop, so at their turn in ${names} people find no way to your shop while their time runs.`
  return [warning("NO_WAY_TO_SHOP", message, { record: "product", id: first.productId, field: "url" })]
}

/** True for an address to which a room can lead. */
const isWebAddress = (url: string | null): boolean =>
  url !== null && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)

const stockFindings = (drop: CheckedDrop): ReadonlyArray<Finding> => {
  const stock = stockOf(drop.products)
  // A mechanism of a stock gives away what the stock sends it; its own number is a maximum.
  const giving = mechanismsOf(drop).filter(
    (mechanism) => unitsOf(mechanism) !== undefined && mechanism.settings.stockId === undefined
  )
  const units = giving.reduce((sum, mechanism) => sum + unitsOf(mechanism)!, 0)
  if (stock === undefined || units <= stock) return []
  const names = giving.map(({ settings }) => quoted(settings.name)).join(", ")
  const message = `${names}: ${number(units)} units are given away, but only ${number(stock)} are in stock.`
  const { id } = giving[0]!
  return [error("MORE_UNITS_THAN_STOCK", message, { record: "distribution", id })]
}

const takerFindings = (drop: CheckedDrop): ReadonlyArray<Finding> =>
  drop.stocks.flatMap(({ id: stockId, name, onHand, takers }) => {
    const selling = mechanismsOf(drop).filter(({ settings }) => settings.stockId === stockId)
    const unlisted = selling.filter(({ id }) => !takers.some(({ distributionId }) => distributionId === id))
    const shares = takers.reduce((sum, { units = 0 }) => sum + units, 0)
    const at = { record: "distribution", field: "stockId" } as const
    return [
      ...unlisted.map(({ id, settings }) =>
        error("NO_TAKER", `${quoted(settings.name)} gets no unit: ${quoted(name)} does not list it.`, { ...at, id })
      ),
      ...(shares > onHand && selling[0] !== undefined
        ? [
            error(
              "SHARES_ABOVE_STOCK",
              `The fixed shares of ${quoted(name)} are ${number(shares)} units, but it has only ${number(onHand)}.`,
              { ...at, id: selling[0].id }
            )
          ]
        : [])
    ]
  })

const assignmentFindings = ({ sequences, products }: CheckedDrop): ReadonlyArray<Finding> => {
  const offered = new Set(products.map(({ productId }) => productId))
  return sequences.flatMap(({ id, name, productSelectionMode, sequenceProducts }) => {
    const at = { record: "sequence", id, field: "sequenceProducts" } as const
    if (productSelectionMode !== "SYSTEM_ASSIGNED") return []
    if (sequenceProducts.every(({ weight }) => weight === 0)) {
      const message = `${quoted(name)} assigns a product to each consumer, but has no product to assign.`
      return [error("NOTHING_TO_ASSIGN", message, at)]
    }
    const missing = sequenceProducts.filter(({ productId }) => !offered.has(productId))
    if (missing.length === 0) return []
    const message = `${quoted(name)} assigns ${missing.length} of its products although the drop does not offer them.`
    return [error("ASSIGNED_NOT_OFFERED", message, at)]
  })
}
