/** The last events of a drop in words, with seconds and names. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { toText } from "../../../domain/values/Time.ts"
import { type Html, html, type Inserted } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { guestName, makeNames } from "../Names.ts"
import { reasonNames } from "../Reasons.ts"
import { makeAuthorNames } from "../screens/People.ts"
import type { Drop, Mechanism } from "./Drop.ts"
import { viewOf } from "./Kinds.ts"
import { money } from "./KindView.ts"

type Entry = AdminAnswer<"distributions", "listDistributionHistory">["data"][number]
type Order = AdminAnswer<"orders", "listOrders">["data"][number]

/** Events that are shown. */
const shownMax = 10

/** Orders among which that of a purchase is looked for. */
const ordersMax = "50"

interface Happened {
  readonly mechanism: Mechanism
  readonly entry: Entry
}

/** Makes the function that reads the last events of a drop and writes them, as a part that the script replaces. */
export const makeHappened = (api: AdminApiClient["Service"]) => {
  const namesOf = makeNames(api)
  const authorNames = makeAuthorNames(api)
  return Effect.fnUntraced(function* (
    operator: Operator,
    { experience, mechanisms }: Pick<Drop, "experience" | "mechanisms">
  ) {
    const query = { sortDir: "desc", first: `${shownMax}` } as const
    const histories = yield* Effect.forEach(
      mechanisms,
      (mechanism) =>
        api
          .run(operator, "distributions", "listDistributionHistory", { params: { id: mechanism.id }, query })
          .pipe(Effect.map(({ data }) => data.map((entry): Happened => ({ mechanism, entry })))),
      { concurrency: 8 }
    )
    const last = histories
      .flat()
      .toSorted((one, other) => other.entry.at - one.entry.at || other.entry.sequence - one.entry.sequence)
      .slice(0, shownMax)
    const names = yield* namesOf(
      operator,
      last.flatMap(({ entry: { consumerId } }) => (consumerId === null ? [] : [consumerId]))
    )
    const author = yield* authorNames(operator)
    const orders = last.some(({ entry }) => entry.type === "Completed")
      ? (yield* api.run(operator, "orders", "listOrders", {
          query: { experienceId: experience.id, sortDir: "desc", first: ordersMax }
        })).data
      : []
    return listOf(last, { names, author, orders, timeZone: experience.timeZone, isOne: mechanisms.length === 1 })
  })
}

interface Known {
  readonly names: ReadonlyMap<string, string>
  readonly author: (by: unknown) => string
  readonly orders: ReadonlyArray<Order>
  readonly timeZone: string
  /** Whether the drop has one mechanism, whose name then says nothing. */
  readonly isOne: boolean
}

const listOf = (last: ReadonlyArray<Happened>, known: Known): Html => html`
  <section class="card" data-part="happened">
    <h2>What happened</h2>
    ${
      last.length === 0
        ? html`<p class="muted">Nothing yet. Events appear here when somebody enters.</p>`
        : html`<ol class="happened">
            ${last.map((one) => itemOf(one, known))}
          </ol>`
    }
  </section>
`

const itemOf = ({ mechanism, entry }: Happened, known: Known): Html => {
  const { timeZone, isOne } = known
  const clock = new Intl.DateTimeFormat("en-GB", { timeZone, timeStyle: "medium" }).format(entry.at)
  const aside = asideOf(mechanism, entry, known)
  return html`<li>
    <time datetime="${toText(entry.at)}" data-clock>${clock}</time>
    <span dir="auto">${sentenceOf(mechanism, entry, known)}</span>
    <small dir="auto"
      >${[aside, isOne ? undefined : mechanism.name].filter((text) => text !== undefined).join(" · ")}</small
    >
  </li>`
}

/** The events with which consumers enter. The kind has the word. */
const entries: ReadonlySet<string> = new Set(["Entered", "Booked"])

/** What consumers do, by the name of the event. */
const doings: { readonly [type: string]: string } = {
  Granted: "was admitted",
  Completed: "bought",
  Expired: "did not buy in time",
  Denied: "was denied",
  Left: "left",
  Won: "won",
  Lost: "did not win",
  Outbid: "was outbid",
  Reinstated: "leads again",
  Selected: "chose another variant",
  Rescheduled: "moved the booking",
  CheckedIn: "was checked in",
  Cancelled: "cancelled the booking",
  Missed: "did not come",
  Notified: "was told of the opening",
  GrantExtended: "got more time",
  Offered: "was offered a unit",
  Renewed: "is still at the shop",
  BidPlaced: "bid"
}

/** What staff do, and what time brings. */
const changes: { readonly [type: string]: string } = {
  Configured: "changed the settings of",
  Paused: "paused",
  Resumed: "resumed",
  Ended: "ended",
  Archived: "archived",
  Extended: "moved the closing of"
}

const occurrences: { readonly [type: string]: string } = {
  Opened: "opened: the order of the lobby was drawn",
  Closed: "closed",
  TornDown: "is settled: nobody waits any more",
  Drawn: "was drawn",
  EntriesFixed: "takes no more entries",
  BeaconProvided: "got its public random number",
  SeedDrawn: "was made ready",
  NoticeScheduled: "will tell its members at the opening",
  NoticeDue: "tells its members",
  UnitsCame: "got units of its stock",
  UnitsLeft: "gave units back to its stock",
  UnitsTaken: "has given its units back",
  SupplyNoted: "learned whether its stock has more units for it"
}

/** Whether the history has words for an event of this type. */
export const hasWords = (type: string): boolean =>
  [doings, changes, occurrences].some((words) => type in words) || entries.has(type)

const sentenceOf = (
  mechanism: Mechanism,
  { sequence, type, consumerId, data }: Entry,
  { names, author }: Known
): Inserted => {
  if (consumerId !== null) {
    const name = names.get(consumerId) ?? guestName(consumerId)
    const isEntry = entries.has(type)
    const bid =
      mechanism.type === "auction" && type === "BidPlaced"
        ? `bid ${money(`${data["amount"]}`, mechanism.currencyCode)}`
        : undefined
    const did = bid ?? (isEntry ? viewOf(mechanism).enters : (doings[type] ?? type.toLowerCase()))
    return html`<a href="/dashboard/consumers/${consumerId}">${name}</a> ${did}`
  }
  const changed = changes[type]
  if (changed !== undefined && (type !== "Extended" || data["by"] !== undefined)) {
    return `${author(data["by"])} ${sequence === 1 ? "made" : changed} ${mechanism.name}${type === "Resumed" && mechanism.type === "queue" ? ` at ${mechanism.admitRate}/min` : ""}`
  }
  return `${mechanism.name} ${occurrences[type] ?? type.toLowerCase()}`
}

/** The reason of an act, its author, or the amount of a purchase. */
const asideOf = (
  mechanism: Mechanism,
  { type, consumerId, data }: Entry,
  { orders, author }: Known
): string | undefined => {
  const reason = data["reason"]
  if (typeof reason === "string") {
    return (reasonNames as { readonly [code: string]: string })[reason] ?? reason.toLowerCase().replaceAll("_", " ")
  }
  if (type === "Completed") {
    const order = orders.find((one) => one.consumerId === consumerId && one.distributionId === mechanism.id)
    return order && money(order.total, order.currencyCode)
  }
  return consumerId !== null && typeof data["by"] === "string" ? `by ${author(data["by"])}` : undefined
}
