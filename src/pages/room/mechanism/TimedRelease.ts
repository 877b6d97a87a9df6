/** A timed release in a room. */
import type { AnswerOf } from "../../Calls.ts"
import { html, type Html } from "../../Html.ts"
import { closed, closing, ended, enter, type Piece, scheduled, turn } from "./Parts.ts"
import { type Experience, form, heading, say, type Scene } from "../Scene.ts"

export type ReleaseRecord = AnswerOf<"timedReleases", "get">
type State = AnswerOf<"timedReleases", "status">

/** Variants in a list. */
const variantsMax = 200

/** Shows the release to a visitor; without a state to one that has not entered. */
export const releasePiece = (scene: Scene, record: ReleaseRecord, state: State = { status: "NOT_ENTERED" }): Piece => ({
  status: state.status,
  html: shown(scene, record, state),
  isLive: state.status === "ENTERED",
  hasFields: (state.status === "NOT_ENTERED" || state.status === "ENTERED") && variantsOf(scene, record).length > 1
})

const shown = (scene: Scene, record: ReleaseRecord, state: State): Html => {
  const again = record.lifecycle === "open" && enter(scene, record, say(scene, "again"), choice(scene, record))
  switch (state.status) {
    case "NOT_ENTERED":
      return outside(scene, record)
    case "ENTERED":
      return turn(scene, say(scene, "granted"), state, selected(scene, record, state.selectedVariantId))
    case "COMPLETED":
      return ended(scene, { title: "completed", again: record.grantsPerConsumer !== null && again })
    case "LEFT":
      return ended(scene, { title: "leftTitle", again })
    case "DENIED":
      return ended(scene, { title: "denied", reason: "reasonAdmin" })
    case "EXPIRED":
      return ended(scene, { title: "expired", reason: "reasonExpired", again })
  }
}

const outside = (scene: Scene, record: ReleaseRecord): Html => {
  if (record.lifecycle === "scheduled") return scheduled(scene, record, say(scene, "saleRule"))
  if (record.lifecycle !== "open") return closed(scene, record)
  return html`${heading(record.name)}
    <p>${say(scene, "saleRule")}</p>
    ${enter(scene, record, say(scene, "enterSale"), choice(scene, record))}${closing(scene, record)}`
}

/** The visitor's selection, with forms to change it and to give it up. */
const selected = (scene: Scene, record: ReleaseRecord, variantId: string | undefined): Html => {
  const variants = variantsOf(scene, record)
  const name = variants.find(({ id }) => id === variantId)?.name
  return html`${name !== undefined && html`<p>${say(scene, "chosen", { name })}</p>`}${
    variants.length > 1 &&
    form(scene, "enter", {
      at: record.id,
      label: say(scene, "change"),
      fields: choice(scene, record, variantId),
      isQuiet: true,
      id: `change-${record.id}`
    })
  }${form(scene, "leave", { at: record.id, label: say(scene, "giveUp"), isQuiet: true, id: `leave-${record.id}` })}`
}

/** A list to choose a variant from, if there are several. */
const choice = (scene: Scene, record: ReleaseRecord, chosen?: string): Html | undefined => {
  const variants = variantsOf(scene, record)
  if (variants.length < 2) return undefined
  return html`<label
    >${say(scene, "choose")}
    <select name="variant">
      ${variants.map(({ id, name }) => html`<option value="${id}" ${id === chosen && html` selected`}>${name}</option>`)}
    </select></label
  >`
}

const variantsOf = ({ experience }: Scene, { variantIds }: ReleaseRecord) =>
  experience.products
    .flatMap(offered)
    .filter(({ id }) => variantIds === null || variantIds.includes(id))
    .slice(0, variantsMax)

/** The variants that an experience offers of a product, by the values of their options. */
const offered = ({ product, productVariantId }: Experience["products"][number]) =>
  product.variants
    .filter(({ id }) => productVariantId === null || productVariantId === id)
    .map(({ id, options, sku }) => {
      const values = options.map(({ value }) => value).join(" / ")
      return { id, name: `${product.name}${values === "" ? (sku === null ? "" : ` ${sku}`) : ` – ${values}`}` }
    })
