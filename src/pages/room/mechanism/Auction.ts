/** An auction in a room: english with bids, or dutch with a falling price. */
import { Effect } from "effect"
import type { ConsumerAnswer, Caller, ConsumerApiClient } from "../../ApiClients.ts"
import { html, type Html, type Inserted } from "../../Html.ts"
import { bidsShownMax } from "../../../domain/auction/Auction.ts"
import { isBelow, plus, wholeFrom } from "../../../domain/values/Amount.ts"
import { fractionDigitsOf } from "../../../domain/values/Locale.ts"
import type { PlainKey } from "../../Words.ts"
import { toText } from "../../../domain/values/Time.ts"
import {
  alerting,
  stepsOfTurn,
  barred,
  closed,
  deniedFor,
  ended,
  type LiveFacts,
  type Piece,
  sampleGrant,
  scheduled,
  turn
} from "./Parts.ts"
import type { RoomKind, UnconfirmedBid } from "./RoomKind.ts"
import { facts, form, heading, nameHeading, hidden, say, type Scene } from "../Scene.ts"

type AuctionRecord = ConsumerAnswer<"auctions", "get">
type State = ConsumerAnswer<"auctions", "status">

/** The public facts of an auction. */
export interface AuctionFacts {
  readonly leading: ConsumerAnswer<"auctions", "bids">["data"]
  readonly price: ConsumerAnswer<"auctions", "currentPrice">
}

interface AuctionContext {
  readonly kind: "auction"
  readonly record: AuctionRecord
  readonly facts: AuctionFacts | undefined
  readonly live?: LiveFacts | undefined
  readonly unconfirmed?: UnconfirmedBid | undefined
}

/** Reads the leading bids and the price. */
export const auctionFactsOf = Effect.fnUntraced(function* (
  api: ConsumerApiClient["Service"],
  { holder }: Caller,
  auctionId: string
) {
  const params = { auctionId }
  const query = { limit: `${bidsShownMax}` }
  const { data: leading } = yield* api.run({ holder }, "auctions", "bids", { params, query })
  return { leading, price: yield* api.run({ holder }, "auctions", "currentPrice", { params }) }
})

export const auction: RoomKind<AuctionContext, State> = {
  name: "auction",
  action: "enterAuction",
  status: "status",
  rule: (scene) => say(scene, "bidFinal"),
  piece: (scene, auction, state, options) => {
    const unconfirmed = options.unconfirmed?.at === auction.record.id ? options.unconfirmed : undefined
    return auctionPiece(scene, { ...auction, unconfirmed }, state)
  },
  steps: (scene, { record }, state) => {
    if (state?.status === "WON") return stepsOfTurn(scene, record)
    const mayBid = record.lifecycle === "open" || record.lifecycle === "scheduled"
    if (!mayBid || (state !== undefined && !("bidCount" in state))) return []
    const keys: ReadonlyArray<PlainKey> =
      record.auctionType === "dutch" ? ["nextFalls", "nextBuy", "nextWin"] : ["nextBid", "nextOutbid", "nextWin"]
    return keys.map((key) => say(scene, key))
  },
  read: (record, { api, caller, share }) =>
    Effect.map(share(auctionFactsOf(api, caller, record.id)), (facts) => ({ kind: "auction", record, facts })),
  samples: (now) => {
    const bids = { enteredAt: now, bidderHandle: "sample", bidCount: 1, lastBidAmount: sampleAmount }
    return [
      ["Leading", { status: "WINNING", ...bids }],
      ["Outbid", { status: "OUTBID", ...bids }],
      ["Won", { status: "WON", ...bids, winningBidAmount: sampleAmount, wonAt: now, ...sampleGrant(now) }],
      ["Bought", { status: "COMPLETED", ...bids, winningBidAmount: sampleAmount, completedAt: now }],
      ["Lost", { status: "LOST", ...bids, lostAt: now }]
    ]
  },
  operations: {
    bid: (fields) => ({
      name: "bid",
      payload: { amount: fields.get("amount") ?? "", confirmed: fields.get("confirmed") === "unlikely" }
    })
  }
}

const sampleAmount = "120"

/** Shows the auction to a visitor; without a state to one that has not bid. */
const auctionPiece = (
  scene: Scene,
  auction: AuctionContext,
  state: State = { status: "NOT_BID", bidCount: 0 }
): Piece => {
  const isBidding =
    state.status === "NOT_BID" || state.status === "BIDDING" || state.status === "WINNING" || state.status === "OUTBID"
  return {
    status: state.status,
    html: isBidding ? outside(scene, auction, state) : shown(scene, auction.record, state),
    isLive: isBidding ? state.status !== "NOT_BID" : state.status === "WON",
    hasFields: isBidding && auction.record.lifecycle === "open" && auction.record.auctionType === "english"
  }
}

const money = ({ formats }: Scene, { currencyCode }: AuctionRecord, amount: string) =>
  formats.amount(amount, currencyCode)

