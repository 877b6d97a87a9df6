/**
 * The commands that can have led to an event of a journal. A journal records events, not commands: some commands lead to
 * the same event, and some to several. So there can be more than one attempt for an event. The rules decide which of them
 * fits (`Unchanged.ts`).
 */
import { isDeepStrictEqual } from "node:util"
import { bounded, type Windowed } from "../../domain/experience/ExperienceWindow.ts"
import type { Command, Event } from "../../domain/mechanism/Decider.ts"
import type { ExtensionBy } from "../../domain/mechanism/extension/Extension.ts"
import { entropyOfBooking } from "../../domain/appointment/Names.ts"
import type { Millis } from "../../domain/values/Time.ts"

/** An event of any kind, with its own fields. */
export type AnyEvent = Event & { readonly [field: string]: unknown }

/** A command of any kind, with its own fields. */
export type AnyCommand = Command & { readonly [field: string]: unknown }

/** A command, when it was decided, and the randomness that it used. */
export interface Attempt {
  readonly command: AnyCommand
  readonly now: Millis
  readonly entropy: ReadonlyArray<string>
}

/** What the state before the event says. */
export interface Known {
  readonly configuration: Windowed
  /** The fields of the view of a consumer. */
  readonly view: (consumerId: string) => { readonly [field: string]: unknown }
  /** The consumer whose grant was extended last. */
  readonly lastExtended: string
}

/** The event, those after it, and the state before it. */
interface Context extends Known {
  readonly event: AnyEvent
  readonly next: AnyEvent | undefined
  /** The number of events from this one on that are the same except for their consumers. */
  readonly run: number
}

/** Returns the attempts for the event at `index`, the likeliest first; none if only time brings such an event. */
export const attemptsAt = (events: ReadonlyArray<AnyEvent>, index: number, known: Known): ReadonlyArray<Attempt> => {
  const event = events[index]!
  const next = events[index + 1]
  // An entry whose consumer holds an expired grant first records the expiry.
  if (event._tag === "Expired") return next?._tag === "Entered" ? attemptsAt(events, index + 1, known) : []
  const recover = recoveries[event._tag]
  if (recover === undefined) return []
  const entropy = index === 0 ? entropyOfCreation(event, next) : entropyOf(event)
  const context = { ...known, event, next, run: event._tag === "Granted" ? runAt(events, index) : 1 }
  return recover(context).map((command) => ({ command, now: event.at, entropy }))
}

const runAt = (events: ReadonlyArray<AnyEvent>, index: number): number => {
  const { consumerId: _, ...first } = events[index]!
  let end = index + 1
  while (end < events.length) {
    const { consumerId: _, ...other } = events[end]!
    if (!isDeepStrictEqual(other, first)) break
    end++
  }
  return end - index
}

const entropyOf = ({ bookingId, confirmationCode }: AnyEvent): ReadonlyArray<string> =>
  typeof bookingId === "string" && typeof confirmationCode === "string"
    ? [entropyOfBooking(bookingId, confirmationCode)]
    : []

/** The random values of a draw are in its second event. */
const entropyOfCreation = ({ handleSalt }: AnyEvent, next: AnyEvent | undefined): ReadonlyArray<string> => {
  if (typeof handleSalt === "string") return [handleSalt]
  const seed = next?.["seed"]
  const salt = next?.["salt"]
  return typeof seed === "string" && typeof salt === "string" ? [seed.slice(0, 32), seed.slice(32), salt] : []
}

type Recover = (context: Context) => ReadonlyArray<AnyCommand>

/** The fields of the event, without its instant and its tag, in a command of this name. */
const same =
  (tag: string): Recover =>
  ({ event: { _tag, at: _at, grant: _grant, ...fields } }) => [{ _tag: tag, ...fields }]

/** The same, by the consumer or staff, or by the removal of the consumer. */
const sameOrRemoved =
  (tag: string): Recover =>
  (context) => {
    const { consumerId, by } = context.event
    return [...same(tag)(context), ...(by === undefined ? [] : [{ _tag: "Remove", consumerId: consumerId!, by }])]
  }

/** Only with its author: without one, time has brought the event. */
const byAuthor =
  (recover: Recover): Recover =>
  (context) =>
    context.event.by === undefined ? [] : recover(context)

const bid = (placed: AnyEvent, entered?: AnyEvent): AnyCommand => ({
  _tag: "Bid",
  consumerId: placed.consumerId!,
  amount: placed.amount,
  isConfirmed: true,
  ...(entered?.risk !== undefined && { risk: entered.risk })
})

const enter: Recover = ({ event, next }) => {
  const { consumerId, loyaltyScore = 0, risk, variantId } = event
  const isBid = next?._tag === "BidPlaced" && next.consumerId === consumerId
  return [
    ...(isBid ? [bid(next, event)] : []),
    {
      _tag: "Enter",
      consumerId: consumerId!,
      isGuest: false,
      loyaltyScore,
      ...(risk !== undefined && { risk }),
      ...(variantId !== undefined && { variantId })
    }
  ]
}

