/** Decides each command: returns its events, none if it changes nothing, or a refusal. */
import type { ExtractTag } from "effect/Types"
import { unitsMax } from "../mechanism/Allocation.ts"
import { unchanged } from "../mechanism/Administration.ts"
import { Closed } from "../mechanism/Refusals.ts"
import { isClosed } from "../mechanism/State.ts"
import type { UnitsReport } from "../mechanism/UnitProtocol.ts"
import type { Millis } from "../values/Time.ts"
import type { Event } from "./Event.ts"
import { type Command, type Refusal, type Reports, TooFewUnits, TooManyUnits } from "./Protocol.ts"
import { type Account, newAccount, type State } from "./State.ts"
import { sending, type Turn } from "./Turns.ts"

type Outcome = ReadonlyArray<Event> | Refusal

/** A stock is open from its creation. */
export const hasOpened = () => true

/** Other variants would be other units. */
export const fixedSetting = (
  { configured: { variantIds } }: State,
  next: State["configured"]
): "variantIds" | undefined => {
  const isSame = next.variantIds.length === variantIds.length && next.variantIds.every((id) => variantIds.includes(id))
  return isSame ? undefined : "variantIds"
}

const adjust = (state: State, { units, reason, by }: ExtractTag<Command, "Adjust">, at: Millis): Outcome => {
  if (isClosed(state, at)) return new Closed()
  if (units === 0) return unchanged
  if (state.onHand + units > unitsMax) return new TooManyUnits({ maximum: unitsMax })
  if (state.free + units < 0) return new TooFewUnits({ free: state.free })
  return [{ _tag: "Adjusted", at, units, reason, by }]
}

const settle = (state: State, { reports }: Reports, at: Millis): Outcome => {
  const events: Array<Event> = []
  const underway = new Map<string, number>()
  let { free } = state
  for (const [distributionId, report] of reports) {
    const account = state.accounts.get(distributionId) ?? newAccount()
    const news = report === "gone" ? recalled(account, distributionId, at) : newsOf(account, distributionId, report, at)
    events.push(...news)
    for (const event of news) {
      if (event._tag === "UnitsCame") free += event.units
      else if (event._tag === "UnitsRecalled") free += account.underway?.units ?? 0
    }
    underway.set(distributionId, news.some(endsTransfer) ? 0 : (account.underway?.units ?? 0))
  }
  const ledger = {
    takers: state.configuration.takers,
    free,
    reports,
    underwayTo: (id: string) => underway.get(id) ?? 0
  }
  const turns = isClosed(state, at) ? [] : sending(ledger, at)
  return [...events, ...turns.map((turn) => leaving(state, turn, at))]
}

const endsTransfer = ({ _tag }: Event): boolean => _tag === "UnitsTaken" || _tag === "UnitsRecalled"

/** Returns the events of what a mechanism says that the stock did not know. */
const newsOf = (account: Account, distributionId: string, report: UnitsReport, at: Millis): ReadonlyArray<Event> => {
  const { underway, taken, sold } = account
  const { came, leaving, isOver } = report
  const events: Array<Event> = []
  if (underway !== undefined && came >= underway.transfer) {
    events.push({ _tag: "UnitsTaken", at, distributionId, transfer: underway.transfer })
  } else if (isOver) events.push(...recalled(account, distributionId, at))
  if (leaving !== undefined && leaving.transfer > taken) {
    events.push({ _tag: "UnitsCame", at, distributionId, ...leaving })
  }
  if (report.sold > sold) events.push({ _tag: "SalesNoted", at, distributionId, sold: report.sold })
  return events
}

/** Returns the event that takes back what is under way to a mechanism that never takes it. */
const recalled = ({ underway }: Account, distributionId: string, at: Millis): ReadonlyArray<Event> =>
  underway === undefined ? [] : [{ _tag: "UnitsRecalled", at, distributionId, transfer: underway.transfer }]

const leaving = ({ accounts }: State, { distributionId, units }: Turn, at: Millis): Event => ({
  _tag: "UnitsLeft",
  at,
  distributionId,
  transfer: (accounts.get(distributionId)?.sent ?? 0) + 1,
  units
})

const countOrder = (state: State, { orderId, units }: ExtractTag<Command, "CountOrder">, at: Millis): Outcome => {
  if (isClosed(state, at)) return new Closed()
  if (state.orders.has(orderId) || state.cancelled.has(orderId)) return unchanged
  if (state.free < units) return new TooFewUnits({ free: state.free })
  return [{ _tag: "OrderCounted", at, orderId, units }]
}

const cancelOrder = (state: State, { orderId, units }: ExtractTag<Command, "CancelOrder">, at: Millis): Outcome =>
  state.cancelled.has(orderId) || !state.configuration.returnsCancelled
    ? unchanged
    : [{ _tag: "OrderCancelled", at, orderId, units: state.orders.get(orderId) ?? units }]

const undoOrder = (state: State, { orderId }: ExtractTag<Command, "UndoOrder">, at: Millis): Outcome =>
  state.cancelled.has(orderId)
    ? unchanged
    : [{ _tag: "OrderCancelled", at, orderId, units: state.orders.get(orderId) ?? 0 }]

/** The decision on each command of a stock. */
export const decisions = {
  Adjust: adjust,
  Settle: settle,
  CountOrder: countOrder,
  CancelOrder: cancelOrder,
  UndoOrder: undoOrder
}
