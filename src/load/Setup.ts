/** The permission to load a deployment, and the experience and mechanisms that a run makes for itself. */
import { Clock, Effect, Redacted } from "effect"
import { fieldOf, grantsOnEntry, isSingle, type Kind } from "../domain/mechanism/Mechanism.ts"
import { toText } from "../domain/values/Time.ts"
import { StartRefused } from "../settings/Settings.ts"
import type { Client, RequestError, Target } from "./Client.ts"

/** Consumer API requests of a consumer at its arrival: the session and the entry. */
const requestsPerArrival = 2

/** Turns a failed request of the preparation into a message for the operator. */
export const orRefused =
  (what: string) =>
  <A, R>(effect: Effect.Effect<A, RequestError, R>): Effect.Effect<A, StartRefused, R> =>
    Effect.mapError(effect, ({ message }) => new StartRefused({ message: `${what}: ${message}` }))

/** Refuses keys that are not of test mode, before any request. */
export const requireTestKeys = ({ publishableKey, secretKey }: Target) =>
  publishableKey.startsWith("pk_test_") && Redacted.value(secretKey).startsWith("sk_test_")
    ? Effect.void
    : Effect.fail(
        new StartRefused({
          message: "Load needs the keys of test mode: pk_test_… and sk_test_…. It never runs with live keys."
        })
      )

/** Refuses a deployment whose operator has given no permission, or less than the run needs. */
export const requirePermission = Effect.fnUntraced(function* (client: Client, need: { peak: number; seconds: number }) {
  const { name, loadLeave: permission } = yield* client
    .admin((api) => api.organizations.getOrganization({}))
    .pipe(orRefused("The organization could not be read"))
  const now = yield* Clock.currentTimeMillis
  const remedy =
    "Its operator gives it: usher organizations allow-load --organization ID --minutes 60 --per-second 5000"
  const refuse = (problem: string) => Effect.fail(new StartRefused({ message: `${problem} ${remedy}` }))
  if (permission === null || permission.until <= now) {
    return yield* refuse(`The organization "${name}" has no permission to be loaded.`)
  }
  if (permission.until < now + need.seconds * 1_000) {
    return yield* refuse(`The permission ends at ${toText(permission.until)}, before the arrivals do.`)
  }
  const perSecond = need.peak * requestsPerArrival
  if (perSecond > permission.perSecond) {
    return yield* refuse(
      `The permission is for ${permission.perSecond} requests a second. These arrivals make ${perSecond} at their peak.`
    )
  }
})

/** A mechanism that the run has created. */
export interface Mechanism {
  readonly kind: Kind
  readonly id: string
  /** The slots of an appointment. */
  readonly slotIds?: ReadonlyArray<string>
}

export interface Settings {
  /** Admissions a minute, of a queue. */
  readonly admitRate: number
  /** Consumers of all parts. */
  readonly consumers: number
  /** The view of staff. */
  readonly label: string
}

/** Creates an experience with a mechanism of each kind, and archives it when the scope closes. */
export const acquireMechanisms = Effect.fnUntraced(function* (
  client: Client,
  kinds: ReadonlyArray<Kind>,
  settings: Settings
) {
  const now = yield* Clock.currentTimeMillis
  const name = settings.label
  // A sequence for each kind: a waitlist sends messages when another mechanism of its sequence opens.
  const sequences = kinds.map((kind) => {
    const mechanism = { name, supportsGuest: true, ...configurationOf(kind, settings, now) }
    return { name, [fieldOf[kind]]: isSingle(kind) ? mechanism : [mechanism] }
  })
  const create = client
    .admin((api) => api.experiences.createExperience({ payload: { name, sequences } }))
    .pipe(orRefused("The experience could not be created"))
  const archive = (id: string) =>
    client
      .admin((api) => api.experiences.archiveExperience({ params: { id } }))
      .pipe(Effect.catch(({ message }) => Effect.logWarning(`The experience could not be archived: ${message}`)))
  const experience = yield* Effect.acquireRelease(create, ({ id }) => archive(id))
  const idOf = (kind: Kind): string => {
    const found = experience.sequences.flatMap((sequence): ReadonlyArray<{ readonly id: string }> =>
      [sequence[fieldOf[kind]] ?? []].flat()
    )
    return found[0]!.id
  }
  const mechanisms = new Map(kinds.map((kind): readonly [Kind, Mechanism] => [kind, { kind, id: idOf(kind) }]))
  const appointment = mechanisms.get("appointment")
  if (appointment === undefined) return mechanisms
  const today = now - (now % dayMillis)
  const days = { startDate: today + dayMillis, endDate: today + slotDays * dayMillis }
  const slots = yield* client
    .visitor((api) => api.appointments.slots({ params: { appointmentId: appointment.id }, query: days }))
    .pipe(orRefused("The slots could not be read"))
  return mechanisms.set("appointment", { ...appointment, slotIds: slots.data.map(({ id }) => id) })
})

/** Days on which an appointment has slots. */
const slotDays = 3

const dayMillis = 86_400_000

/** Nothing closes while the run lasts, and nothing is sold out. */
const configurationOf = (kind: Kind, { admitRate, consumers }: Settings, now: number): object => {
  const later = (days: number) => now + days * dayMillis
  switch (kind) {
    case "queue":
      return { admitRate }
    case "draw":
      return { closeAt: later(1), drawAt: later(2), winnerCount: 1 }
    case "auction":
      // Bids come in any order, so some are far above the minimum.
      return { closeAt: later(1), settleAt: later(2), startPrice: "1", maxBid: "999999999", quantity: 1 }
    case "appointment": {
      const hours = Object.fromEntries(weekdays.map((weekday) => [weekday, [{ from: "00:00", to: "24:00" }]]))
      const slots = { slotDurationMinutes: 60, slotsFrom: later(0), slotsUntil: later(slotDays + 1) }
      return { timeZone: "UTC", hours, ...slots, maxCapacityPerSlot: consumers }
    }
    default:
      return grantsOnEntry(kind) ? { capacity: consumers } : {}
  }
}

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
