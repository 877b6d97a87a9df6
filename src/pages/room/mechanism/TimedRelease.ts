/** A timed release in a room. */
import { isolated } from "../../../domain/values/Direction.ts"
import type { ConsumerAnswer } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import {
  barred,
  closed,
  closing,
  ended,
  enter,
  type GrantLimit,
  orGrantLimit,
  type LiveFacts,
  sampleGrant,
  scheduled,
  stepsOfTurn,
  turn,
  wayOut
} from "./Parts.ts"
import type { RoomKind } from "./RoomKind.ts"
import { type Experience, form, nameHeading, say, type Scene } from "../Scene.ts"

type ReleaseRecord = ConsumerAnswer<"timedReleases", "get">
type State = ConsumerAnswer<"timedReleases", "status">

/** A timed release with what happens in it now. */
interface Release {
  readonly kind: "timed_release"
  readonly record: ReleaseRecord
  readonly live?: LiveFacts | undefined
}

const giveUp = { action: "leave", label: "giveUp", effect: "giveUpText" } as const

/** Variants in a list. */
const variantsMax = 200

export const timedRelease: RoomKind<Release, State> = {
  name: "timed_release",
  action: "enterSale",
  status: "status",
  rule: (scene) => say(scene, "saleRule"),
  piece: (scene, release, state = { status: "NOT_ENTERED" }) => {
    const hasChoice =
      state.status === "ENTERED" || (state.status === "NOT_ENTERED" && barred(scene, release) === undefined)
    return {
      status: state.status,
      html: shown(scene, release, state),
      isLive: state.status === "ENTERED",
      hasFields: hasChoice && variantsOf(scene, release.record).length > 1
    }
  },
  liveFact: ({ isFull, unitsLeft }) => (isFull === true ? undefined : ["unitsLeft", unitsLeft]),
  steps: (scene, release, state = { status: "NOT_ENTERED" }) => {
    const { record, live } = release
    if (state.status === "ENTERED") return stepsOfTurn(scene, record)
    const mayEnter = record.lifecycle === "scheduled" || (record.lifecycle === "open" && live?.isFull !== true)
    if (state.status !== "NOT_ENTERED" || !mayEnter) return []
    const seconds = record.admissionExpirationSeconds
    return [
      ...(variantsOf(scene, record).length > 1 ? [say(scene, "nextChoose")] : []),
      ...(seconds === null ? [] : [say(scene, "nextHeld", { wait: scene.formats.duration(seconds) })]),
      say(scene, "nextPay")
    ]
  },
  samples: (now) => [
    ["At the turn", { status: "ENTERED", enteredAt: now, ...sampleGrant(now) }],
    ["Bought", { status: "COMPLETED", enteredAt: now, completedAt: now }],
    ["Turn lapsed", { status: "EXPIRED", enteredAt: now, expiresAt: now }]
  ],
  leaving: ({ status }) => (status === "ENTERED" ? giveUp : undefined),
  operations: {
    enter: (fields) => {
      const variantId = fields.get("variant")
      return { name: "enter", payload: variantId === null ? null : { variantId } }
    },
    leave: () => ({ name: "leave" })
  }
}

const shown = (scene: Scene, release: Release, state: State): Html => {
  const { record } = release
  const again = (limited: GrantLimit) =>
    record.lifecycle === "open" && orGrantLimit(limited, () => entering(scene, release, "again"))
  switch (state.status) {
    case "NOT_ENTERED":
      return outside(scene, release)
    case "ENTERED":
      return turn(scene, say(scene, "granted"), state, {
        more: selected(scene, record, state.selectedVariantId),
        // The page must not go on while the visitor chooses.
        staysHere: variantsOf(scene, record).length > 1
      })
    case "COMPLETED":
      return ended(scene, { title: "completed", ...(record.grantsPerConsumer !== null && again(state)) })
    case "LEFT":
      return ended(scene, { title: "leftTitle", ...again(state) })
    case "DENIED":
      return ended(scene, { title: "denied", reason: "reasonAdmin" })
    case "EXPIRED":
      return ended(scene, { title: "expired", reason: "reasonExpired", ...again(state) })
  }
}

const outside = (scene: Scene, release: Release): Html => {
  const { record } = release
  if (record.lifecycle === "scheduled") return scheduled(scene, record, say(scene, "saleRule"))
  if (record.lifecycle !== "open") return closed(scene, record)
  return html`${nameHeading(record.name)}
    <p>${say(scene, "saleRule")}</p>
    ${entering(scene, release, "enterSale")}${closing(scene, record)}`
}

const entering = (scene: Scene, release: Release, key: "enterSale" | "again"): Html =>
  enter(scene, release, say(scene, key), choice(scene, release.record), "soldOut")

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
      style: "quiet",
      id: `change-${record.id}`
    })
  }${wayOut(scene, record.id, giveUp)}`
}

/** The variants to choose from, if there are several. None is chosen before the visitor does. */
const choice = (scene: Scene, record: ReleaseRecord, chosen?: string): Html | undefined => {
  const variants = variantsOf(scene, record)
  if (variants.length < 2) return undefined
  return html`<fieldset class="choice">
    <legend>${say(scene, "choose")}</legend>
    ${variants.map(
      ({ id, name }) =>
        html`<label
          ><input
            type="radio"
            id="variant-${record.id}-${id}"
            name="variant"
            value="${id}"
            required
            ${id === chosen && html`checked`}
          /><span dir="auto">${name}</span></label
        > `
    )}
  </fieldset>`
}

/** The variants to choose from. Those of a product that the system assigns are known with the visitor. */
const variantsOf = ({ experience, assigned }: Scene, { variantIds, sequenceId }: ReleaseRecord) => {
  const mode = experience.sequences.find(({ id }) => id === sequenceId)?.productSelectionMode
  if (mode === "SYSTEM_ASSIGNED" && assigned === undefined) return []
  return experience.products
    .flatMap(offered)
    .filter(({ id }) => (variantIds === null || variantIds.includes(id)) && assigned?.has(id) !== false)
    .slice(0, variantsMax)
}

/** The variants that an experience offers of a product, by the values of their options. */
const offered = ({ product, productVariantId }: Experience["products"][number]) =>
  product.variants
    .filter(({ id }) => productVariantId === null || productVariantId === id)
    .map(({ id, options, sku }) => {
      const values = options.map(({ value }) => value).join(" / ")
      const kind = values === "" ? (sku ?? "") : values
      const parts = [isolated(product.name, kind), isolated(kind, product.name)].filter((part) => part !== "")
      return { id, name: parts.join(values === "" ? " " : " – ") }
    })
