/** The permission to load a deployment, and the experience and mechanisms that a run makes for itself. */
import { Clock, Effect, Redacted, Schema, type Scope } from "effect"
import { declarations, grantsOnEntry, type Kind } from "../domain/mechanism/Mechanism.ts"
import { StartRefused } from "../settings/Settings.ts"
import { type Client, orRefused, type Target } from "./Client.ts"
import { Recorded } from "./Proofs.ts"

/** Consumer API requests of a consumer at its arrival: the session and the entry. */
const requestsPerArrival = 2

const Organization = Schema.Struct({
  name: Schema.String,
  loadLeave: Schema.optionalKey(Schema.NullOr(Schema.Struct({ until: Schema.String, perSecond: Schema.Int })))
})
const Created = Schema.Struct({ id: Schema.String })
const Slots = Schema.Struct({ data: Schema.Array(Created) })
const Page = Schema.Struct({
  data: Schema.Array(Recorded),
  pageInfo: Schema.Struct({ endCursor: Schema.NullOr(Schema.String) })
})

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
export const requireLeave = Effect.fnUntraced(function* (client: Client, need: { peak: number; seconds: number }) {
  const { name, loadLeave } = yield* client
    .admin(Organization, "GET", "/organizations/me")
    .pipe(orRefused("The organization could not be read"))
  const now = yield* Clock.currentTimeMillis
  const remedy =
    "Its operator gives it: usher organizations allow-load --organization ID --minutes 60 --per-second 5000"
  const refuse = (problem: string) => Effect.fail(new StartRefused({ message: `${problem} ${remedy}` }))
  if (loadLeave === undefined || loadLeave === null || Date.parse(loadLeave.until) <= now) {
    return yield* refuse(`The organization "${name}" has no permission to be loaded.`)
  }
  if (Date.parse(loadLeave.until) < now + need.seconds * 1_000) {
    return yield* refuse(`The permission ends at ${loadLeave.until}, before the arrivals do.`)
  }
  const perSecond = need.peak * requestsPerArrival
  if (perSecond > loadLeave.perSecond) {
    return yield* refuse(
      `The permission is for ${loadLeave.perSecond} requests a second. These arrivals make ${perSecond} at their peak.`
    )
  }
})

/** A mechanism that the run has made. */
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

/** Creates a mechanism of each kind, and archives them with their parents when the scope closes. */
export const acquireMechanisms = (client: Client, kinds: ReadonlyArray<Kind>, settings: Settings) =>
  Effect.gen(function* () {
    const { label } = settings
    const now = yield* Clock.currentTimeMillis
    const create = (path: string, body: object) =>
      client.admin(Created, "POST", path, body).pipe(orRefused(`${path} could not be created`))
    const archived = (path: string) =>
      client
        .admin(Schema.Unknown, "DELETE", path)
        .pipe(
          Effect.catch(({ reason, detail }) => Effect.logWarning(`${path} could not be archived: ${reason}. ${detail}`))
        )
    const made = (path: string, body: object) =>
      Effect.acquireRelease(create(path, body), ({ id }) => archived(`${path}/${id}`))
    const experience = yield* made("/experiences", { name: label })
    const found = yield* Effect.forEach(
      kinds,
      Effect.fnUntraced(function* (kind): Effect.fn.Return<Mechanism, StartRefused, Scope.Scope> {
        const sequence = yield* made("/sequences", { experienceId: experience.id, name: label })
        const configuration = { sequenceId: sequence.id, name: label, ...configurationOf(kind, settings, now) }
        const { id } = yield* made(`/${declarations[kind].path}`, configuration)
        if (kind !== "appointment") return { kind, id }
        const days = `startDate=${dayAfter(now, 1)}&endDate=${dayAfter(now, slotDays)}`
        const slots = yield* client
          .see(Slots, { kind, id }, `slots?${days}`)
          .pipe(orRefused("The slots could not be read"))
        return { kind, id, slotIds: slots.data.map((slot) => slot.id) }
      })
    )
    return new Map(found.map((mechanism) => [mechanism.kind, mechanism]))
  })

/** Days on which an appointment has slots. */
const slotDays = 3

const dayMillis = 86_400_000
const dayAfter = (now: number, days: number): string => new Date(now + days * dayMillis).toISOString().slice(0, 10)

/** Nothing closes while the run lasts, and nothing is sold out. */
const configurationOf = (kind: Kind, { admitRate, consumers }: Settings, now: number): object => {
  const later = (days: number) => new Date(now + days * dayMillis).toISOString()
  switch (kind) {
    case "queue":
      return { admitRate, supportsGuest: true }
    case "draw":
      return { closeAt: later(1), drawAt: later(2), winnerCount: 1, supportsGuest: true }
    case "auction":
      // Bids come in any order, so some are far above the minimum.
      return {
        closeAt: later(1),
        settleAt: later(2),
        startPrice: "1",
        maxBid: "999999999",
        quantity: 1,
        supportsGuest: true
      }
    case "appointment": {
      const hours = Object.fromEntries(weekdays.map((weekday) => [weekday, [{ from: "00:00", to: "24:00" }]]))
      const slots = { slotDurationMinutes: 60, slotsFrom: later(0), slotsUntil: later(slotDays + 1) }
      return { timeZone: "UTC", hours, ...slots, maxCapacityPerSlot: consumers, supportsGuest: true }
    }
    default:
      return { supportsGuest: true, ...(grantsOnEntry(kind) && { capacity: consumers }) }
  }
}

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

/** Reads the recorded events of a mechanism, page by page. */
export const historyOf = Effect.fnUntraced(function* (client: Client, mechanismId: string) {
  const events: Array<Recorded> = []
  let after: string | null = null
  for (;;) {
    const query: string = after === null ? "" : `&after=${encodeURIComponent(after)}`
    const { data, pageInfo }: typeof Page.Type = yield* client
      .admin(Page, "GET", `/distributions/${mechanismId}/history?first=100${query}`)
      .pipe(orRefused("The history could not be read"))
    events.push(...data)
    after = pageInfo.endCursor
    if (after === null || data.length === 0) return events
  }
})
