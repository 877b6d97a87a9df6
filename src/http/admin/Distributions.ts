/**
 * What happens in a mechanism, for an admin to watch: what each operation does.
 */
import { Clock, Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Tenant } from "../../domain/Ids.ts"
import { isLiveKind, type LiveKind } from "../../domain/Mechanism.ts"
import { Engine, type Inspection } from "../../engine/Engine.ts"
import { History, type HistoryEntry } from "../../store/History.ts"
import { lifecycleOf, Mechanisms, type StoredMechanism } from "../../store/Mechanisms.ts"
import { type ConsumerPlace, Places } from "../../store/Places.ts"
import { CurrentTenant } from "../Credentials.ts"
import { NotFound } from "../Errors.ts"
import { orBusy } from "./Answers.ts"
import { AdminApi } from "./Api.ts"
import type { Distribution, Live } from "./DistributionApi.ts"
import { orInvalidPage } from "./Lists.ts"
import { kinds } from "./Kinds.ts"
import { mechanismRecord } from "./MechanismRecord.ts"

/** Mechanisms of a list that are asked at the same time. */
const inspectionsAtOnce = 8

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

    const recorded = (mechanism: StoredMechanism) =>
      Effect.map(Clock.currentTimeMillis, (now) => ({
        configuration: configurationOf(mechanism),
        status: mechanism.status,
        lifecycle: lifecycleOf(mechanism, now),
        live: null
      }))

    /** What can be said of a mechanism whose actor stands still. */
    const parked = Effect.fnUntraced(function* (mechanism: StoredMechanism, restarts: number) {
      const { counts, lastSequence } = yield* mechanisms.tally(mechanism.identity, mechanism.identity.id)
      const live = { counts, entriesPerMinute: 0, grantsPerMinute: 0, lastSequence, node: null, restarts, parked: true }
      return { ...(yield* recorded(mechanism)), live }
    })

    const standing = (mechanism: StoredMechanism) =>
      engine
        .inspect({ kind: liveKindOf(mechanism), id: mechanism.identity.id, tenant: mechanism.identity })
        .pipe(Effect.catchTag("Parked", ({ restarts }) => parked(mechanism, restarts)))

    /** One of many: what is over is not started again to be asked, and what cannot answer now does not spoil the list. */
    const listed = (mechanism: StoredMechanism) =>
      (mechanism.status.teardownStatus === "completed"
        ? recorded(mechanism)
        : Effect.catch(standing(mechanism), () => recorded(mechanism))
      ).pipe(Effect.map((found) => distributionOf(mechanism, found)))

    return handlers.handleAll({
      listDistributions: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        const { data, pageInfo } = yield* mechanisms.listDistributions(tenant, query, query).pipe(orInvalidPage(query))
        return { data: yield* Effect.forEach(data, listed, { concurrency: inspectionsAtOnce }), pageInfo }
      }, orBusy),

      getDistribution: Effect.fnUntraced(function* ({ params: { id } }) {
        const { tenant } = yield* CurrentTenant
        const mechanism = yield* current(tenant, id)
        // Archived in this moment.
        const found = yield* Effect.catchTag(standing(mechanism), "MechanismNotFound", () => notFound)
        return distributionOf(mechanism, found)
      }, orBusy),

      listDistributionConsumers: Effect.fnUntraced(function* ({ params: { id }, query }) {
        const { tenant } = yield* CurrentTenant
        yield* current(tenant, id)
        const { data, pageInfo } = yield* places.list(tenant, id, query, query).pipe(orInvalidPage(query))
        return { data: data.map(consumerOf), pageInfo }
      }, orBusy),

      listDistributionHistory: Effect.fnUntraced(function* ({ params: { id }, query }) {
        const { tenant } = yield* CurrentTenant
        const mechanism = yield* current(tenant, id)
        const { data, pageInfo } = yield* history.list(tenant, id, query, query).pipe(orInvalidPage(query))
        const secrets = kinds[liveKindOf(mechanism)].secrets?.(mechanism.configuration) ?? []
        return { data: secrets.length === 0 ? data : data.map((entry) => withoutSecrets(entry, secrets)), pageInfo }
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

/** The mechanism's record with what happens in it. */
const distributionOf = (
  mechanism: StoredMechanism,
  {
    configuration,
    status,
    lifecycle,
    live
  }: Pick<Inspection<LiveKind>, "configuration" | "status" | "lifecycle"> & {
    readonly live: typeof Live.Type | null
  }
) => {
  const kind = liveKindOf(mechanism)
  const record = mechanismRecord(mechanism, configuration, status, kinds[kind])
  return { ...record, type: kind, lifecycle, live } as typeof Distribution.Type
}

const withoutSecrets = (entry: HistoryEntry, secrets: ReadonlyArray<string>): HistoryEntry => ({
  ...entry,
  data: Object.fromEntries(Object.entries(entry.data).filter(([name]) => !secrets.includes(name)))
})

/** The status's own fields beside the common ones. */
const consumerOf = ({ fields, ...common }: ConsumerPlace) => ({ ...fields, ...common })
