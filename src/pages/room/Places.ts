/**
 * Reads the contents of a room: the experience and its document, the public facts of its mechanisms, and the visitor's
 * places. Public data is read at most once a second.
 */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { SegmentedCache } from "../../auth/sessions/SegmentedCache.ts"
import { bidsShownMax } from "../../domain/auction/Auction.ts"
import type { PublicExperiencePage } from "../../domain/experience/ExperiencePage.ts"
import type { AnswerOf, Caller, Calls } from "../Calls.ts"
import type { Refused } from "../Refused.ts"
import type { AppointmentRecord } from "./mechanism/Appointment.ts"
import type { AuctionFacts, AuctionRecord } from "./mechanism/Auction.ts"
import type { DrawRecord } from "./mechanism/Draw.ts"
import type { QueueRecord } from "./mechanism/Queue.ts"
import { liveOf } from "./mechanism/Live.ts"
import type { LiveFacts } from "./mechanism/Parts.ts"
import type { Experience } from "./Scene.ts"
import type { ReleaseRecord } from "./mechanism/TimedRelease.ts"
import type { WaitlistRecord } from "./mechanism/Waitlist.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Mechanisms on a page. Those of the sequences of highest priority are shown. */
const mechanismsMax = 20

/** Reads at the same time. */
const concurrency = 8

/** How long public data is reused. */
const sharedMillis = 1_000

/** Shared reads that are kept. */
const sharedMax = 5_000

type Slots = AnswerOf<"appointments", "slots">

/** A mechanism with its public facts. */
export type Mechanism = Kinds & { readonly live?: LiveFacts | undefined }

type Kinds =
  | { readonly kind: "queue"; readonly record: QueueRecord }
  | { readonly kind: "draw"; readonly record: DrawRecord }
  | { readonly kind: "auction"; readonly record: AuctionRecord; readonly facts: AuctionFacts }
  | { readonly kind: "appointment"; readonly record: AppointmentRecord; readonly slots: Slots }
  | { readonly kind: "timed_release"; readonly record: ReleaseRecord }
  | { readonly kind: "waitlist"; readonly record: WaitlistRecord }

export type Kind = Kinds["kind"]

/** The visitor's standing in a mechanism, by its kind. */
export interface States {
  readonly queue: AnswerOf<"queues", "status">
  readonly draw: AnswerOf<"draws", "status">
  readonly auction: AnswerOf<"auctions", "status">
  readonly appointment: AnswerOf<"appointments", "me">
  readonly timed_release: AnswerOf<"timedReleases", "status">
  readonly waitlist: AnswerOf<"waitlists", "status">
}

/** The public contents of a room. */
export interface Shown {
  readonly experience: Experience
  readonly document: PublicExperiencePage | undefined
  readonly mechanisms: ReadonlyArray<Mechanism>
  readonly live: Live
}

/** Live facts by the ids of mechanisms. */
type Live = ReadonlyMap<string, LiveFacts>

/** A mechanism as an experience names it. */
interface Named {
  readonly kind: Kind
  readonly id: string
  readonly listed: unknown
}

/** The group of operations of each kind, and the name of its path parameter. */
export const groupOf = {
  queue: { group: "queues", param: "queueId", status: "status" },
  draw: { group: "draws", param: "drawId", status: "status" },
  auction: { group: "auctions", param: "auctionId", status: "status" },
  appointment: { group: "appointments", param: "appointmentId", status: "me" },
  timed_release: { group: "timedReleases", param: "timedReleaseId", status: "status" },
  waitlist: { group: "waitlists", param: "waitlistId", status: "status" }
} as const

type Read<A> = Effect.Effect<A, Refused, Request>

/** Makes the functions that read for a room. */
export const make = (calls: Calls["Service"]) => {
  const sharedReads = makeShared()
  const documentOf = (caller: Caller, experienceId: string, slug: string | undefined) =>
    calls.run(caller, "experiences", "page", { params: { experienceId }, query: { slug } }).pipe(
      // Without a published page a room has a default one.
      Effect.catchTag("Refused", (refused) =>
        refused.status === 404 && slug === undefined ? Effect.undefined : Effect.fail(refused)
      )
    )

  const mechanismOf = makeMechanismOf(calls, sharedReads)
  const mechanismsOf = (caller: Caller, experience: Experience): Read<ReadonlyArray<Mechanism>> =>
    Effect.forEach(namedIn(experience), (named) => mechanismOf(caller, named), { concurrency })

  /** Reads the public contents. */
  const shown = (caller: Caller, experienceId: string, slug?: string): Read<Shown> => {
    const { holder } = caller
    return sharedReads(
      `experience ${experienceId} ${slug ?? ""}`,
      Effect.gen(function* () {
        const experience = yield* calls.run({ holder }, "experiences", "get", { params: { experienceId } })
        const document = yield* documentOf({ holder }, experienceId, slug)
        const live = yield* liveOf(calls, { holder }, experienceId)
        const mechanisms = withLive(yield* mechanismsOf({ holder }, experience), live)
        return { experience, document, mechanisms, live }
      })
    )
  }

  return {
    shown,
    /** Reads the experience as the visitor may see it. It differs only where some part of it is protected. */
    ofVisitor: Effect.fnUntraced(function* (caller: Caller, experienceId: string) {
      const everybodys = yield* shown(caller, experienceId)
      if (caller.access === undefined || !everybodys.experience.hasProtectedSequences) return everybodys
      const own = yield* calls.run(caller, "experiences", "enter", { params: { experienceId }, payload: null }).pipe(
        Effect.map(({ experience }) => experience),
        Effect.catchTag("Refused", (refused) => (refused.status === 403 ? Effect.undefined : Effect.fail(refused)))
      )
      if (own === undefined) return everybodys
      const mechanisms = withLive(yield* mechanismsOf(caller, own), everybodys.live)
      return { ...everybodys, experience: own, mechanisms }
    }),
    /** Reads the visitor's standing in a mechanism. */
    state: <K extends Kind>(caller: Caller, kind: K, id: string): Read<States[K]> => {
      const { group, param, status } = groupOf[kind]
      return calls.run(caller, group as "queues", status as "status", { params: { [param]: id } }) as Read<States[K]>
    },
    /** Reads the facts of an auction as they are now, so that a visitor sees its own bid. */
    auctionFacts: (caller: Caller, auctionId: string): Read<AuctionFacts> => auctionFactsOf(calls, caller, auctionId),
    /** Reads the free slots from a day on. */
    slots: (caller: Caller, appointmentId: string, startDate: string | undefined): Read<Slots> =>
      calls.run({ holder: caller.holder }, "appointments", "slots", { params: { appointmentId }, query: { startDate } })
  }
}

