/**
 * Reads the contents of a room: the experience and its document, the public facts of its mechanisms, and the visitor's
 * places. Public data is read at most once a second.
 */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import { declarations, fieldOf, type Kind } from "../../domain/mechanism/Mechanism.ts"
import type { PublicExperiencePage } from "../../domain/experience/ExperiencePage.ts"
import type { ConsumerAnswer, Caller, ConsumerApiClient } from "../ApiClients.ts"
import type { Refusal } from "../Refusal.ts"
import { type AuctionFacts, auctionFactsOf } from "./mechanism/Auction.ts"
import { type Mechanism, roomKindOf, shownKinds, type States } from "./mechanism/Kinds.ts"
import { liveOf } from "./mechanism/Live.ts"
import type { LiveFacts, Record } from "./mechanism/Parts.ts"
import type { Read } from "./mechanism/RoomKind.ts"
import type { Experience, NextDrop } from "./Scene.ts"
import * as Time from "../../store/coordination/Time.ts"

type Request = HttpServerRequest.HttpServerRequest

/** Mechanisms on a page. Those of the sequences of highest priority are shown. */
const mechanismsMax = 20

/** Reads at the same time. */
const concurrency = 8

/** How long public data is reused. */
const sharedMillis = 1_000

/** Shared reads that are kept. */
const sharedMax = 5_000

type Slots = ConsumerAnswer<"appointments", "slots">

/** The public contents of a room. */
export interface PublicRoom {
  readonly experience: Experience
  readonly document: PublicExperiencePage | undefined
  readonly mechanisms: ReadonlyArray<Mechanism>
  readonly live: Live
  readonly nextDrop: NextDrop | undefined
}

/** Live facts by the ids of mechanisms. */
type Live = ReadonlyMap<string, LiveFacts>

/** A mechanism as an experience names it. */
interface ListedMechanism {
  readonly kind: Kind
  readonly listed: Record
}

/** Makes the functions that read for a room. */
export const make = (api: ConsumerApiClient["Service"]) => {
  const sharedReads = makeShared()
  const documentOf = makeDocumentOf(api)
  const nextOf = makeNextOf(api, sharedReads)
  const mechanismOf = makeMechanismOf(api, sharedReads)
  const mechanismsOf = (caller: Caller, experience: Experience): Read<ReadonlyArray<Mechanism>> =>
    Effect.forEach(listedIn(experience), (named) => mechanismOf(caller, named), { concurrency })

  /** Reads what is recorded of the public contents. */
  const recorded = ({ holder }: Caller, experienceId: string, slug?: string) =>
    sharedReads(
      `experience ${experienceId} ${slug ?? ""}`,
      Effect.gen(function* () {
        const experience = yield* api.run({ holder }, "experiences", "get", { params: { experienceId } })
        const document = yield* documentOf({ holder }, experienceId, slug)
        const mechanisms = yield* mechanismsOf({ holder }, experience)
        const nextDrop = yield* nextOf({ holder }, experienceId)
        return { experience, document, mechanisms, nextDrop }
      })
    )

  /** Reads the public contents. The live facts are those of the public stream, so a page never lags behind it. */
  const shown = Effect.fnUntraced(function* (caller: Caller, experienceId: string, slug?: string) {
    const contents = yield* recorded(caller, experienceId, slug)
    const live = yield* liveOf(api, { holder: caller.holder }, experienceId)
    return { ...contents, mechanisms: withLive(contents.mechanisms, live), live }
  })

  return {
    shown,
    /** Reads the experience as the visitor may see it. It differs only where some part of it is protected. */
    ofVisitor: Effect.fnUntraced(function* (caller: Caller, experienceId: string) {
      const everybodys = yield* shown(caller, experienceId)
      if (caller.access === undefined || !everybodys.experience.hasProtectedSequences) return everybodys
      const own = yield* api.run(caller, "experiences", "enter", { params: { experienceId }, payload: null }).pipe(
        Effect.map(({ experience }) => experience),
        Effect.catchTag("Refusal", (refusal) => (refusal.status === 403 ? Effect.undefined : Effect.fail(refusal)))
      )
      if (own === undefined) return everybodys
      const mechanisms = withLive(yield* mechanismsOf(caller, own), everybodys.live)
      return { ...everybodys, experience: own, mechanisms }
    }),
    /** Reads the visitor's standing in a mechanism. */
    state: <K extends Kind>(caller: Caller, kind: K, id: string): Read<States[K]> => {
      const { group, parameter } = declarations[kind]
      const { status } = roomKindOf(kind)
      const input = { params: { [parameter]: id } }
      return api.run(caller, group as "queues", status as "status", input) as Read<unknown> as Read<States[K]>
    },
    /** Reads the facts of an auction as they are now, so that a visitor sees its own bid. */
    auctionFacts: (caller: Caller, auctionId: string): Read<AuctionFacts> => auctionFactsOf(api, caller, auctionId),
    /** Reads whether the visitor has asked for an email: before an opening, or when it is outbid. */
    alert: makeAlertOf(api),
    /** Reads the free slots from a day on. */
    slots: (caller: Caller, appointmentId: string, startDate: string | undefined): Read<Slots> =>
      api.run({ holder: caller.holder }, "appointments", "slots", { params: { appointmentId }, query: { startDate } })
  }
}

