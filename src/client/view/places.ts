/** Turns the API's answers about a consumer's places into the contents of a page. Pure. */
import type { Experience, Kind, Listed, Live, LiveMechanism, Session, States } from "../types.ts"

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

/** The mechanisms of an experience, without the consumer's standing. */
export const placesIn = ({ sequences }: Experience, live: Live | undefined): ReadonlyArray<Place> =>
  sequences.flatMap(({ name, queues, draws, auctions, appointments, timedReleases, waitlist }) => {
    const lists: { readonly [K in Kind]: ReadonlyArray<object> } = {
      queue: queues,
      draw: draws,
      auction: auctions,
      timed_release: timedReleases,
      appointment: appointments,
      waitlist: waitlist
        ? [{ supportsGuest: true, openAt: null, closeAt: null, lifecycle: "open", name, ...waitlist }]
        : []
    }
    return Object.entries(lists).flatMap(([kind, list]) =>
      list.map((listed) => withFacts({ kind, ...listed } as Place, live))
    )
  })

/** The place with the facts of this moment. */
export const withFacts = (place: Place, live: Live | undefined): Place => {
  const facts = live?.mechanisms.find(({ id }) => id === place.id)
  if (!facts) return place
  const { name, lifecycle, openAt, closeAt } = facts
  return { ...place, name, lifecycle, openAt, closeAt, facts }
}

/** The place as shown to this consumer at `now`, in milliseconds by the server's clock. */
export const shown = (place: Place, session: Session | undefined, now: number): ShownPlace => {
  const [state, actions] = meaningOf(place, session, now)
  return { ...place, state, actions }
}

type Meaning = readonly [ShownPlace["state"], ReadonlyArray<Action>]

const meaningOf = (place: Place, session: Session | undefined, now: number): Meaning => {
  const { kind, lifecycle, supportsGuest, own } = place
  const status = statusOf(place)
  const isOpen = lifecycle === "open" || Date.parse(place.lobbyOpenAt ?? "") <= now
  const first = isOpen && lifecycle !== "closed" ? [firstActions[kind]] : []
  if (own && "admissionGrant" in own) {
    return ["granted", kind === "timed_release" ? [...first, "leave"] : kind === "queue" ? ["leave"] : []]
  }
  const actions = waiting[status]
  if (actions) return ["waiting", kind === "auction" ? first : own && "drawnAt" in own ? [] : actions]
  if (status.startsWith("NOT_")) {
    if (!first[0]) return [lifecycle === "scheduled" ? "scheduled" : "ended", first]
    return supportsGuest || session?.type === "authenticated" ? ["enterable", first] : ["gated", []]
  }
  const mayAgain = place.grantsPerConsumer ? /COMPLETED|LEFT|EXPIRED/ : /LEFT|EXPIRED|CANCELLED/
  return ["ended", own && mayAgain.test(status + ("reason" in own ? own.reason : "")) ? first : []]
}

const firstActions = {
  queue: "enter",
  draw: "enter",
  timed_release: "enter",
  auction: "bid",
  appointment: "book",
  waitlist: "join"
} as const

/** The statuses of waiting consumers, and their possible actions. */
const waiting: { readonly [status: string]: ReadonlyArray<Action> } = {
  QUEUED: ["leave"],
  ENTERED: ["leave"],
  LISTED: ["leave"],
  BIDDING: [],
  WINNING: [],
  OUTBID: [],
  BOOKED: ["reschedule", "cancel"]
}

/** The consumer's status; of a waitlist `LISTED` or `NOT_LISTED`. */
export const statusOf = ({ own }: Place): string =>
  own === undefined ? "NOT_" : "status" in own ? own.status : own.isEntered ? "LISTED" : "NOT_LISTED"

const order = ["granted", "waiting", "enterable", "gated", "scheduled"]

/** A turn first, then places that wait, then open mechanisms, and mechanisms that open later. Waitlists come last. */
export const rankOf = ({ kind, state }: ShownPlace): number =>
  state === "ended" ? 9 : order.indexOf(state) + (kind === "waitlist" ? 4 : 0)
