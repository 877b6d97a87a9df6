/** The handlers of consumers on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseEmail, parsePhone } from "../../../domain/consumer/Address.ts"
import { Consumers } from "../../../auth/sessions/Consumers.ts"
import { ConsumerSessions } from "../../../auth/sessions/ConsumerSessions.ts"
import { Protection } from "../../../auth/sessions/Protection.ts"
import { defaults, Settings } from "../../../domain/consumer/Consumer.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { removeConsumer } from "../../../engine/lifecycle/ConsumerRemoval.ts"
import type { Engine } from "../../../engine/Engine.ts"
import { ConsumerExports } from "../../../store/privacy/ConsumerExports.ts"
import { Erasures } from "../../../store/privacy/Erasures.ts"
import { keyFields, type Upsert } from "../../../store/consumer/ConsumerMatching.ts"
import { ConsumerRecords } from "../../../store/consumer/ConsumerRecords.ts"
import type { AmbiguousRows } from "../../../store/consumer/ConsumerWrites.ts"
import { ConsumerPlaces, type PlaceOfConsumer } from "../../../store/mechanism/ConsumerPlaces.ts"
import { Places } from "../../../store/mechanism/Places.ts"
import type { Page } from "../../../store/records/Pagination.ts"
import type { RecordNotFound } from "../../../store/records/RecordNotFound.ts"
import { answering } from "../../errors/Answering.ts"
import type { Issue } from "../../../api/Errors.ts"
import { issueAt, issuesMax } from "../../errors/Issues.ts"
import { orKeyTaken } from "../../errors/Refusals.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import type { ConsumerBatch, ConsumerSettings } from "../../../api/admin/ConsumersApi.ts"
import { orInvalidPage } from "../records/Refusals.ts"
import { revising } from "../records/Settings.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"

export const ConsumerHandlers = HttpApiBuilder.group(AdminApi, "consumers", (handlers) =>
  Effect.gen(function* () {
    const records = yield* ConsumerRecords
    const consumers = yield* Consumers
    const sessions = yield* ConsumerSessions
    const protection = yield* Protection
    const places = yield* ConsumerPlaces

    const exports = yield* ConsumerExports

    const { archive, erase } = yield* makeArchive
    const upsert = yield* makeUpsert

    return handlers.handleAll({
      createConsumer: ({ payload }) =>
        forTenant((tenant, by) =>
          Effect.flatMap(readOne(payload), (changes) => records.create(tenant, by, revised(defaults, changes))).pipe(
            orKeyTaken
          )
        ),

      listConsumers: onList(records.list),

      upsertConsumers: ({ payload }) => forTenant((tenant, by) => upsert(tenant, by, payload)),

      getConsumer: onRecord(records.find),

      changeConsumer: ({ params: { id }, payload }) =>
        forTenant((tenant, by) =>
          readOne(payload).pipe(
            Effect.flatMap((changes) => records.change(tenant, id, by, (settings) => revised(settings, changes))),
            Effect.tap(protection.consumersChanged([id])),
            orKeyTaken
          )
        ),

      archiveConsumer: ({ params: { id }, query }) =>
        forTenant((tenant, by) => (query.erase === true ? erase(tenant, id, by) : archive(tenant, id, by))),

      exportConsumer: onRecord(exports.collect),

      listConsumerSessions: ({ params: { id }, query }) =>
        forTenant((tenant) => sessions.list(tenant, id, query).pipe(orInvalidPage(query))),

      listConsumerPlaces: ({ params: { id }, query }) =>
        forTenant((tenant) =>
          places.list(tenant, id, query).pipe(orInvalidPage(query), Effect.map(withFieldsOfStatus))
        ),

      endConsumerSessions: onRecord((tenant, id) => Effect.map(sessions.endAll(tenant, id), (ended) => ({ ended }))),

      endConsumerSession: ({ params: { id, sessionId } }) => forTenant((tenant) => sessions.end(tenant, id, sessionId)),

      restoreConsumer: onRecord((tenant, id, by) =>
        consumers
          .endSessionsOfArchived(tenant, id)
          .pipe(Effect.andThen(records.restore(tenant, id, by)), Effect.tap(consumers.restored(id)), orKeyTaken)
      )
    })
  })
)

const withFieldsOfStatus = ({ data, pageInfo }: Page<PlaceOfConsumer>) => ({
  data: data.map(({ fields, ...common }) => ({ ...fields, ...common })),
  pageInfo
})

/** Makes the function that creates and changes many consumers. */
const makeUpsert = Effect.gen(function* () {
  const records = yield* ConsumerRecords
  const protection = yield* Protection

  return Effect.fnUntraced(function* (tenant: Tenant, by: string, payload: typeof ConsumerBatch.Type) {
    const rows = payload.consumers.map((sent, index) => ({ path: ["consumers", index], sent }))
    const upserts = (yield* readAll(payload, rows)).map(upsertOf)
    const data = yield* records.upsert(tenant, by, upserts).pipe(orAmbiguous(payload))
    yield* protection.consumersChanged(data.map(({ id }) => id))
    return { data }
  })
})

