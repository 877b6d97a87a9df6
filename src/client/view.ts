/** Turns the API's answers about an experience and a consumer's places into the contents of a page. */
import { serverNow } from "./clock.ts"
import type { Experience, Kind, Listed, Live, LiveMechanism, Session, States } from "./types.ts"

/** The contents of a page. */
export type ViewState =
  | "loading"
  | "gated"
  | "scheduled"
  | "enterable"
  | "waiting"
  | "granted"
  | "ended"
  | "unreachable"

/** The actions of a consumer. `join` is for waitlists, `unlock` sends an access code. */
export type Action = "enter" | "leave" | "join" | "bid" | "book" | "cancel" | "reschedule" | "unlock"

/** The arguments of an action besides its name. */
export interface Input {
  /** The mechanism; default the first place with this action. */
  readonly at?: string
  readonly variantId?: string
  /** Of a bid, as decimal text. */
  readonly amount?: string
  /** Of a bid that was refused with `BID_UNLIKELY`: the consumer means its amount. */
  readonly confirmed?: boolean
  readonly slotId?: string
  readonly locationId?: string
  readonly newSlotId?: string
  readonly accessCode?: string
}

/** A mechanism of the experience and the consumer's standing in it. */
export type Place = { readonly [K in Kind]: PlaceOf<K> }[Kind]

interface PlaceOf<K extends Kind> extends Listed {
  readonly kind: K
  readonly lobbyOpenAt?: string | null
  readonly grantsPerConsumer?: number | null
  /** The consumer's own standing; absent before its first action. */
  readonly own?: States[K] | undefined
  /** The public facts; absent if the mechanism is not for all consumers. */
  readonly facts?: LiveMechanism
}

/** A place with its present meaning. */
export type ShownPlace = Place & {
  readonly state: Exclude<ViewState, "loading" | "unreachable">
  readonly actions: ReadonlyArray<Action>
}

/** The path of the kind, and the name of the operation that reads the consumer's standing. */
export const pathOf = ({ kind, id }: Pick<Place, "kind" | "id">): string => `/${kind.replace("_", "-")}s/${id}`
export const statusPathOf = (place: Pick<Place, "kind" | "id">): string =>
  `${pathOf(place)}/${place.kind === "appointment" ? "me" : "status"}`

/** The fields of a sequence with its mechanisms. */
const fields = ["queues", "draws", "auctions", "timedReleases", "appointments", "waitlist"] as const

/** The mechanisms of an experience, without the consumer's standing. */
export const placesIn = ({ sequences }: Experience, live: Live | undefined): ReadonlyArray<Place> =>
  sequences.flatMap((sequence) =>
    fields.flatMap((field) => {
      const kind = field.replace(/s$/, "").replace("R", "_r")
      // A waitlist has the name of its sequence, and no times.
      const place = { kind, name: sequence.name, openAt: null, closeAt: null }
      return [sequence[field] ?? []].flat().map((listed) => withFacts({ ...place, ...listed } as Place, live))
    })
  )

/** The place with the facts of this moment. */
export const withFacts = (place: Place, live: Live | undefined): Place => {
  const facts = live?.mechanisms.find(({ id }) => id === place.id)
  return facts ? ({ ...place, ...facts, facts } as Place) : place
}

/** The place as shown to this consumer at `now`, in milliseconds by the server's clock. */
export const shown = (place: Place, session: Session | undefined, now: number): ShownPlace => {
  const [state, actions] = meaningOf(place, session, now)
  return { ...place, state, actions }
}

type Meaning = readonly [ShownPlace["state"], ReadonlyArray<Action>]

const meaningOf = (place: Place, session: Session | undefined, now: number): Meaning => {
  const { kind, lifecycle, supportsGuest, facts } = place
  const { admissionGrant, drawnAt, startTime, reason, grantLimitReached } = fieldsOf(place)
  const status = statusOf(place)
  const isOpen = lifecycle === "open" || (lifecycle === "scheduled" && Date.parse(place.lobbyOpenAt!) <= now)
  const isGated = !supportsGuest && session?.type !== "authenticated"
  const first = isOpen && !isGated && !facts?.isFull ? [firstActions[kind] ?? "enter"] : []
  if (admissionGrant) return ["granted", grantedActions[kind] ?? []]
  if (status.startsWith("NOT_")) {
    if (!isOpen) return [lifecycle === "scheduled" ? "scheduled" : "ended", []]
    return [isGated ? "gated" : "enterable", first]
  }
  if (waits.test(status)) {
    const isOver = drawnAt || Date.parse(startTime!) <= now
    const leave: ReadonlyArray<Action> =
      kind !== "appointment" ? ["leave"] : isOpen ? ["reschedule", "cancel"] : ["cancel"]
    return ["waiting", kind === "auction" ? first : isOver ? [] : leave]
  }
  const mayAgain = status === "COMPLETED" ? place.grantsPerConsumer : ends.test(kind + status + reason!)
  return ["ended", mayAgain && !grantLimitReached ? first : []]
}