/** What is sold: the product of the experience, or by the auction's name one of several. */
const soldIn = ({ experience }: Scene, { name }: AuctionRecord): string => {
  const [first, ...others] = experience.products
  return first === undefined || others.length > 0 ? name : first.product.name
}

const shown = (scene: Scene, record: AuctionRecord, state: State): Html => {
  switch (state.status) {
    case "WON": {
      const values = { product: soldIn(scene, record), amount: money(scene, record, state.winningBidAmount) }
      // A purchase is read first, so the page does not go on by itself.
      return turn(scene, say(scene, "won"), state, { lead: say(scene, "wonFor", values), staysHere: true })
    }
    case "LOST":
      return ended(scene, { title: "lost" })
    case "COMPLETED":
      return ended(scene, { title: "completed" })
    case "DENIED":
      return ended(scene, deniedFor(state.reason))
    default:
      return html``
  }
}

const headings: { readonly [Status in State["status"]]?: PlainKey } = {
  BIDDING: "bidding",
  WINNING: "winning",
  OUTBID: "outbid"
}

const outside = (scene: Scene, auction: AuctionContext, state: State): Html => {
  const { record } = auction
  const title = headings[state.status]
  const own = "lastBidAmount" in state ? state.lastBidAmount : undefined
  if (record.lifecycle === "scheduled") return scheduled(scene, record, terms(scene, record))
  if (record.lifecycle !== "open" && title === undefined) return closed(scene, record)
  const isOpen = record.lifecycle === "open"
  const body = record.auctionType === "dutch" ? dutch(scene, auction, isOpen) : english(scene, auction, own, isOpen)
  return html`${title === undefined ? nameHeading(record.name) : heading(say(scene, title))}${isOpen && ends(scene, record)}${body}${
    isOpen && own !== undefined && auction.unconfirmed === undefined && outbidAlert(scene, record)
  }`
}

/** An email each time the bidder loses the lead. */
const outbidAlert = (scene: Scene, { id }: AuctionRecord) =>
  alerting(scene, { action: "outbid", at: id, label: "outbidMe", told: "outbidTold" })

/** The time that is left. A late bid may move the end. */
const ends = (scene: Scene, { closeAt }: AuctionRecord): Html =>
  html`<p class="muted">${say(scene, "timeLeft")}</p>
    <p class="big">
      <time data-until data-fact="closes" data-warn="${say(scene, "oneMinute")}" datetime="${toText(closeAt)}"
        >${scene.formats.short(closeAt)}</time
      >
    </p>`

const terms = (scene: Scene, record: AuctionRecord): string =>
  `${say(scene, "units", { count: scene.formats.number(record.quantity) })}. ${say(scene, "minimum")}: ${money(scene, record, record.startPrice)}.`

const english = (scene: Scene, auction: AuctionContext, own: string | undefined, isOpen: boolean): Html => {
  const { record, facts: known, unconfirmed } = auction
  const highest = known?.leading[0]?.amount
  const minimum = minimumOf(auction)
  const rows = facts([
    [
      say(scene, "highest"),
      html`<strong data-fact="highest"
        >${highest === undefined ? say(scene, "none") : money(scene, record, highest)}</strong
      >`
    ],
    own === undefined ? undefined : [say(scene, "yourBid"), money(scene, record, own)],
    isOpen
      ? [say(scene, "minimum"), html`<span data-fact="minimum">${money(scene, record, minimum)}</span>`]
      : undefined
  ])
  const units =
    record.quantity > 1 && html`<p>${say(scene, "units", { count: scene.formats.number(record.quantity) })}</p>`
  const bids = ladder(scene, record, known?.leading ?? [])
  if (!isOpen) return html`${rows}${units}${bids}`
  const bar = barred(scene, auction)
  if (bar !== undefined) return html`${rows}${units}${bids}${bar}`
  if (unconfirmed !== undefined) return html`${rows}${confirmation(scene, record, unconfirmed)}`
  const field = html`<label
    >${say(scene, "yourBid")} (${record.currencyCode})
    <input
      id="amount-${record.id}"
      name="amount"
      inputmode="decimal"
      autocomplete="off"
      required
      maxlength="24"
      placeholder="${scene.formats.plainAmount(minimum, record.currencyCode)}"
  /></label>`
  return html`${rows}${units}${bids}${bidForm(scene, record, say(scene, "enterAuction"), field)}
    ${chips(scene, record, minimum)}
    <p class="muted">${say(scene, "bidFinal")}</p>`
}

/** Leading bids that are shown, and bids to choose from: the minimum, and it raised by so many increments. */
const rungsMax = 5
const raises = [0, 1, 4]

/** The leading bids, the highest first. */
const ladder = (scene: Scene, record: AuctionRecord, leading: AuctionFacts["leading"]): Html | false =>
  leading.length > 1 &&
  html`<h3 id="ladder-${record.id}">${say(scene, "ladder")}</h3>
    <ol class="ladder" data-fact="ladder" aria-labelledby="ladder-${record.id}">
      ${leading.slice(0, rungsMax).map(({ amount }) => html`<li>${money(scene, record, amount)}</li>`)}
    </ol>`

