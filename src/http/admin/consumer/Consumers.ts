/**
 * Consumers on the Admin API: what each operation does.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseEmail, parsePhone } from "../../../auth/codes/Addresses.ts"
import { Consumers } from "../../../auth/sessions/Consumers.ts"
import { ConsumerSessions } from "../../../auth/sessions/ConsumerSessions.ts"
import { Protection } from "../../../auth/sessions/Protection.ts"
import { defaults, Settings } from "../../../domain/consumer/Consumer.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { removeConsumer } from "../../../engine/lifecycle/ConsumerRemoval.ts"
import { Engine } from "../../../engine/Engine.ts"
import { keyFields, type Upsert } from "../../../store/consumer/ConsumerMatching.ts"
import { ConsumerRecords } from "../../../store/consumer/ConsumerRecords.ts"
import type { AmbiguousRows } from "../../../store/consumer/ConsumerWrites.ts"
import { Places } from "../../../store/mechanism/Places.ts"
import type { RecordNotFound } from "../../../store/records/RecordNotFound.ts"
import { CurrentTenant } from "../../credentials/Credentials.ts"
import type { Issue, ValidationError } from "../../errors/Errors.ts"
import { issueAt, issuesMax } from "../../errors/Issues.ts"
import { orKeyTaken, orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { orBusy } from "../records/Answers.ts"
import { AdminApi } from "../Api.ts"
import type { ConsumerBatch, ConsumerSettings } from "./ConsumerApi.ts"
import { orInvalidPage } from "../records/Lists.ts"
import { withChanges } from "../records/Payloads.ts"

export const ConsumerHandlers = HttpApiBuilder.group(
  AdminApi,
  "consumers",
  Effect.fnUntraced(function* (handlers) {
    const records = yield* ConsumerRecords
    const consumers = yield* Consumers
    const sessions = yield* ConsumerSessions
    const protection = yield* Protection
    const places = yield* Places
    const engine = yield* Engine

    const removed = (tenant: Tenant, by: string, id: string) =>
      removeConsumer(tenant, by, id).pipe(Effect.provideService(Places, places), Effect.provideService(Engine, engine))

    /** A consumer that is archived and still has places: a request before this one was cut off. */
    const halfRemoved = Effect.fnUntraced(function* (tenant: Tenant, id: string, unknown: RecordNotFound) {
      const standing = yield* places.standing(tenant, id, [])
      return yield* standing.length === 0 ? unknown : records.findArchived(tenant, id)
    })

    return handlers.handleAll({
      createConsumer: Effect.fnUntraced(
        function* ({ payload }) {
          const { tenant, by } = yield* CurrentTenant
          const [changes] = yield* readAll(payload, [{ path: [], sent: payload }])
          return yield* records.create(tenant, by, revised(defaults, changes!))
        },
        orKeyTaken,
        orServiceUnavailable
      ),

      listConsumers: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        return yield* records.list(tenant, query).pipe(orInvalidPage(query))
      }, orServiceUnavailable),

      upsertConsumers: Effect.fnUntraced(function* ({ payload }) {
        const { tenant, by } = yield* CurrentTenant
        const rows = payload.consumers.map((sent, index) => ({ path: ["consumers", index], sent }))
        const upserts = (yield* readAll(payload, rows)).map(upsertOf)
        const data = yield* records.upsert(tenant, by, upserts).pipe(orAmbiguous(payload))
        yield* protection.consumersChanged(data.map(({ id }) => id))
        return { data }
      }, orServiceUnavailable),

      getConsumer: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant } = yield* CurrentTenant
          return yield* records.find(tenant, id)
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeConsumer: Effect.fnUntraced(
        function* ({ params: { id }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          const [changes] = yield* readAll(payload, [{ path: [], sent: payload }])
          return yield* records
            .change(tenant, id, by, (settings) => revised(settings, changes!))
            .pipe(Effect.tap(protection.consumersChanged([id])))
        },
        orKeyTaken,
        orNotFound,
        orServiceUnavailable
      ),

      archiveConsumer: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          const archived = yield* Effect.catchTag(records.archive(tenant, id, by), "RecordNotFound", (unknown) =>
            halfRemoved(tenant, id, unknown)
          )
          yield* consumers.archived(tenant, id)
          yield* removed(tenant, by, id)
          return archived
        },
        orNotFound,
        orBusy
      ),

      listConsumerSessions: Effect.fnUntraced(
        function* ({ params: { id }, query }) {
          const { tenant } = yield* CurrentTenant
          return yield* sessions.list(tenant, id, query).pipe(orInvalidPage(query))
        },
        orNotFound,
        orServiceUnavailable
      ),

      endConsumerSessions: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant } = yield* CurrentTenant
          return { ended: yield* sessions.endAll(tenant, id) }
        },
        orNotFound,
        orServiceUnavailable
      ),

      endConsumerSession: Effect.fnUntraced(
        function* ({ params: { id, sessionId } }) {
          const { tenant } = yield* CurrentTenant
          return yield* sessions.end(tenant, id, sessionId)
        },
        orNotFound,
        orServiceUnavailable
      ),

      restoreConsumer: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          yield* consumers.endSessionsOfArchived(tenant, id)
          return yield* records.restore(tenant, id, by).pipe(Effect.tap(consumers.restored(id)))
        },
        orKeyTaken,
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)

type Sent = typeof ConsumerSettings.Type
type Changes = { readonly [K in keyof Settings]?: Settings[K] | null }

/** What was sent, with addresses in the form in which they are kept; a 400 that names each phone number that no country has. */
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

/** The settings with the changes made. What is required has a default. */
const revised = (settings: Partial<Settings>, changes: Changes): Settings =>
  withChanges<Settings>(settings, changes, Settings.fields, defaults) as Settings

const upsertOf = (changes: Changes): Upsert => ({
  keys: Object.fromEntries(keyFields.map((field) => [field, changes[field] ?? undefined])),
  revise: (settings) => revised(settings, changes)
})

/** Turns rows of which it cannot be said whom they mean into a 400 that names each of them. */
const orAmbiguous =
  (payload: typeof ConsumerBatch.Type) =>
  <A, E, R>(
    effect: Effect.Effect<A, E | AmbiguousRows, R>
  ): Effect.Effect<A, Exclude<E, AmbiguousRows> | ValidationError, R> =>
    Effect.catchTag(effect as Effect.Effect<A, AmbiguousRows, R>, "AmbiguousRows", ({ rows }) =>
      Effect.fail(
        invalidInput(
          rows.slice(0, issuesMax).map(({ index, sameAs }) =>
            issueAt(payload, ["consumers", index], {
              kind: "validation",
              type: "picklist",
              expected:
                sameAs === undefined
                  ? "externalId, email and phone of one consumer"
                  : `another consumer than that of row ${sameAs}`
            })
          )
        )
      )
    ) as Effect.Effect<A, Exclude<E, AmbiguousRows> | ValidationError, R>
