/**
 * Audiences on the Admin API: what each operation does.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Protection } from "../../auth/Protection.ts"
import { AudienceMembers, type UnknownConsumers } from "../../store/AudienceMembers.ts"
import { Audiences } from "../../store/Audiences.ts"
import { CurrentTenant } from "../Credentials.ts"
import { Conflict, type ValidationError } from "../Errors.ts"
import { issueAt, issuesMax } from "../Issues.ts"
import { orNotFound, orServiceUnavailable } from "../Refusals.ts"
import { invalidInput } from "../Validation.ts"
import { AdminApi } from "./Api.ts"
import type { ConsumerIds } from "./AudienceApi.ts"
import { orInvalidPage } from "./Lists.ts"

export const AudienceHandlers = HttpApiBuilder.group(
  AdminApi,
  "audiences",
  Effect.fnUntraced(function* (handlers) {
    const audiences = yield* Audiences
    const members = yield* AudienceMembers
    const protection = yield* Protection

    return handlers.handleAll({
      createAudience: Effect.fnUntraced(function* ({ payload: { name } }) {
        const { tenant, by } = yield* CurrentTenant
        return yield* audiences.create(tenant, by, { name })
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
        function* ({ params: { id }, payload: { name } }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* audiences.change(tenant, id, by, name === undefined ? {} : { name })
        },
        orNotFound,
        orServiceUnavailable
      ),

      archiveAudience: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          const outcome = yield* audiences.archive(tenant, id, by)
          if (outcome._tag === "Archived") return outcome.record
          const error = `Audience is in use by ${outcome.sequences} sequence(s)`
          return yield* new Conflict({ error, code: "AUDIENCE_IN_USE" })
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
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)

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
