/**
 * The handlers of the operations that mechanisms of all kinds have on the Admin API. They read records from the table
 * and send every change to the mechanism's actor.
 */
import { Effect, Schema } from "effect"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { RegionalDefaults } from "../../../domain/values/Locale.ts"
import { type AdminCommand, type ConfigurationOf, type Kind, kindNames } from "../../../domain/mechanism/Mechanism.ts"
import { Creation, stockOf } from "../../../engine/lifecycle/Creation.ts"
import { addTaker } from "../../../engine/lifecycle/StockTakers.ts"
import { Engine } from "../../../engine/Engine.ts"
import { makeMutex } from "../../../engine/lifecycle/Mutex.ts"
import { NoticeSchedule } from "../../../engine/lifecycle/NoticeSchedule.ts"
import type { WaitlistExists } from "../../../store/experience/CreateInSequence.ts"
import { ExperienceProducts } from "../../../store/experience/ExperienceProducts.ts"
import {
  type MechanismFilter,
  Mechanisms,
  type shape,
  type StoredMechanism
} from "../../../store/mechanism/Mechanisms.ts"
import { Stocks } from "../../../store/stock/Stocks.ts"
import type { PageQuery } from "../../../store/records/Pagination.ts"
import { answering } from "../../errors/Answering.ts"
import { Conflict, NotFound, ServiceUnavailable } from "../../../api/Errors.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { orInvalidPage } from "../records/Refusals.ts"
import { completed, issuesWith, type KindOfMechanism, kindsOfMechanism, type RecordOf } from "./Kinds.ts"
import { forTenant, onRecord } from "../records/Operations.ts"
import { mechanismRecord } from "./MechanismRecord.ts"
import * as Notes from "../steering/Notes.ts"
import * as Unparking from "../steering/Unparking.ts"
import { reasonOf, type Why } from "../../../api/admin/SteeringApi.ts"

/** Attempts of a change while changes at other nodes come first. */
const attemptsMax = 20

/** The handlers of the operations that `mechanismGroup` declares. */
export const makeHandlers = Effect.fnUntraced(function* <K extends Kind>(kind: K) {
  const what: KindOfMechanism<K> = kindsOfMechanism[kind]
  const creation = yield* Creation
  const mechanisms = yield* Mechanisms
  const { recordOf, stored, current } = yield* makeRecords(what)
  const revised = yield* makeRevised(what)
  const sendAdmin = yield* makeSendAdmin(kind)
  const change = yield* makeChange(what)
  const unpark = yield* Unparking.make
  const noted = makeNoted(yield* Notes.make, (tenant, id) => Effect.map(current(tenant, id), recordOf))

  return {
    create: ({ payload }: { readonly payload: object & { readonly sequenceId: string } }) =>
      forTenant((tenant, by) =>
        creation
          .create(tenant, by, {
            kind,
            sequenceId: payload.sequenceId,
            configure: (parents) => revised({ tenant, experienceId: parents.experienceId }, {}, payload, parents)
          })
          .pipe(
            orWaitlistExists,
            Effect.flatMap((id) => stored(tenant, id)),
            Effect.map(recordOf)
          )
      ),

    list: ({ query }: { readonly query: PageQuery<keyof typeof shape.sorts> & MechanismFilter }) =>
      forTenant((tenant) =>
        mechanisms.list(tenant, kind, query, query).pipe(
          orInvalidPage(query as { readonly [parameter: string]: unknown }),
          Effect.map(({ data, pageInfo }) => ({ data: data.map(recordOf), pageInfo }))
        )
      ),

    get: onRecord((tenant, id) => Effect.map(current(tenant, id), recordOf)),

    change: ({ params: { id }, payload }: OfOne & { readonly payload: object & Why }) =>
      forTenant((tenant, by) => change(tenant, by, id, payload).pipe(noted(tenant, by, id, "change", payload))),

    archive: onRecord((tenant, id, by) =>
      sendAdmin(tenant, id, { _tag: "Archive", by }).pipe(
        orAnswer(kind),
        Effect.andThen(stored(tenant, id)),
        Effect.map(recordOf)
      )
    ),

    end: ({ params: { id }, payload }: OfOne & { readonly payload: Why | null }) =>
      forTenant((tenant, by) =>
        sendAdmin(tenant, id, { _tag: "End", by, ...reasonOf(payload) }).pipe(
          orAnswer(kind),
          noted(tenant, by, id, "end", payload)
        )
      ),

    unpark: ({ params: { id }, payload }: OfOne & { readonly payload: Why | null }) =>
      forTenant((tenant, by) => Effect.map(unpark(current(tenant, id), by, payload), recordOf))
  }
})

/** Makes the function that keeps the note of an action and answers the record after it. */
const makeNoted =
  <A, E, R>(keep: Effect.Success<typeof Notes.make>, shown: (tenant: Tenant, id: string) => Effect.Effect<A, E, R>) =>
  (tenant: Tenant, by: string, distributionId: string, action: "change" | "end", why: Why | null) =>
    Effect.andThen(Effect.andThen(keep(tenant, by, { ...why, distributionId, action }), shown(tenant, distributionId)))

