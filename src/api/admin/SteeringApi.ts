/** What staff do to places and queues: admitting, pausing, denying many places; and why. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { admissionsAtOnceMax } from "../../domain/queue/Protocol.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Conflict, NotFound, NotOpenYetWithHeaders } from "../Errors.ts"
import { StaffReason } from "../../domain/mechanism/Author.ts"
import { text } from "../../domain/values/Text.ts"
import { AdminReason } from "../../domain/mechanism/Denial.ts"

/** UTF-16 units of a note. */
export const noteLengthMax = 500

const nullable = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** A note for colleagues. */
export const noteField = {
  note: nullable(
    text({ minLength: 1, maxLength: noteLengthMax }).pipe(
      Schema.annotateEncoded({
        description: "For colleagues: only the audit log keeps it. Name no consumer, because notes are not erased."
      })
    )
  )
}

/** The reason and the note. */
export const whyFields = {
  reason: nullable(
    StaffReason.annotate({ description: "Recorded in the history with the author. Consumers may be shown it." })
  ),
  ...noteField
}

/** The body of an action that needs no other field. It may be absent. */
export const whyBody = [Schema.Struct(whyFields), Schema.Null] as const

/** The reason and the note of a body. */
export interface Why {
  readonly reason?: StaffReason | null
  readonly note?: string | null
}

/** Returns the `reason` of a command. */
export const reasonOf = (why: Why | null | undefined): { readonly reason?: StaffReason } =>
  typeof why?.reason === "string" ? { reason: why.reason } : {}

/** Places that one request denies. */
export const denialsMax = 500

/** A score of a risk, as a filter. */
export const RiskScore = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/** The field that is left out because the other one is given. */
const unnamed = Schema.optionalKey(Schema.Null)

/** The consumers by name, or by the risk of their entries. */
const denialBodies = [
  Schema.Struct({
    consumerIds: Schema.Array(Id).check(Schema.isMinLength(1), Schema.isMaxLength(denialsMax)),
    minRiskScore: unnamed,
    reason: AdminReason,
    ...noteField
  }),
  // Every place has a score of 0 or more, and one number must not deny all of them.
  Schema.Struct({
    minRiskScore: RiskScore.check(Schema.isGreaterThan(0)),
    consumerIds: unnamed,
    reason: AdminReason,
    ...noteField
  })
] as const

/** The body. */
export interface BulkDenial {
  readonly consumerIds?: ReadonlyArray<string> | null
  readonly minRiskScore?: number | null
  readonly reason: AdminReason
  readonly note?: string | null
}

const Denials = Schema.Struct({
  denied: Schema.Int.annotate({ description: "Places that this request denied." }),
  unchanged: Schema.Int.annotate({ description: "Places that were denied before." }),
  refused: Schema.Int.annotate({ description: "Consumers without a place, or whose place has ended." }),
  more: Schema.Boolean.annotate({ description: "True if more places have this risk: repeat the request." })
}).annotate({ identifier: "Denials" })

export const denyEndpoint = HttpApiEndpoint.post("denyDistributionConsumers", "/distributions/:id/deny", {
  params: { id: Id },
  payload: Schema.Union(denialBodies),
  success: Denials,
  error: NotFound
}).annotateMerge(
  OpenApi.annotations({
    summary: "Deny many places",
    description:
      "Denies the places of `consumerIds` (1 to 500), or the places that have not ended and whose risk is at least " +
      "`minRiskScore` (more than 0). It denies 500 at a time in the order of entry, each as `…/deny` of the Consumer " +
      "API does. The request can be repeated safely: denied places stay as they are. `note` is kept in the audit log. " +
      "Appointments and waitlists have no denial (404)."
  })
)

/** Consumers that one request admits by name. */
export const admittedByNameMax = 500

/** The next consumers, or named ones. */
const admissionBodies = [
  Schema.Struct({
    consumerIds: Schema.Array(Id).check(Schema.isMinLength(1), Schema.isMaxLength(admittedByNameMax)),
    count: unnamed,
    ...whyFields
  }),
  Schema.Struct({
    count: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: admissionsAtOnceMax })),
    consumerIds: unnamed,
    ...whyFields
  })
] as const

export type Admission = (typeof admissionBodies)[number]["Type"]

const Admissions = Schema.Struct({
  admitted: Schema.Int.annotate({ description: "Consumers that this request admitted." }),
  consumerIds: Schema.Array(Id).annotate({ description: "Ids of the consumers, in the order of their admission." }),
  unchanged: Schema.Int.annotate({ description: "Named consumers that held a grant before." }),
  refused: Schema.Int.annotate({
    description: "Named consumers that do not wait in this queue, and those beyond `maxAdmissions`."
  })
}).annotate({ identifier: "Admissions" })

const why = "`reason` is recorded with the author, and `note` is kept in the audit log."

const admitEndpoint = HttpApiEndpoint.post("admit", "/queues/:id/admit", {
  params: { id: Id },
  payload: Schema.Union(admissionBodies),
  success: Admissions,
  error: [NotFound, Conflict, NotOpenYetWithHeaders]
}).annotateMerge(
  OpenApi.annotations({
    identifier: "admitToQueue",
    summary: "Admit the next consumers, or named ones",
    description:
      `\`count\` (1 to ${admissionsAtOnceMax}) admits the next consumers in the queue's order, as \`…/admit\` of the ` +
      `Consumer API does. \`consumerIds\` (1 to ${admittedByNameMax}) admits the named consumers, also out of order and ` +
      "from the lobby. A repeated request with the same ids changes nothing more. Both also work during a pause. A " +
      `closed queue is a 409 \`CLOSED\`. ${why}`
  })
)

const changeOf = <const Name extends string, S extends Schema.Top>(
  name: Name,
  Record: S,
  texts: { readonly summary: string; readonly description: string }
) =>
  HttpApiEndpoint.post(name, `/queues/:id/${name}`, {
    params: { id: Id },
    payload: whyBody,
    success: Record,
    error: [NotFound, Conflict]
  }).annotateMerge(
    OpenApi.annotations({ identifier: `${name}Queue`, ...texts, description: `${texts.description} ${why}` })
  )

/** The operations that steer a queue, given the schema of its record. */
export const steeringOf = <S extends Schema.Top>(Record: S) =>
  [
    admitEndpoint,
    changeOf("pause", Record, {
      summary: "Pause a queue",
      description:
        "`admitRate` stops admitting consumers. They can still enter, keep their positions and see `paused`. Existing " +
        "grants stay valid, and staff and servers can still admit. A queue may be paused before it opens, and its " +
        "closing ends the pause. A paused queue stays as it is; a closed queue is a 409 `CLOSED`."
    }),
    changeOf("resume", Record, {
      summary: "Resume a queue",
      description:
        "`admitRate` admits again, evenly spaced. Admissions that the pause omitted are not made up for. A queue that is " +
        "not paused stays as it is; a closed queue is a 409 `CLOSED`."
    })
  ] as const
