/** Steering a queue: the declaration. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { admissionsAtOnceMax } from "../../domain/queue/Protocol.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Conflict, NotFound, NotOpenYetWithHeaders } from "../Errors.ts"
import { whyBody, whyFields } from "./WhyFields.ts"

/** Consumers that one request admits by name. */
export const admittedByNameMax = 500

/** The field that is left out because the other one is given. */
const unnamed = Schema.optionalKey(Schema.Null)

/** The next consumers, or named ones. */
const bodies = [
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

/** The body of an admission. */
export type Admission = (typeof bodies)[number]["Type"]

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
  payload: Schema.Union(bodies),
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