/** The statuses of waiting consumers. */
const waits = /QUEUED|^ENTERED|^LISTED|BID|WINNING|BOOKED/

/** The endings after which a consumer may enter again; after a completed grant it may by a setting. */
const ends = /(queue|release|waitlist)(LEFT|EXPIRED|DENIEDADMISSION)|CANCELLED/

const grantedActions: { readonly [K in Kind]?: ReadonlyArray<Action> } = {
  queue: ["leave"],
  timed_release: ["enter", "leave"],
  waitlist: ["leave"]
}

const firstActions: { readonly [K in Kind]?: Action } = { auction: "bid", appointment: "book", waitlist: "join" }

/** The consumer's status; of a waitlist `LISTED` or `NOT_LISTED`. */
export const statusOf = (place: Place): string => {
  const { status, isEntered } = fieldsOf(place)
  return status ?? (isEntered ? "LISTED" : "NOT_")
}

/** The fields of a consumer's standing, of whatever kind and status. */
interface Fields {
  readonly status?: string
  readonly isEntered?: boolean
  readonly admissionGrant?: string
  readonly position?: number | null
  readonly drawnAt?: string
  readonly lastBidAmount?: string
  readonly startTime?: string
  readonly reason?: string
  readonly grantLimitReached?: true
}

export const fieldsOf = ({ own = {} }: { readonly own?: object | undefined }): Fields => own

const order = ["granted", "waiting", "enterable", "gated", "scheduled"]

/** A turn first, then places that wait, then open mechanisms, and mechanisms that open later. Waitlists come last. */
export const rankOf = ({ kind, state }: ShownPlace): number =>
  state === "ended" ? 9 : order.indexOf(state) + (kind === "waitlist" ? 4 : 0)

/** What was read last; without an experience the experience is not shown. */
export interface ExperienceData {
  readonly experience?: Experience
  readonly places: ReadonlyArray<Place>
  /** The experience has an access code that this consumer has not shown. */
  readonly isBarred?: boolean
}

/** The contents of a page. A snapshot never changes; a change makes another one. */
export interface Snapshot {
  readonly state: ViewState
  /** The present actions of the consumer, over all places. */
  readonly actions: ReadonlyArray<Action>
  readonly experience?: Experience | undefined
  readonly session?: Session | undefined
  /** Those that matter most come first. */
  readonly places: ReadonlyArray<ShownPlace>
  /** False while Usher is out of reach. The last known state stays, and the place is kept. */
  readonly isConnected: boolean
  /** Milliseconds by which the server's clock is ahead of this device's, for countdowns. */
  readonly aheadMillis: number
}

export const loading: Snapshot = { state: "loading", actions: [], places: [], isConnected: true, aheadMillis: 0 }

/** Returns the snapshot of the data; before the first answer there is none. */
export const snapshotOf = (
  data: ExperienceData | undefined,
  session: Session | undefined,
  isConnected: boolean
): Snapshot => {
  if (!data) return { ...loading, isConnected, state: isConnected ? "loading" : "unreachable" }
  const { experience } = data
  const now = serverNow()
  const places = data.places.map((place) => shown(place, session, now))
  places.sort((one, other) => rankOf(one) - rankOf(other))
  const isProtected = experience?.hasProtectedSequences
  const isGated = data.isBarred || (isProtected && !places[0])
  const actions = places.flatMap(({ actions }) => actions).concat(isProtected ? "unlock" : [])
  return {
    state: isGated ? "gated" : (places[0]?.state ?? "ended"),
    actions: [...new Set(actions)],
    places,
    isConnected,
    aheadMillis: now - Date.now(),
    experience,
    session
  }
}
