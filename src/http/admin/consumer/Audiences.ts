/**
 * Audiences on the Admin API: what each operation does.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Protection } from "../../../auth/sessions/Protection.ts"
import type { AudienceType } from "../../../domain/consumer/Audience.ts"
import { type AudienceRules, problemsOf } from "../../../domain/consumer/AudienceRules.ts"
import {
  type AudienceIsDynamic,
  AudienceMembers,
  type UnknownConsumers
} from "../../../store/consumer/AudienceMembers.ts"
import { Audiences, type AudienceTypeFixed } from "../../../store/consumer/Audiences.ts"
import { CurrentTenant } from "../../credentials/Credentials.ts"
import { Conflict, type ValidationError } from "../../errors/Errors.ts"
import { issueAt, issuesMax } from "../../errors/Issues.ts"
import { orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { AdminApi } from "../Api.ts"
import type { ChangeAudience, ConsumerIds, CreateAudience } from "./AudienceApi.ts"
import { orInvalidPage } from "../records/Lists.ts"
import { orInUse } from "../records/References.ts"

export const AudienceHandlers = HttpApiBuilder.group(
  AdminApi,
  "audiences",
  Effect.fnUntraced(function* (handlers) {
    const audiences = yield* Audiences
    const members = yield* AudienceMembers
    const protection = yield* Protection

    return handlers.handleAll({
      createAudience: Effect.fnUntraced(function* ({ payload }) {
        const { tenant, by } = yield* CurrentTenant
        return yield* audiences.create(tenant, by, yield* settingsOf(payload))
      }, orServiceUnavailable),

      listAudiences: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        return yield* audiences.list(tenant, query).pipe(orInvalidPage(query))
      }, orServiceUnavailable),

      getAudience: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant } = yield* CurrentTenant
          return yield* audiences.find(tenant, id)
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeAudience: Effect.fnUntraced(
        function* ({ params: { id }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          const changed = audiences.change(tenant, id, by, yield* changesOf(payload))
          return payload.rules === undefined ? yield* changed : yield* Effect.tap(changed, protection.changed())
        },
        orFixed,
        orNotFound,
        orServiceUnavailable
      ),

      archiveAudience: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* inUse(yield* audiences.archive(tenant, id, by))
        },
        orNotFound,
        orServiceUnavailable
      ),

      restoreAudience: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* audiences.restore(tenant, id, by)
        },
        orNotFound,
        orServiceUnavailable
      ),

      listAudienceMembers: Effect.fnUntraced(
        function* ({ params: { id }, query }) {
          const { tenant } = yield* CurrentTenant
          return yield* members.list(tenant, id, query).pipe(orInvalidPage(query))
        },
        orNotFound,
        orServiceUnavailable
      ),

      addAudienceMembers: Effect.fnUntraced(
        function* ({ params: { id }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* members.add(tenant, id, by, payload.consumerIds).pipe(orInvalidIds(payload))
        },
        orFixed,
        orNotFound,
        orServiceUnavailable
      ),

      removeAudienceMembers: Effect.fnUntraced(
        function* ({ params: { id }, payload }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* members
            .remove(tenant, id, by, payload.consumerIds)
            .pipe(orInvalidIds(payload), Effect.tap(protection.changed()))
        },
        orFixed,
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)

type Sent = typeof CreateAudience.Type | typeof ChangeAudience.Type

/** A 400 that names every rule that makes no sense. */
const checked = (sent: Sent) => {
  const problems = sent.rules ? problemsOf(sent.rules) : []
  if (problems.length === 0) return Effect.void
  const issues = problems.map(({ path, type, expected }) =>
    issueAt(sent, ["rules", ...path], { kind: "validation", type, expected })
  )
  return Effect.fail(invalidInput(issues.slice(0, issuesMax)))
}

const inUse = orInUse({ record: "Audience", code: "AUDIENCE_IN_USE", users: "sequence(s)" })

/** Which type rules go with, and which none. */
const typeWith = (rules: AudienceRules | null | undefined): AudienceType => (rules ? "DYNAMIC" : "STATIC")

/** A 400 where a type is named with which these rules, or none, do not go together. */
const agreeing = (sent: Sent) => {
  const { rules, type } = sent
  if (!type || type === typeWith(rules)) return Effect.void
  const found = rules
    ? ({ kind: "validation", type: "object", expected: "null, because the type is STATIC" } as const)
    : ({ kind: "schema", type: "object", expected: "object" } as const)
  return Effect.fail(invalidInput([issueAt(sent, "rules", found)]))
}

/** What a new audience is. */
const settingsOf = Effect.fnUntraced(function* (sent: typeof CreateAudience.Type) {
  yield* checked(sent)
  yield* agreeing(sent)
  return { name: sent.name, ...(sent.rules && { rules: sent.rules }) }
})

/** What becomes of an audience, and of which type it is taken to be. */
const changesOf = Effect.fnUntraced(function* (sent: typeof ChangeAudience.Type) {
  yield* checked(sent)
  const { name, rules } = sent
  if (rules !== undefined) yield* agreeing(sent)
  return {
    type: sent.type ?? (rules === undefined ? undefined : typeWith(rules)),
    ...(name !== undefined && { name }),
    ...(rules && { rules })
  }
})

/** Turns what an audience of this type cannot do into a 409. */
function orFixed<A, E, R>(
  effect: Effect.Effect<A, E | AudienceTypeFixed | AudienceIsDynamic, R>
): Effect.Effect<A, Exclude<E, AudienceTypeFixed | AudienceIsDynamic> | Conflict, R> {
  return Effect.catchTags(effect as Effect.Effect<A, AudienceTypeFixed | AudienceIsDynamic, R>, {
    AudienceTypeFixed: () =>
      Effect.fail(new Conflict({ error: "Audience stays of its type", code: "AUDIENCE_TYPE_FIXED" })),
    AudienceIsDynamic: () =>
      Effect.fail(new Conflict({ error: "Audience's members follow from its rules", code: "AUDIENCE_DYNAMIC" }))
  }) as Effect.Effect<A, Exclude<E, AudienceTypeFixed | AudienceIsDynamic> | Conflict, R>
}

/** Turns consumers that are not there into a 400 that names each of them. */
const orInvalidIds =
  (payload: typeof ConsumerIds.Type) =>
  <A, E, R>(
    effect: Effect.Effect<A, E | UnknownConsumers, R>
  ): Effect.Effect<A, Exclude<E, UnknownConsumers> | ValidationError, R> =>
    Effect.catchTag(effect as Effect.Effect<A, UnknownConsumers, R>, "UnknownConsumers", ({ consumerIds }) =>
      Effect.fail(
        invalidInput(
          consumerIds.slice(0, issuesMax).map((id) =>
            issueAt(payload, ["consumerIds", payload.consumerIds.indexOf(id)], {
              kind: "validation",
              type: "picklist",
              expected: "a consumer of this organization"
            })
          )
        )
      )
    ) as Effect.Effect<A, Exclude<E, UnknownConsumers> | ValidationError, R>
