/** The facts of a mechanism for staff, from its actor's memory. */
import { Effect } from "effect"
import { byKind, deciders } from "../../../domain/mechanism/Mechanism.ts"
import type { DistributionFacts } from "../../../api/admin/FactsApi.ts"
import { Engine } from "../../../engine/Engine.ts"
import type { StoredMechanism } from "../../../store/mechanism/Mechanisms.ts"

type FactsOf = ((seen: object) => object) | undefined

const factsOf = byKind((kind) => ({
  live: deciders[kind].liveFacts as FactsOf,
  staff: deciders[kind].staffFacts as FactsOf
}))

/** Makes the function that reads the facts of a mechanism. */
export const make = Effect.map(Engine, (engine) =>
  Effect.fnUntraced(function* ({ identity: { id, kind, organizationId, mode } }: StoredMechanism) {
    const mechanism = { kind, id, tenant: { organizationId, mode } }
    const { configuration, live } = yield* engine.inspect(mechanism)
    const facts = "facts" in deciders[kind] ? yield* engine.facts(mechanism) : undefined
    const seen = { configuration, counts: live.counts, facts }
    // Each kind has its own fields.
    const own = { ...factsOf[kind].live?.(seen), ...factsOf[kind].staff?.(seen) }
    return { kind, ...own } as unknown as typeof DistributionFacts.Type
  })
)
