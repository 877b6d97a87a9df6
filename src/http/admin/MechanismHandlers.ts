/**
 * Mechanisms of any kind on the Admin API: what the six shared operations do. Records are read from their table;
 * whatever changes a mechanism goes through its actor.
 */
import { Effect, Result, Schema, Semaphore } from "effect"
import type { Tenant } from "../../domain/Ids.ts"
import type { Surroundings } from "../../domain/Locale.ts"
import type { AdminCommand, ConfigurationOf, LiveKind } from "../../domain/Mechanism.ts"
import { Creation } from "../../engine/Creation.ts"
import { Engine, type EngineError, type Inspection } from "../../engine/Engine.ts"
import { NoticeSchedule } from "../../engine/NoticeSchedule.ts"
import { type MechanismFilter, Mechanisms, type shape, type StoredMechanism } from "../../store/Mechanisms.ts"
import type { PageQuery } from "../../store/Pagination.ts"
import { CurrentTenant } from "../Credentials.ts"
import { NotFound, type ValidationError } from "../Errors.ts"
import { labels, orAnswer, orNotFound, orServiceUnavailable, type Refusal } from "../Refusals.ts"
import { type Problem, problemsFound } from "./Answers.ts"
import { orInvalidPage } from "./Lists.ts"
import { mechanismRecord } from "./MechanismRecord.ts"
import { withChanges } from "./Payloads.ts"

/** What is special about a kind. */
export interface KindOfMechanism<K extends LiveKind> {
  readonly kind: K
  readonly Configuration: Schema.Codec<ConfigurationOf<K>, unknown>
  /** What can be set: the fields of the configuration, as `schemasOf` gives them. */
  readonly settings: Schema.Struct.Fields
  /** The names of what it publishes (`Decider.published`), which its record shows beside the settings, or null. */
  readonly published?: ReadonlyArray<string>
  /** What holds where an admin says nothing, beside what was said (completions 4); the time zone is filled in already. */
  readonly defaults: (said: Partial<ConfigurationOf<K>>, around: Surroundings) => Partial<ConfigurationOf<K>>
  /** What makes no sense between settings that are each in range. */
  readonly problems: (configuration: ConfigurationOf<K>) => ReadonlyArray<Problem>
  /** Fields of its recorded events that are not shown, given what it has published. */
  readonly secrets?: (published: { readonly [name: string]: unknown }) => ReadonlyArray<string>
}

/** Locks for changes, by the last two digits of the id: enough that unrelated mechanisms hardly ever share one. */
const lockCount = 256

/** The handlers of the operations that `mechanismGroup` declares. */
export const makeHandlers = Effect.fnUntraced(function* <K extends LiveKind, Sent>(what: KindOfMechanism<K>) {
  const creation = yield* Creation
  const engine = yield* Engine
  const mechanisms = yield* Mechanisms
  const notices = yield* NoticeSchedule
  const { kind, settings } = what
  const decode = Schema.decodeUnknownSync(what.Configuration)
  const unknown = NotFound.of(labels[kind])

  // A change says only what differs, and is completed from what is there: two at once must not undo each other.
  const locks = Array.from({ length: lockCount }, () => Semaphore.makeUnsafe(1))
  const oneAtATime = <A, E, R>(id: string, change: Effect.Effect<A, E, R>) =>
    Semaphore.withPermit(locks[Number.parseInt(id.slice(-2), 16)]!, change)

  const recordOf = (mechanism: StoredMechanism): Sent =>
    mechanismRecord(mechanism, decode(mechanism.configuration), mechanism.status, what) as Sent

  const stored = Effect.fnUntraced(function* (tenant: Tenant, id: string) {
    const found = yield* mechanisms.find(tenant, id)
    return found?.identity.kind === kind ? found : yield* unknown
  })

  const current = Effect.fnUntraced(function* (tenant: Tenant, id: string) {
    const found = yield* stored(tenant, id)
    return found.status.archived ? yield* unknown : found
  })

  /** The configuration with the changes made, if it makes sense. */
  const revised = (
    configuration: Partial<ConfigurationOf<K>>,
    changes: object,
    around: Surroundings
  ): Result.Result<ConfigurationOf<K>, ValidationError> => {
    const said = withChanges<object>(configuration, changes, settings, {}) as Partial<ConfigurationOf<K>>
    // Every required setting is in the payload of a creation, in the defaults, or in what is there already.
    const next = { timeZone: around.timeZone, ...what.defaults(said, around), ...said } as ConfigurationOf<K>
    const problems = what.problems(next)
    return problems.length > 0 ? Result.fail(problemsFound(problems, next as object)) : Result.succeed(next)
  }

  const administer = (tenant: Tenant, id: string, command: AdminCommand<LiveKind>) =>
    orAnswer(kind)(
      engine.administer({ kind, id, tenant }, command as AdminCommand<K>) as Effect.Effect<
        Inspection<K>,
        Refusal | EngineError
      >
    ).pipe(Effect.tap(({ identity }) => notices.reschedule(identity)))

  const changeOne = Effect.fnUntraced(function* (tenant: Tenant, by: string, id: string, changes: object) {
    const { configuration } = yield* orAnswer(kind)(engine.inspect({ kind, id, tenant }))
    const around = yield* mechanisms.surroundings(tenant, id)
    const next = yield* Effect.fromResult(revised(configuration as Partial<ConfigurationOf<K>>, changes, around))
    const configure = { _tag: "Configure", configuration: next, by } as AdminCommand<LiveKind>
    yield* administer(tenant, id, configure)
  })

  return {
    create: Effect.fnUntraced(
      function* ({ payload }: { readonly payload: object & { readonly sequenceId: string } }) {
        const { tenant, by } = yield* CurrentTenant
        const id = yield* creation.create(tenant, by, {
          kind,
          sequenceId: payload.sequenceId,
          configure: (parents) => Effect.fromResult(revised({}, payload, parents))
        })
        return recordOf(yield* stored(tenant, id))
      },
      orNotFound,
      orServiceUnavailable
    ),

    list: Effect.fnUntraced(function* ({
      query
    }: {
      readonly query: PageQuery<keyof typeof shape.sorts> & MechanismFilter
    }) {
      const { tenant } = yield* CurrentTenant
      const { data, pageInfo } = yield* mechanisms
        .list(tenant, kind, query, query)
        .pipe(orInvalidPage(query as { readonly [parameter: string]: unknown }))
      return { data: data.map(recordOf), pageInfo }
    }, orServiceUnavailable),

    get: Effect.fnUntraced(function* ({ params: { id } }: OfOne) {
      const { tenant } = yield* CurrentTenant
      return recordOf(yield* current(tenant, id))
    }, orServiceUnavailable),

    change: Effect.fnUntraced(function* ({ params: { id }, payload }: OfOne & { readonly payload: object }) {
      const { tenant, by } = yield* CurrentTenant
      yield* oneAtATime(id, changeOne(tenant, by, id, payload))
      return recordOf(yield* current(tenant, id))
    }, orServiceUnavailable),

    archive: Effect.fnUntraced(function* ({ params: { id } }: OfOne) {
      const { tenant, by } = yield* CurrentTenant
      yield* administer(tenant, id, { _tag: "Archive", by })
      return recordOf(yield* stored(tenant, id))
    }, orServiceUnavailable),

    end: Effect.fnUntraced(function* ({ params: { id } }: OfOne) {
      const { tenant, by } = yield* CurrentTenant
      yield* administer(tenant, id, { _tag: "End", by })
      return recordOf(yield* current(tenant, id))
    }, orServiceUnavailable)
  }
})

interface OfOne {
  readonly params: { readonly id: string }
}
