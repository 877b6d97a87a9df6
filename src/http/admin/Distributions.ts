/**
 * What happens in a mechanism, for an admin to watch: what each operation does.
 */
import { Clock, Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Lifecycle } from "../../domain/Decider.ts"
import type { Tenant } from "../../domain/Ids.ts"
import { isLiveKind, type LiveKind } from "../../domain/Mechanism.ts"
import type { Millis } from "../../domain/Time.ts"
import { Engine } from "../../engine/Engine.ts"
import { History } from "../../store/History.ts"
import { Mechanisms, type StoredMechanism } from "../../store/Mechanisms.ts"
import { type ConsumerPlace, Places } from "../../store/Places.ts"
import { CurrentTenant } from "../Credentials.ts"
import { NotFound } from "../Errors.ts"
import { orBusy } from "./Answers.ts"
import { AdminApi } from "./Api.ts"
import type { Distribution } from "./DistributionApi.ts"
import { orInvalidPage } from "./Lists.ts"
import { kinds } from "./Kinds.ts"
import { mechanismRecord } from "./MechanismRecord.ts"

export const DistributionHandlers = HttpApiBuilder.group(
  AdminApi,
  "distributions",
  Effect.fnUntraced(function* (handlers) {
    const engine = yield* Engine
    const mechanisms = yield* Mechanisms
    const places = yield* Places
    const history = yield* History

    const current = Effect.fnUntraced(function* (tenant: Tenant, id: string) {
      const found = yield* mechanisms.find(tenant, id)
      return found === undefined || found.status.archived ? yield* notFound : found
    })

    /** What can be said of a mechanism whose actor stands still. */
    const parked = Effect.fnUntraced(function* (mechanism: StoredMechanism, restarts: number) {
      const { counts, lastSequence } = yield* mechanisms.tally(mechanism.identity, mechanism.identity.id)
      const configuration = configurationOf(mechanism)
      return {
        configuration,
        status: mechanism.status,
        lifecycle: lifecycleOf(mechanism, configuration, yield* Clock.currentTimeMillis),
        live: { counts, entriesPerMinute: 0, grantsPerMinute: 0, lastSequence, node: null, restarts, parked: true }
      }
    })

    return handlers.handleAll({
      getDistribution: Effect.fnUntraced(function* ({ params: { id } }) {
        const { tenant } = yield* CurrentTenant
        const mechanism = yield* current(tenant, id)
        const kind = liveKindOf(mechanism)
        const { configuration, status, lifecycle, live } = yield* engine.inspect({ kind, id, tenant }).pipe(
          Effect.catchTags({
            Parked: ({ restarts }) => parked(mechanism, restarts),
            // Archived in this moment.
            MechanismNotFound: () => notFound
          })
        )
        const record = mechanismRecord(mechanism, configuration, status, kinds[kind].settings)
        return { ...record, type: kind, lifecycle, live } as typeof Distribution.Type
      }, orBusy),

      listDistributionConsumers: Effect.fnUntraced(function* ({ params: { id }, query }) {
        const { tenant } = yield* CurrentTenant
        yield* current(tenant, id)
        const { data, pageInfo } = yield* places.list(tenant, id, query, query).pipe(orInvalidPage(query))
        return { data: data.map(consumerOf), pageInfo }
      }, orBusy),

      listDistributionHistory: Effect.fnUntraced(function* ({ params: { id }, query }) {
        const { tenant } = yield* CurrentTenant
        yield* current(tenant, id)
        return yield* history.list(tenant, id, query, query).pipe(orInvalidPage(query))
      }, orBusy)
    })
  })
)

const notFound = NotFound.of("Distribution")

const configurationOf = (mechanism: StoredMechanism) =>
  Schema.decodeUnknownSync(kinds[liveKindOf(mechanism)].Configuration)(mechanism.configuration)

/** Every mechanism was created as a kind that has rules. */
const liveKindOf = ({ identity }: StoredMechanism): LiveKind => {
  if (isLiveKind(identity.kind)) return identity.kind
  throw new Error(`no rules for a ${identity.kind}`)
}

/** The status's own fields beside the common ones. */
const consumerOf = ({ fields, ...common }: ConsumerPlace) => ({ ...fields, ...common })

/** Where a mechanism stands as far as its record tells. */
const lifecycleOf = (
  { status }: StoredMechanism,
  { openAt, closeAt }: { readonly openAt?: Millis; readonly closeAt?: Millis },
  now: Millis
): Lifecycle => {
  if (status.teardownStatus === "completed") return "closed"
  if (status.teardownStatus === "pending" || (closeAt !== undefined && closeAt <= now)) return "settling"
  return openAt !== undefined && openAt > now ? "scheduled" : "open"
}