/** Reads mechanisms of the kind from their table. Fails with a 404 for those of another kind. */
const makeRecords = Effect.fnUntraced(function* <K extends Kind>(what: KindOfMechanism<K>) {
  const mechanisms = yield* Mechanisms
  const decode = Schema.decodeUnknownSync(what.Configuration)
  const unknown = NotFound.of(kindNames[what.kind])

  const stored = Effect.fnUntraced(function* (tenant: Tenant, id: string) {
    const found = yield* mechanisms.find(tenant, id)
    return found?.identity.kind === what.kind ? found : yield* unknown
  })

  return {
    recordOf: (mechanism: StoredMechanism) =>
      mechanismRecord(mechanism, decode(mechanism.configuration), mechanism.status, what) as object as RecordOf<K>,
    stored,
    /** A mechanism that is not archived. */
    current: Effect.fnUntraced(function* (tenant: Tenant, id: string) {
      const found = yield* stored(tenant, id)
      return found.status.archived ? yield* unknown : found
    })
  }
})

/** Makes the configuration with the changes made. Fails with a 400 if it makes no sense. */
const makeRevised = Effect.fnUntraced(function* <K extends Kind>(what: KindOfMechanism<K>) {
  const products = yield* ExperienceProducts
  const stocks = yield* Stocks
  return Effect.fnUntraced(function* (
    below: { readonly tenant: Tenant; readonly experienceId: string },
    configuration: Partial<ConfigurationOf<K>>,
    changes: object,
    around: RegionalDefaults
  ) {
    const next = completed(what, configuration, changes, around)
    const stockId = stockOf(next)
    if (stockId !== undefined && stockId !== stockOf(configuration)) yield* stocks.find(below.tenant, stockId)
    // A mechanism keeps the variants it names already, also if the experience no longer offers them.
    const before = new Set(what.variants?.(configuration))
    const variantIds = (what.variants?.(next) ?? []).filter((id) => !before.has(id))
    const notOffered =
      variantIds.length === 0
        ? new Set<string>()
        : yield* products.variantsNotOffered(below.tenant, below.experienceId, variantIds)
    const issues = issuesWith(what, next, notOffered, configuration)
    return issues.length > 0 ? yield* invalidInput(issues) : next
  })
})

/** Runs an admin's command, and has the notices of the mechanism's sequence scheduled again. */
const makeSendAdmin = Effect.fnUntraced(function* <K extends Kind>(kind: K) {
  const engine = yield* Engine
  const notices = yield* NoticeSchedule
  return (tenant: Tenant, id: string, command: AdminCommand<Kind>) =>
    engine
      .sendAdmin<Kind>({ kind, id, tenant }, command)
      .pipe(Effect.tap(({ identity }) => notices.reschedule(identity)))
})

/**
 * Makes the function that changes settings. A request contains only the changed fields, and the present configuration
 * completes it. Two changes at once, on any nodes, do not undo each other: the actor refuses the one that was derived
 * from a former configuration, and it is derived again.
 */
const makeChange = Effect.fnUntraced(function* <K extends Kind>(what: KindOfMechanism<K>) {
  const { kind } = what
  const engine = yield* Engine
  const mechanisms = yield* Mechanisms
  const revised = yield* makeRevised(what)
  const sendAdmin = yield* makeSendAdmin(kind)
  const listTaker = addTaker(engine)
  // So changes at one node need no second attempt.
  const oneAtATime = makeMutex()

  const change = Effect.fnUntraced(function* (tenant: Tenant, by: string, id: string, changes: object & Why) {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const { identity, configuration: from } = yield* orAnswer(kind)(engine.inspect({ kind, id, tenant }))
      const around = yield* mechanisms.surroundings(tenant, id)
      const configuration = yield* revised({ tenant, experienceId: identity.experienceId }, from, changes, around)
      const command = { _tag: "Configure", configuration, from, by, ...reasonOf(changes) } as const
      const isChanged = yield* sendAdmin(tenant, id, command).pipe(
        Effect.as(true),
        Effect.catchTag("ConfigurationChanged", () => Effect.succeed(false)),
        orAnswer(kind)
      )
      if (!isChanged) continue
      const stockId = stockOf(configuration)
      if (stockId !== undefined && stockId !== stockOf(from)) {
        yield* Effect.ignore(listTaker(tenant, by, stockId, id))
      }
      return
    }
    return yield* new ServiceUnavailable({ retryAfterSeconds: 1 })
  })

  return (tenant: Tenant, by: string, id: string, changes: object & Why) =>
    oneAtATime(id, change(tenant, by, id, changes))
})

const orWaitlistExists = answering({
  WaitlistExists: (_: WaitlistExists) =>
    new Conflict({ error: "Sequence has a waitlist already", code: "WAITLIST_EXISTS" })
})

interface OfOne {
  readonly params: { readonly id: string }
}
