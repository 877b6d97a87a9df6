/** The handlers of audiences on the Admin API. */
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
import { answering } from "../../errors/Answering.ts"
import { Conflict } from "../../../api/Errors.ts"
import { issueAt, issuesMax } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import type { ChangeAudience, ConsumerIds, CreateAudience } from "../../../api/admin/AudienceApi.ts"
import { orInvalidPage } from "../records/Refusals.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { orInUse } from "../records/References.ts"

export const AudienceHandlers = HttpApiBuilder.group(AdminApi, "audiences", (handlers) =>
  Effect.gen(function* () {
    const audiences = yield* Audiences
    const members = yield* AudienceMembers
    const protection = yield* Protection

    return handlers.handleAll({
      createAudience: ({ payload }) =>
        forTenant((tenant, by) =>
          Effect.flatMap(settingsOf(payload), (settings) => audiences.create(tenant, by, settings))
        ),

      listAudiences: onList(audiences.list),

      getAudience: onRecord(audiences.find),

      changeAudience: ({ params: { id }, payload }) =>
        forTenant((tenant, by) =>
          changesOf(payload).pipe(
            Effect.flatMap((changes) => audiences.change(tenant, id, by, changes)),
            Effect.tap(payload.rules === undefined ? Effect.void : protection.changed()),
            orFixed
          )
        ),

      archiveAudience: onRecord((tenant, id, by) => Effect.flatMap(audiences.archive(tenant, id, by), inUse)),

      restoreAudience: onRecord(audiences.restore),

      listAudienceMembers: ({ params: { id }, query }) =>
        forTenant((tenant) => members.list(tenant, id, query).pipe(orInvalidPage(query))),

      addAudienceMembers: ({ params: { id }, payload }) =>
        forTenant((tenant, by) =>
          members.add(tenant, id, by, payload.consumerIds).pipe(orInvalidIds(payload), orFixed)
        ),

      removeAudienceMembers: ({ params: { id }, payload }) =>
        forTenant((tenant, by) =>
          members
            .remove(tenant, id, by, payload.consumerIds)
            .pipe(orInvalidIds(payload), Effect.tap(protection.changed()), orFixed)
        )
    })
  })
)

const inUse = orInUse({ record: "Audience", code: "AUDIENCE_IN_USE", users: "sequence(s)" })

type Sent = typeof CreateAudience.Type | typeof ChangeAudience.Type

/** Fails with a 400 that names every invalid rule. */
const checked = (sent: Sent) => {
  const problems = sent.rules ? problemsOf(sent.rules) : []
  if (problems.length === 0) return Effect.void
  const issues = problems.map(({ path, type, expected }) =>
    issueAt(sent, ["rules", ...path], { kind: "validation", type, expected })
  )
  return Effect.fail(invalidInput(issues.slice(0, issuesMax)))
}

/** The type of an audience with these rules, or with none. */
const typeWith = (rules: AudienceRules | null | undefined): AudienceType => (rules ? "DYNAMIC" : "STATIC")

/** Fails with a 400 if the body names a type that does not agree with the rules. */
const agreeing = (sent: Sent) => {
  const { rules, type } = sent
  if (!type || type === typeWith(rules)) return Effect.void
  const found = rules
    ? ({ kind: "validation", type: "object", expected: "null, because the type is STATIC" } as const)
    : ({ kind: "schema", type: "object", expected: "object" } as const)
  return Effect.fail(invalidInput([issueAt(sent, "rules", found)]))
}

const settingsOf = Effect.fnUntraced(function* (sent: typeof CreateAudience.Type) {
  yield* checked(sent)
  yield* agreeing(sent)
  return { name: sent.name, ...(sent.rules && { rules: sent.rules }) }
})

/** The changes that the body asks for, and the type that the audience must have. */
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

/** Turns a change that the audience's type does not allow into a 409. */
const orFixed = answering({
  AudienceTypeFixed: (_: AudienceTypeFixed) =>
    new Conflict({ error: "Audience stays of its type", code: "AUDIENCE_TYPE_FIXED" }),
  AudienceIsDynamic: (_: AudienceIsDynamic) =>
    new Conflict({ error: "Audience's members follow from its rules", code: "AUDIENCE_DYNAMIC" })
})

/** Turns consumers that do not exist into a 400 that names each of them. */
const orInvalidIds = (payload: typeof ConsumerIds.Type) =>
  answering({
    UnknownConsumers: ({ consumerIds }: UnknownConsumers) =>
      invalidInput(
        consumerIds.slice(0, issuesMax).map((id) =>
          issueAt(payload, ["consumerIds", payload.consumerIds.indexOf(id)], {
            kind: "validation",
            type: "picklist",
            expected: "a consumer of this organization"
          })
        )
      )
  })
