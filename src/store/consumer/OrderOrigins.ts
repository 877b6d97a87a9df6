/**
 * The origin of an order: its consumer, and the experience, sequence and mechanism, which must exist and belong
 * together. References that the order does not name are derived from those that it names.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Tenant } from "../../domain/values/Ids.ts"
import { defaultCurrencyCode } from "../../domain/values/Locale.ts"
import { isOrderable } from "../../domain/consumer/Order.ts"
import type { OrderableKind } from "../../domain/mechanism/Mechanism.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { unarchivedOf } from "../records/Tenancy.ts"

/** The records that an order names. */
export interface References {
  readonly consumerId: string
  readonly experienceId?: string | null | undefined
  readonly sequenceId?: string | null | undefined
  readonly distributionId?: string | null | undefined
}

/** The records that an order belongs to. */
export interface Origin {
  readonly consumerId: string
  readonly experienceId: string | null
  readonly sequenceId: string | null
  readonly distributionId: string | null
  readonly distributionType: OrderableKind | null
}

/** Some of the named records do not exist for this tenant, or do not belong together. Nothing was written. */
export class UnknownReferences extends Schema.TaggedError<UnknownReferences>()("UnknownReferences", {
  problems: Schema.Array(
    Schema.Struct({
      field: Schema.Literals(["consumerId", "experienceId", "sequenceId", "distributionId"]),
      expected: Schema.String
    })
  )
}) {}

type Problem = UnknownReferences["problems"][number]

/** The consumer does not exist, or is archived. */
export const unknownConsumer: Problem = { field: "consumerId", expected: "a consumer of this organization" }

/** The mechanism does not exist, or is of a kind that no order completes. */
export const unknownDistribution: Problem = {
  field: "distributionId",
  expected: "a distribution of this organization, not a waitlist"
}

/** Creates the lookup of an order's origin and currency. */
export const makeOriginOf = (sql: SqlClient.SqlClient) =>
  Effect.fn("Orders.originOf")(function* (tenant: Tenant, named: References) {
    const { consumerId, experienceId = null, sequenceId = null, distributionId = null } = named
    const rows = yield* sql<Row>`
      select c.id as consumer_id, m.id as distribution_id, m.kind, m.sequence_id as within_sequence,
        s.id as sequence_id, s.experience_id as within_experience, e.id as experience_id,
        coalesce(e.record ->> 'currencyCode', o.settings ->> 'currencyCode') as currency_code
      from organizations o
      left join consumers c on c.id = ${consumerId}
        and ${unarchivedOf(sql, tenant, "c")}
      left join mechanisms m on m.id = ${distributionId}
        and ${unarchivedOf(sql, tenant, "m")}
      left join sequences s on s.id = coalesce(${sequenceId}::uuid, m.sequence_id)
        and ${unarchivedOf(sql, tenant, "s")}
      left join experiences e on e.id = coalesce(${experienceId}::uuid, s.experience_id)
        and ${unarchivedOf(sql, tenant, "e")}
      where o.id = ${tenant.organizationId}`
    const row = rows[0] ?? nothing
    const problems = problemsOf({ consumerId, experienceId, sequenceId, distributionId }, row)
    if (problems.length > 0) return yield* new UnknownReferences({ problems })
    return {
      origin: {
        consumerId,
        experienceId: row.experience_id,
        sequenceId: row.sequence_id,
        distributionId: row.distribution_id,
        distributionType: row.kind
      } as Origin,
      currencyCode: row.currency_code ?? defaultCurrencyCode
    }
  }, orUnavailable)

interface Row {
  readonly consumer_id: string | null
  readonly distribution_id: string | null
  readonly kind: string | null
  readonly within_sequence: string | null
  readonly sequence_id: string | null
  readonly within_experience: string | null
  readonly experience_id: string | null
  readonly currency_code: string | null
}

const nothing: Row = {
  consumer_id: null,
  distribution_id: null,
  kind: null,
  within_sequence: null,
  sequence_id: null,
  within_experience: null,
  experience_id: null,
  currency_code: null
}

/** Returns the problems, at most one for each named record. */
const problemsOf = (
  named: { readonly [F in keyof Required<References>]: string | null },
  found: Row
): ReadonlyArray<Problem> => {
  const problems: Array<Problem> = []
  const expect = (field: Problem["field"], isRight: boolean, expected: string) => {
    if (named[field] !== null && !isRight) problems.push({ field, expected })
  }
  const { kind, within_sequence: sequenceId, within_experience: experienceId } = found
  if (found.consumer_id === null) problems.push(unknownConsumer)
  expect(unknownDistribution.field, kind !== null && isOrderable(kind), unknownDistribution.expected)
  const isSequenceRight = found.sequence_id !== null && (sequenceId === null || sequenceId === named.sequenceId)
  expect("sequenceId", isSequenceRight, "a sequence of this organization, that of the distribution")
  const isExperienceRight =
    found.experience_id !== null && (experienceId === null || experienceId === named.experienceId)
  expect("experienceId", isExperienceRight, "an experience of this organization, that of the sequence")
  return problems
}
