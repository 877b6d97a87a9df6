/**
 * Mechanisms of any kind on the Admin API: what the six shared operations do. Records are read from their table;
 * whatever changes a mechanism goes through its actor.
 */
import { Effect, Schema } from "effect"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { RegionalDefaults } from "../../../domain/values/Locale.ts"
import type { AdminCommand, ConfigurationOf } from "../../../domain/mechanism/Mechanism.ts"
import type { Kind } from "../../../domain/mechanism/Decider.ts"
import { Creation } from "../../../engine/lifecycle/Creation.ts"
import { Engine, type EngineError, type Inspection } from "../../../engine/Engine.ts"
import { NoticeSchedule } from "../../../engine/lifecycle/NoticeSchedule.ts"
import { ExperienceProducts } from "../../../store/experience/ExperienceProducts.ts"
import {
  type MechanismFilter,
  Mechanisms,
  type shape,
  type StoredMechanism
} from "../../../store/mechanism/Mechanisms.ts"
import type { PageQuery } from "../../../store/records/Pagination.ts"
import { CurrentTenant } from "../../credentials/Credentials.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { makeOneAtATime } from "../../server/OneAtATime.ts"
import { labels, orAnswer, orNotFound, orServiceUnavailable, type Refusal } from "../../errors/Refusals.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { completed, issuesWith, type KindOfMechanism } from "./KindOfMechanism.ts"
import { orInvalidPage } from "../records/Lists.ts"
import { mechanismRecord } from "./MechanismRecord.ts"

/** The handlers of the operations that `mechanismGroup` declares. */
export const makeHandlers = Effect.fnUntraced(function* <K extends Kind, Sent>(what: KindOfMechanism<K>) {
  const creation = yield* Creation
  const engine = yield* Engine
  const mechanisms = yield* Mechanisms
  const notices = yield* NoticeSchedule
  const products = yield* ExperienceProducts
  const { kind } = what
  const decode = Schema.decodeUnknownSync(what.Configuration)
  const unknown = NotFound.of(labels[kind])

  // A change says only what differs, and is completed from what is there: two at once must not undo each other.
  const oneAtATime = makeOneAtATime()

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
  const revised = Effect.fnUntraced(function* (
    below: { readonly tenant: Tenant; readonly experienceId: string },
    configuration: Partial<ConfigurationOf<K>>,
    changes: object,
    around: RegionalDefaults
  ) {
    const next = completed(what, configuration, changes, around)
    // What a mechanism names already it goes on with, also if the experience offers it no more.
    const before = new Set(what.variants?.(configuration))
    const variantIds = (what.variants?.(next) ?? []).filter((id) => !before.has(id))
    const notOffered =
      variantIds.length === 0
        ? new Set<string>()
        : yield* products.variantsNotOffered(below.tenant, below.experienceId, variantIds)
    const issues = issuesWith(what, next, notOffered)
    return issues.length > 0 ? yield* invalidInput(issues) : next
  })

  const sendAdmin = (tenant: Tenant, id: string, command: AdminCommand<Kind>) =>
    orAnswer(kind)(
      engine.sendAdmin({ kind, id, tenant }, command as AdminCommand<K>) as Effect.Effect<
        Inspection<K>,
        Refusal | EngineError
      >
    ).pipe(Effect.tap(({ identity }) => notices.reschedule(identity)))

  const changeOne = Effect.fnUntraced(function* (tenant: Tenant, by: string, id: string, changes: object) {
    const { identity, configuration } = yield* orAnswer(kind)(engine.inspect({ kind, id, tenant }))
    const around = yield* mechanisms.surroundings(tenant, id)
    const below = { tenant, experienceId: identity.experienceId }
    const next = yield* revised(below, configuration, changes, around)
    const configure = { _tag: "Configure", configuration: next, by } as AdminCommand<Kind>
    yield* sendAdmin(tenant, id, configure)
  })

  return {
    create: Effect.fnUntraced(
      function* ({ payload }: { readonly payload: object & { readonly sequenceId: string } }) {
        const { tenant, by } = yield* CurrentTenant
        const id = yield* creation.create(tenant, by, {
          kind,
          sequenceId: payload.sequenceId,
          configure: (parents) => revised({ tenant, experienceId: parents.experienceId }, {}, payload, parents)
        })
        return recordOf(yield* stored(tenant, id))
      },
      Effect.catchTag("WaitlistExists", () => Effect.fail(waitlistExists)),
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
      yield* sendAdmin(tenant, id, { _tag: "Archive", by })
      return recordOf(yield* stored(tenant, id))
    }, orServiceUnavailable),

    end: Effect.fnUntraced(function* ({ params: { id } }: OfOne) {
      const { tenant, by } = yield* CurrentTenant
      yield* sendAdmin(tenant, id, { _tag: "End", by })
      return recordOf(yield* current(tenant, id))
    }, orServiceUnavailable)
  }
})

const waitlistExists = new Conflict({ error: "Sequence has a waitlist already", code: "WAITLIST_EXISTS" })

interface OfOne {
  readonly params: { readonly id: string }
}