/** Bids to choose from. Like a typed one, each is confirmed. */
const chips = (scene: Scene, record: AuctionRecord, minimum: string): Html | false => {
  const { minBidIncrement } = record
  if (minBidIncrement === null) return false
  const amounts = raises.map((times) => {
    let amount = minimum
    for (let raised = 0; raised < times; raised++) amount = plus(amount, minBidIncrement)
    return amount
  })
  return html`<div class="chips" data-fact="chips" role="group" aria-label="${say(scene, "yourBid")}">
    ${amounts.map((amount, index) =>
      form(scene, "bid", {
        at: record.id,
        label: money(scene, record, amount),
        fields: hidden("amount", amount),
        style: "quiet",
        id: `chip-${record.id}-${index}`
      })
    )}
  </div>`
}

/** The least bid that would lead now. Only the answer to a bid is certain. */
const minimumOf = ({ record, facts: known }: AuctionContext): string => {
  const whole = (price: string) => wholeFrom(price, fractionDigitsOf(record.currencyCode))
  if (known === undefined || known.leading.length < Math.min(record.quantity, bidsShownMax)) {
    return whole(record.startPrice)
  }
  const next = plus(known.price.currentPrice, record.minBidIncrement ?? "0")
  return whole(isBelow(next, record.startPrice) ? record.startPrice : next)
}

const bidForm = (scene: Scene, { id }: AuctionRecord, label: string, fields: Inserted): Html =>
  form(scene, "bid", { at: id, label, fields, id: `bid-${id}` })

/** A bid is final, so it is confirmed. */
const confirmation = (scene: Scene, record: AuctionRecord, { amount, isUnlikely = false }: UnconfirmedBid): Html => {
  const shown = money(scene, record, amount)
  const confirmed = hidden("confirmed", isUnlikely ? "unlikely" : "1")
  return html`<p class="lead">${say(scene, "confirmBid", { amount: shown })}</p>
    ${isUnlikely && html`<p class="error" role="alert">${say(scene, "checkBid")}</p>`}
    <p>${say(scene, "bidFinal")}</p>
    ${bidForm(scene, record, say(scene, "confirm", { amount: shown }), html`${hidden("amount", amount)}${confirmed}`)}
    <p><a href="${scene.path("place")}">${say(scene, "back")}</a></p>`
}

/** A purchase is final, so it is confirmed. The price may fall meanwhile, which the visitor's limit allows. */
const purchase = (scene: Scene, record: AuctionRecord, { amount }: UnconfirmedBid): Html => {
  const shown = money(scene, record, amount)
  const fields = html`${hidden("amount", amount)}${hidden("confirmed", "1")}`
  return html`<p class="lead">${say(scene, "confirmBuy", { product: soldIn(scene, record), amount: shown })}</p>
    <p>${say(scene, "bidFinal")}</p>
    ${bidForm(scene, record, say(scene, "confirmTake", { amount: shown }), fields)}
    <p><a href="${scene.path("place")}">${say(scene, "back")}</a></p>`
}

const dutch = (scene: Scene, auction: AuctionContext, isOpen: boolean): Html => {
  const { record, facts: known, unconfirmed } = auction
  if (isOpen && unconfirmed !== undefined) return purchase(scene, record, unconfirmed)
  if (known === undefined) return html``
  const { currentPrice, remainingQuantity } = known.price
  const { priceDropAmount, priceDropIntervalSeconds } = record
  const price = money(scene, record, currentPrice)
  const drop = nextDrop(scene, record, currentPrice)
  const rows = html`<p class="muted">${say(scene, "price")}</p>
    <p class="big" data-fact="price">${price}</p>
    <p data-fact="units">${say(scene, "unitsLeft", { count: scene.formats.number(remainingQuantity) })}</p>
    ${
      drop !== undefined &&
      html`<p class="muted">
        ${say(scene, "priceDrops", { amount: money(scene, record, priceDropAmount!), wait: scene.formats.duration(priceDropIntervalSeconds!) })}
        <time data-until datetime="${new Date(drop).toISOString()}">${scene.formats.time(drop)}</time>
      </p>`
    }`
  if (!isOpen) return rows
  if (remainingQuantity === 0)
    return html`${rows}
      <p><strong>${say(scene, "soldOut")}</strong></p>`
  const bar = barred(scene, auction)
  if (bar !== undefined) return html`${rows}${bar}`
  const fields = hidden("amount", currentPrice)
  return html`${rows}${bidForm(scene, record, say(scene, "take", { amount: price }), fields)}
    <p class="muted">${say(scene, "bidFinal")}</p>`
}

/** When the price falls next; undefined if it stays. */
const nextDrop = ({ now }: Scene, record: AuctionRecord, price: string): number | undefined => {
  const { openAt, floorPrice, priceDropAmount, priceDropIntervalSeconds: seconds } = record
  if (openAt === null || seconds === null || priceDropAmount === null || floorPrice === null) return undefined
  if (!isBelow(floorPrice, price) || now < openAt) return undefined
  return openAt + (Math.floor((now - openAt) / (seconds * 1000)) + 1) * seconds * 1000
}
