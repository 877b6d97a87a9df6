/**
 * Consumers on the Admin API: what each operation does.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { parseEmail, parsePhone } from "../../auth/Addresses.ts"
import { Consumers } from "../../auth/Consumers.ts"
import { Protection } from "../../auth/Protection.ts"
import { defaults, Settings } from "../../domain/Consumer.ts"
import { keyFields, type Upsert } from "../../store/ConsumerMatching.ts"
import { type AmbiguousRows, ConsumerRecords, type KeyTaken } from "../../store/ConsumerRecords.ts"
import { CurrentTenant } from "../Credentials.ts"
import { Conflict, type Issue, type ValidationError } from "../Errors.ts"
import { issueAt, issuesMax } from "../Issues.ts"
import { orNotFound, orServiceUnavailable } from "../Refusals.ts"
import { invalidInput } from "../Validation.ts"
import { AdminApi } from "./Api.ts"
import type { ConsumerBatch, ConsumerSettings } from "./ConsumerApi.ts"
import { orInvalidPage } from "./Lists.ts"
import { withChanges } from "./Payloads.ts"

export const ConsumerHandlers = HttpApiBuilder.group(
  AdminApi,
  "consumers",
  Effect.fnUntraced(function* (handlers) {
    const records = yield* ConsumerRecords
    const consumers = yield* Consumers
    const protection = yield* Protection

    return handlers.handleAll({
      createConsumer: Effect.fnUntraced(
        function* ({ payload }) {
          const { tenant, by } = yield* CurrentTenant
          const [changes] = yield* readAll(payload, [{ path: [], sent: payload }])
          return yield* records.create(tenant, by, revised(defaults, changes!))
        },
        orConflict,
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
        orConflict,
        orNotFound,
        orServiceUnavailable
      ),

      archiveConsumer: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* records.archive(tenant, id, by).pipe(Effect.tap(consumers.archived(tenant, id)))
        },
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

const conflicts = {
  email: { error: "Email is another consumer's", code: "EMAIL_TAKEN" },
  phone: { error: "Phone number is another consumer's", code: "PHONE_TAKEN" },
  externalId: { error: "External id is another consumer's", code: "EXTERNAL_ID_TAKEN" }
} as const

/** Turns what another consumer has into a 409. */
function orConflict<A, E, R>(
  effect: Effect.Effect<A, E | KeyTaken, R>
): Effect.Effect<A, Exclude<E, KeyTaken> | Conflict, R> {
  return Effect.catchTag(effect as Effect.Effect<A, KeyTaken, R>, "KeyTaken", ({ field }) =>
    Effect.fail(new Conflict(conflicts[field]))
  ) as Effect.Effect<A, Exclude<E, KeyTaken> | Conflict, R>
}

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