export type Places = ReturnType<typeof make>

const withLive = (mechanisms: ReadonlyArray<Mechanism>, live: Live): ReadonlyArray<Mechanism> =>
  mechanisms.map((mechanism) => ({ ...mechanism, live: live.get(mechanism.record.id) }))

/** Shares a read among the visitors of a moment. The key says all that the read depends on. */
type Share = <A>(key: string, read: Read<A>) => Read<A>

/** Makes the function that shares reads. */
const makeShared = (): Share => {
  const reads = new SegmentedCache<Effect.Effect<unknown, Refused, Request>>(sharedMax)
  return <A>(key: string, read: Read<A>): Read<A> =>
    Effect.suspend(() => {
      const known = reads.get(key)
      if (known !== undefined) return known as Read<A>
      return Effect.flatMap(
        // A visitor that goes away must not end the read of the others.
        Effect.cachedWithTTL(Effect.uninterruptible(read), sharedMillis),
        (shared) => {
          const other = reads.get(key)
          if (other !== undefined) return other as Read<A>
          reads.set(key, shared)
          return shared
        }
      )
    })
}

/** The mechanisms of an experience, in the order of its sequences. */
const namedIn = ({ sequences }: Experience): ReadonlyArray<Named> => {
  const all = sequences.flatMap(({ queues, draws, auctions, appointments, timedReleases, waitlist }) => [
    ...queues.map((listed) => ({ kind: "queue", id: listed.id, listed }) as const),
    ...draws.map((listed) => ({ kind: "draw", id: listed.id, listed }) as const),
    ...auctions.map((listed) => ({ kind: "auction", id: listed.id, listed }) as const),
    ...timedReleases.map((listed) => ({ kind: "timed_release", id: listed.id, listed }) as const),
    ...appointments.map((listed) => ({ kind: "appointment", id: listed.id, listed }) as const),
    ...(waitlist === null ? [] : [{ kind: "waitlist", id: waitlist.id, listed: waitlist } as const])
  ])
  return all.slice(0, mechanismsMax)
}

/** Makes the function that adds the facts to a mechanism of a list. Only facts are shared: the list is of its reader. */
const makeMechanismOf =
  (calls: Calls["Service"], shared: Share) =>
  ({ holder }: Caller, { kind, id, listed }: Named): Read<Mechanism> => {
    const caller = { holder }
    const key = `${kind} ${id}`
    switch (kind) {
      case "queue":
        return Effect.succeed({ kind, record: listed as QueueRecord })
      case "timed_release":
        return Effect.succeed({ kind, record: listed as ReleaseRecord })
      case "draw": {
        // The list has no commitment.
        const read = calls.run(caller, "draws", "get", { params: { drawId: id } })
        return Effect.map(shared(key, read), (record) => ({ kind, record }))
      }
      case "waitlist": {
        const read = calls.run(caller, "waitlists", "get", { params: { waitlistId: id } })
        return Effect.map(shared(key, read), (record) => ({ kind, record }))
      }
      case "appointment": {
        const read = calls.run(caller, "appointments", "slots", { params: { appointmentId: id } })
        return Effect.map(shared(key, read), (slots) => ({ kind, record: listed as AppointmentRecord, slots }))
      }
      case "auction": {
        const read = auctionFactsOf(calls, caller, id)
        return Effect.map(shared(key, read), (facts) => ({ kind, record: listed as AuctionRecord, facts }))
      }
    }
  }

/** Reads the leading bids and the price. */
const auctionFactsOf = Effect.fnUntraced(function* (calls: Calls["Service"], { holder }: Caller, auctionId: string) {
  const params = { auctionId }
  const query = { limit: `${bidsShownMax}` }
  const { data: leading } = yield* calls.run({ holder }, "auctions", "bids", { params, query })
  return { leading, price: yield* calls.run({ holder }, "auctions", "currentPrice", { params }) }
})