const admit: Recover = ({ event: { consumerId, by, reason }, run, view }) => {
  const staff = { by, ...(reason !== undefined && { reason }) }
  const isFirst = view(consumerId!)["position"] === 1
  return [
    ...(isFirst ? [{ _tag: "AdmitNext", count: run, ...staff }] : []),
    { _tag: "Admit", consumerId: consumerId!, ...staff }
  ]
}

const configure: Recover = ({ event, configuration: before }) => {
  const { configuration, by, reason } = event as AnyEvent & { readonly configuration: Windowed }
  const staff = { by, ...(reason !== undefined && { reason }) }
  const { experienceWindow } = configuration
  return [
    { _tag: "Configure", configuration, ...staff },
    ...(experienceWindow === undefined ? [] : [{ _tag: "SetExperienceWindow", window: experienceWindow, by }]),
    // Only an auction can be settled at once.
    ...("settleAt" in configuration ? [{ _tag: "CloseNow", ...staff }] : []),
    ...extend(closingsOf(before, configuration), by)
  ]
}

/** By how much a closing has moved: the mechanism's own, or its experience's. */
const closingsOf = (before: Windowed, after: Windowed): ReadonlyArray<ExtensionBy> => {
  const closing = bounded(before).closeAt
  const own = (after.closeAt ?? 0) - (before.closeAt ?? 0)
  const experiences = (after.experienceWindow?.closeAt ?? 0) - (before.experienceWindow?.closeAt ?? 0)
  const moved = before.closeAt === undefined ? experiences : own
  return closing === undefined ? [] : [{ seconds: moved / 1_000 }, { until: closing + moved }]
}

const extend = (
  by: ReadonlyArray<ExtensionBy>,
  author: unknown,
  afters: ReadonlyArray<string | undefined> = [undefined]
) =>
  by.flatMap((to) => afters.map((after) => ({ _tag: "Extend", to, by: author, ...(after !== undefined && { after }) })))

const extendGrant: Recover = ({ event: { consumerId, expiresAt, by }, view, lastExtended }) => {
  const before = view(consumerId!)["expiresAt"]
  const moved = typeof before === "number" ? [{ seconds: (Number(expiresAt) - before) / 1_000 }] : []
  return extend([...moved, { until: Number(expiresAt) }], by, ["", lastExtended])
}

const extendAuction: Recover = ({ event: { closeAt, by }, configuration }) => {
  const before = bounded(configuration).closeAt
  if (by === undefined || before === undefined) return []
  return extend([{ seconds: (Number(closeAt) - before) / 1_000 }, { until: Number(closeAt) }], by)
}

const recoveries: { readonly [tag: string]: Recover } = {
  Configured: configure,
  Entered: enter,
  BidPlaced: ({ event }) => [bid(event)],
  Booked: ({ event: { consumerId, startTime, risk } }) => [
    { _tag: "Book", consumerId: consumerId!, startTime, ...(risk !== undefined && { risk }) }
  ],
  Selected: ({ event: { consumerId, variantId } }) => [
    { _tag: "Enter", consumerId: consumerId!, isGuest: false, variantId }
  ],
  Rescheduled: same("Reschedule"),
  CheckedIn: same("CheckIn"),
  Cancelled: sameOrRemoved("Cancel"),
  Missed: byAuthor(same("Miss")),
  Granted: byAuthor(admit),
  Completed: same("Complete"),
  Denied: byAuthor(sameOrRemoved("Deny")),
  Left: sameOrRemoved("Leave"),
  Renewed: ({ event: { consumerId }, view }) => [
    { _tag: "Renew", consumerId: consumerId!, grantSequence: view(consumerId!)["grantSequence"] }
  ],
  Paused: same("Pause"),
  Resumed: same("Resume"),
  Ended: same("End"),
  Archived: same("Archive"),
  Extended: extendAuction,
  GrantExtended: extendGrant,
  BeaconProvided: same("ProvideBeacon"),
  NoticeScheduled: ({ event: { noticeAt } }) => [
    { _tag: "ScheduleNotice", ...(noticeAt !== undefined && { at: noticeAt }) }
  ],
  Notified: same("MarkNotified"),
  // One command may lead to all three; each alone leads to its own.
  UnitsTaken: ({ event: { transfer } }) => [{ _tag: "SettleUnits", taken: transfer }],
  UnitsCame: ({ event: { transfer, units } }) => [{ _tag: "SettleUnits", taken: 0, arriving: { transfer, units } }],
  UnitsLeft: ({ event: { units } }) => [{ _tag: "SettleUnits", taken: 0, giveBack: units }],
  SupplyNoted: ({ event: { mayReturn } }) => [{ _tag: "SettleUnits", taken: 0, mayReturn }]
}