/** Makes the function that reads the document of a room. Without a published page a room has a default one. */
const makeDocumentOf =
  (api: ConsumerApiClient["Service"]) => (caller: Caller, experienceId: string, slug: string | undefined) =>
    api
      .run(caller, "experiences", "page", { params: { experienceId }, query: { slug } })
      .pipe(
        Effect.catchTag("Refusal", (refusal) =>
          refusal.status === 404 && slug === undefined ? Effect.undefined : Effect.fail(refusal)
        )
      )

/** Makes the function that reads the next drop. A room is shown also while that cannot be read. */
const makeNextOf =
  (api: ConsumerApiClient["Service"], share: Share) =>
  ({ holder }: Caller, experienceId: string) =>
    share(
      `next ${experienceId}`,
      api.run({ holder }, "experiences", "next", { params: { experienceId } }).pipe(
        Effect.map(({ experience }) => experience ?? undefined),
        Effect.orElseSucceed(() => undefined)
      )
    )

const makeAlertOf =
  (api: ConsumerApiClient["Service"]) =>
  (caller: Caller, kind: Kind, { experienceId, id }: { readonly experienceId: string; readonly id: string }) =>
    kind === "auction"
      ? api.run(caller, "alerts", "outbid", { params: { auctionId: id } })
      : api.run(caller, "alerts", "reminder", { params: { experienceId } })

export type Places = ReturnType<typeof make>

const withLive = (mechanisms: ReadonlyArray<Mechanism>, live: Live): ReadonlyArray<Mechanism> =>
  mechanisms.map((mechanism) => ({ ...mechanism, live: live.get(mechanism.record.id) }))

/** Shares a read among the visitors of a moment. The key says all that the read depends on. */
type Share = <A>(key: string, read: Read<A>) => Read<A>

/** Makes the function that shares reads. */
const makeShared = (): Share => {
  const reads = new SegmentedCache<Effect.Effect<unknown, Refusal, Request>>(sharedMax)
  return <A>(key: string, read: Read<A>): Read<A> =>
    Effect.suspend(() => {
      const known = reads.get(key)
      if (known !== undefined) return known as Read<A>
      return Effect.flatMap(
        // A visitor that goes away must not end the read of the others.
        Time.cachedForMillis(Effect.uninterruptible(read), sharedMillis),
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
const listedIn = ({ sequences }: Experience): ReadonlyArray<ListedMechanism> => {
  const all = sequences.flatMap((sequence) =>
    shownKinds.flatMap((kind) =>
      [sequence[fieldOf[kind]]]
        .flat()
        .flatMap((listed) => (listed === null ? [] : [{ kind, listed: listed as Record }]))
    )
  )
  return all.slice(0, mechanismsMax)
}

/** Makes the function that adds the facts to a mechanism of a list. Only facts are shared: the list is of its reader. */
const makeMechanismOf =
  (api: ConsumerApiClient["Service"], shared: Share) =>
  ({ holder }: Caller, { kind, listed }: ListedMechanism): Read<Mechanism> => {
    const { read } = roomKindOf(kind)
    const share = <A>(facts: Read<A>) => shared(`${kind} ${listed.id}`, facts)
    const found =
      read === undefined ? Effect.succeed({ kind, record: listed }) : read(listed, { api, caller: { holder }, share })
    return found as Read<Mechanism>
  }