/** Makes the functions that archive a consumer, end its sessions, take it out of all mechanisms, and erase it. */
const makeArchive = Effect.gen(function* () {
  const records = yield* ConsumerRecords
  const consumers = yield* Consumers
  const places = yield* Places
  const erasures = yield* Erasures
  const removal = yield* Effect.context<Places | Engine>()

  /** Finds an archived consumer that still has places, because an earlier request was interrupted. */
  const halfRemoved = Effect.fnUntraced(function* (tenant: Tenant, id: string, unknown: RecordNotFound) {
    const unfinished = yield* places.unfinished(tenant, id, [])
    return yield* unfinished.length === 0 ? unknown : records.findArchived(tenant, id)
  })

  const archive = Effect.fnUntraced(function* (tenant: Tenant, id: string, by: string) {
    const archived = yield* Effect.catchTag(records.archive(tenant, id, by), "RecordNotFound", (unknown) =>
      halfRemoved(tenant, id, unknown)
    )
    yield* consumers.archived(tenant, id)
    yield* removeConsumer(tenant, by, id)
    return archived
  }, Effect.provideContext(removal))

  const erase = (tenant: Tenant, id: string, by: string) =>
    archive(tenant, id, by).pipe(
      // It may be archived already.
      Effect.catchTag("RecordNotFound", () => Effect.void),
      Effect.andThen(erasures.erase(tenant, id, by))
    )

  return { archive, erase }
})

type Sent = typeof ConsumerSettings.Type
type Changes = { readonly [K in keyof Settings]?: Settings[K] | null }

/**
 * The changes that bodies ask for, with addresses in the form in which they are stored. Fails with a 400 that names
 * each phone number that is not valid in any country.
 */
const readAll = Effect.fnUntraced(function* (
  body: { readonly [key: string]: unknown },
  rows: ReadonlyArray<{ readonly path: ReadonlyArray<string | number>; readonly sent: Sent }>
) {
  const issues: Array<Issue> = []
  const changes = rows.map(({ path, sent: { defaultCountry, email, phone, ...rest } }): Changes => {
    const number = typeof phone === "string" ? parsePhone(phone, defaultCountry ?? undefined)?.value : phone
    if (typeof phone === "string" && number === undefined) {
      issues.push(issueAt(body, [...path, "phone"], { kind: "validation", type: "phone", expected: "a phone number" }))
    }
    const address = typeof email === "string" ? parseEmail(email)?.value : email
    return { ...rest, ...(address !== undefined && { email: address }), ...(number !== undefined && { phone: number }) }
  })
  return issues.length > 0 ? yield* invalidInput(issues.slice(0, issuesMax)) : changes
})

/** The changes that a body for one consumer asks for. */
const readOne = (sent: Sent) => Effect.map(readAll(sent, [{ path: [], sent }]), ([changes]) => changes!)

const revised = revising<Settings>(Settings.fields, defaults)

const upsertOf = (changes: Changes): Upsert => ({
  keys: Object.fromEntries(keyFields.map((field) => [field, changes[field] ?? undefined])),
  revise: (settings) => revised(settings, changes)
})

/** Turns rows that do not identify one consumer each into a 400 that names each of them. */
const orAmbiguous = (payload: typeof ConsumerBatch.Type) =>
  answering({
    AmbiguousRows: ({ rows }: AmbiguousRows) =>
      invalidInput(
        rows.slice(0, issuesMax).map(({ index, sameAs }) =>
          issueAt(payload, ["consumers", index], {
            kind: "validation",
            type: "picklist",
            expected:
              sameAs === undefined
                ? "externalId, email and phone of one consumer"
                : `another consumer than row ${sameAs} names`
          })
        )
      )
  })
