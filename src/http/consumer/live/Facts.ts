/**
 * Reads the public facts of an experience. The list of its mechanisms comes from the database. Their facts come from
 * the actors' memory, on whichever node they run. A mechanism that is over and not in memory is shown as recorded, and
 * is not started for this.
 */
import { Effect } from "effect"
import { byKind, deciders, type Kind, kinds } from "../../../domain/mechanism/Mechanism.ts"
import { bounded } from "../../../domain/experience/ExperienceWindow.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { Engine, type Inspection } from "../../../engine/Engine.ts"
import type { ExperienceView, ShownMechanism } from "../../../store/experience/ExperienceViews.ts"
import { heldTimes, lifecycleOf } from "../../../store/mechanism/MechanismLifecycle.ts"
import type { LiveFacts, LiveMechanism } from "../../../api/consumer/LiveApi.ts"
import { kindSchemas } from "../../../api/consumer/KindsApi.ts"

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

const liveFactsOf = byKind((kind) => deciders[kind].liveFacts as AnyLiveFacts | undefined)
type AnyLiveFacts = (seen: object) => Own

/** The kinds that show some of their facts. */
const kindsWithFacts = new Set(kinds.filter((kind) => liveFactsOf[kind] !== undefined && "facts" in deciders[kind]))

const noFacts = Effect.succeed(undefined)

/** The statuses of consumers that no longer take part. */
const withdrawn: ReadonlySet<string> = new Set(["LEFT", "CANCELLED"])

/** The fields of one kind alone, without an actor. */
const unknown = byKind((kind): Own =>
  Object.fromEntries(Object.keys(kindSchemas[kind].live).map((name) => [name, null]))
)

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
  const own = liveFactsOf[shown.kind]?.({ configuration, counts, facts })
  return liveOf(shown, { lifecycle, openAt, closeAt, entries, ...own })
}

const liveOf = ({ id, kind, sequenceId, configuration }: ShownMechanism, own: Own): Live =>
  // Each kind has its own fields.
  ({ id, kind, sequenceId, name: String(configuration["name"]), ...own }) as unknown as Live
