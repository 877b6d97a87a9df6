/**
 * Reads the public facts of an experience. The list of its mechanisms comes from the database. Their facts come from
 * the actors' memory, on whichever node they run. A mechanism that is over and not in memory is shown as recorded, and
 * is not started for this.
 */
import { Effect } from "effect"
import type { Facts as AuctionFacts } from "../../../domain/auction/Auction.ts"
import type { Kind } from "../../../domain/mechanism/Mechanism.ts"
import { bounded } from "../../../domain/experience/ExperienceWindow.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { Engine, type Inspection, type KnownFacts } from "../../../engine/Engine.ts"
import type { ExperienceView, ShownMechanism } from "../../../store/experience/ExperienceViews.ts"
import { heldTimes, lifecycleOf } from "../../../store/mechanism/MechanismLifecycle.ts"
import type { LiveFacts, LiveMechanism } from "./LiveApi.ts"

/** Mechanisms of one experience that are read at the same time. */
const readAtOnce = 16

type Live = typeof LiveMechanism.Type
type Own = { readonly [field: string]: unknown }

/** Makes the function that reads the facts of an experience as of `now`. */
export const make = Effect.map(Engine, (engine) => {
  /** The mechanism as its actor holds it. Undefined if no actor runs or answers. */
  const observed = (tenant: Tenant, { id, kind }: ShownMechanism) => {
    const mechanism = { kind, id, tenant }
    return engine.peek(mechanism).pipe(
      Effect.flatMap((inspection) =>
        inspection === undefined
          ? Effect.undefined
          : Effect.map(kindsWithFacts.has(kind) ? engine.facts(mechanism) : noFacts, (facts) => ({ inspection, facts }))
      ),
      Effect.orElseSucceed(() => undefined)
    )
  }

  const factsOf = (tenant: Tenant, shown: ShownMechanism, now: Millis) =>
    Effect.map(observed(tenant, shown), (found) =>
      found === undefined ? recorded(shown, now) : current(shown, found.inspection, found.facts)
    )

  return (
    tenant: Tenant,
    { experience, sequences }: ExperienceView,
    now: Millis
  ): Effect.Effect<typeof LiveFacts.Type> =>
    Effect.map(
      Effect.forEach(
        sequences.flatMap(({ mechanisms }) => mechanisms),
        (shown) => factsOf(tenant, shown, now),
        { concurrency: readAtOnce }
      ),
      (mechanisms) => ({ experienceId: experience.id, name: experience.name, mechanisms })
    )
})

/** The kinds whose facts are shown. Those of an appointment are all its slots. */
const kindsWithFacts: ReadonlySet<Kind> = new Set(["queue", "draw", "auction", "timed_release"])

const noFacts = Effect.succeed(undefined)

/** The statuses of consumers that no longer take part. */
const withdrawn: ReadonlySet<string> = new Set(["LEFT", "CANCELLED"])

/** The fields of one kind alone, without an actor. */
const unknown: { readonly [K in Kind]: Own } = {
  queue: {
    waiting: null,
    isFull: null,
    admitRate: null,
    paused: null,
    pausedAt: null,
    pauseReason: null,
    unitsLeft: null
  },
  draw: { isFull: null, winnerCount: null, drawAt: null, drawnAt: null },
  auction: { currentPrice: null, highestBid: null, minimumBid: null, unitsLeft: null, auctionEnded: null },
  appointment: {},
  timed_release: { unitsLeft: null, isFull: null },
  waitlist: { waiting: null, isFull: null }
}

const recorded = (shown: ShownMechanism, now: Millis): Live => {
  const { openAt = null, closeAt = null } = heldTimes(shown.configuration)
  const lifecycle = lifecycleOf(shown, now)
  return liveOf(shown, { lifecycle, openAt, closeAt, entries: null, ...unknown[shown.kind] })
}

const current = (
  shown: ShownMechanism,
  { configuration, lifecycle, live: { counts } }: Inspection<Kind>,
  facts: unknown
): Live => {
  const { openAt = null, closeAt = null } = bounded(configuration)
  const entries = Object.entries(counts).reduce((sum, [status, count]) => sum + (withdrawn.has(status) ? 0 : count), 0)
  // Configuration and facts are of the kind.
  const own = ownFacts[shown.kind] as (seen: object) => Own
  return liveOf(shown, { lifecycle, openAt, closeAt, entries, ...own({ configuration, counts, facts }) })
}

const liveOf = ({ id, kind, sequenceId, configuration }: ShownMechanism, own: Own): Live =>
  // The table below has the fields of each kind.
  ({ id, kind, sequenceId, name: String(configuration["name"]), ...own }) as unknown as Live

/** The facts that an actor reports about its mechanism. */
interface Seen<K extends Kind> {
  readonly configuration: Inspection<K>["configuration"]
  readonly counts: Inspection<K>["live"]["counts"]
  readonly facts: KnownFacts<K>
}

const finite = (units: number): number | null => (units === Infinity ? null : units)

const full = (places: number, { capacity = Infinity }: { readonly capacity?: number | undefined }): boolean =>
  places >= capacity

const ownFacts: { readonly [K in Kind]: (seen: Seen<K>) => Own } = {
  queue: ({ configuration, counts, facts: { pause, admissionsLeft } }) => ({
    waiting: counts["QUEUED"],
    isFull: full(counts["QUEUED"]!, configuration),
    admitRate: configuration.admitRate,
    paused: pause !== undefined,
    pausedAt: pause?.since ?? null,
    pauseReason: pause?.reason ?? null,
    unitsLeft: finite(admissionsLeft)
  }),
  draw: ({ configuration, counts, facts: { published } }) => ({
    isFull: full(counts["ENTERED"]!, configuration),
    winnerCount: configuration.winnerCount,
    drawAt: configuration.drawAt,
    drawnAt: published.drawnAt === undefined ? null : Date.parse(published.drawnAt)
  }),
  auction: ({ facts }) => auctionFacts(facts),
  appointment: () => ({}),
  timed_release: ({ facts }) => ({ unitsLeft: finite(facts.unitsLeft), isFull: facts.unitsLeft <= 0 }),
  waitlist: ({ configuration, counts }) => ({
    waiting: counts["ENTERED"],
    isFull: full(counts["ENTERED"]! + counts["NOTIFIED"]!, configuration)
  })
}

const auctionFacts = ({ currentPrice, leadingBids, minimumBid, remainingQuantity, auctionEnded }: AuctionFacts) => ({
  currentPrice,
  highestBid: leadingBids[0] ?? null,
  minimumBid: minimumBid ?? null,
  unitsLeft: remainingQuantity,
  auctionEnded
})
