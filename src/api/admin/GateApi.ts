/** Gates on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Gate, gateSorts, Settings } from "../../domain/gate/Gate.ts"
import { Id } from "../../domain/values/Ids.ts"
import { text } from "../../domain/values/Text.ts"
import { AnswerSecret } from "../Annotations.ts"
import { NotFound } from "../Errors.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { operationsOn } from "./RecordApi.ts"

/** Headers of one request that is tried. */
const headersMax = 50

const required = ["name", "hosts", "rules"] as const

/** The body of `POST /gates`. */
export const CreateGate = Schema.Struct(createFields(Settings.fields, required)).annotate({ identifier: "CreateGate" })

/** The body of `PUT /gates/{id}`. */
export const ChangeGate = Schema.Struct(changeFields(Settings.fields, required)).annotate({ identifier: "ChangeGate" })

export const GateWithKey = Schema.Struct({
  ...Gate.fields,
  key: Schema.String.annotate({ description: "The key of the gate. Only this response contains it." })
}).annotate({ identifier: "GateWithKey" })

/** The body of `POST /gates/{id}/test`. */
export const TestGate = Schema.Struct({
  method: text({ minLength: 1, maxLength: 20 }),
  url: text({ minLength: 1, maxLength: 2_000 }).annotate({ description: "An absolute URL of the site." }),
  headers: Schema.optionalKey(
    Schema.Record(text({ minLength: 1, maxLength: 100 }), text({ maxLength: 8_192 }))
      .check(Schema.isMaxProperties(headersMax))
      .annotate({ description: "The headers of the request, cookies among them." })
  )
}).annotate({ identifier: "TestGate" })

/** What a gate does with a request. */
export const GateTest = Schema.Struct({
  rule: Schema.NullOr(Schema.Struct({ index: Schema.Int, name: Schema.NullOr(Schema.String) })).annotate({
    description: "The first rule that fits, counted from 0. Null if none does."
  }),
  decision: Schema.Literals(["pass", "ask", "return", "room", "wait", "closed"]).annotate({
    description:
      "`ask`: a new visitor; the gate calls `pass` of the queue. `return`: the return path. `room`: to the room. " +
      "`wait`: a 429 for a program. `closed`: a 503."
  }),
  reason: Schema.String.annotate({ description: "The same in words." })
}).annotate({ identifier: "GateTest" })
export type GateTest = typeof GateTest.Type

const gate = operationsOn(Gate, { name: "Gate", aNoun: "a gate", path: "gates" })

const keyKept =
  "The key is not stored. If the response is lost, the request repeated with its `Idempotency-Key` is a 409 " +
  "`IDEMPOTENCY_ANSWER_NOT_KEPT`, and `rotate-key` makes another one."

export class GateApi extends HttpApiGroup.make("gates")
  .add(
    HttpApiEndpoint.post("createGate", "/gates", {
      payload: CreateGate,
      success: GateWithKey.pipe(HttpApiSchema.status(201)),
      error: NotFound
    })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Create a gate",
          description:
            "A gate stands in front of a site. `rules` decide in their order: `when` has conditions that must all hold, and " +
            "`then` is `pass`, or a queue whose grant is needed. Of a path that begins with `pathPrefix`, of a `path`, a rule " +
            "that protects fits also its other spellings. Rules that let pass need a condition. `failMode` is for the time in which Usher is out of reach; before its " +
            "opening and after its end a queue stays closed, unless `afterEnd` of the rule says otherwise. Defaults: `failMode` is " +
            "`closed`, `cookie` is `{}`, `returnPath` is `/.usher/return`. A queue is best one with `standby`, `insideLimit` " +
            "and `admissionRenewal`.\n\nThe gate's `key` opens `GET /gates/{gateId}` of the Consumer API, and `pass` and " +
            `\`renew\` of the queues that its rules name. ${keyKept}`
        })
      )
      .annotate(AnswerSecret, "nowhere"),
    gate.list({
      sorts: gateSorts,
      search: "the name",
      description: "Lists gates that are not archived, or with `archived=true` only archived ones."
    }),
    gate.get(),
    gate.change({
      payload: ChangeGate,
      description:
        "Send only the fields to change. An absent field keeps its value; null resets an optional one to its default. " +
        "Gates in the field know the change within ten seconds."
    }),
    gate.archive({ description: "Its key opens nothing any more." }),
    gate.restore({ description: "Its key opens again what it opened." }),
    HttpApiEndpoint.post("rotateGateKey", "/gates/:id/rotate-key", {
      params: { id: Id },
      success: GateWithKey,
      error: NotFound
    })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Replace the key of a gate",
          description:
            "Only this response contains the new key. By then no server accepts the former one. It takes up to 6 seconds if " +
            `a process of this installation does not answer. ${keyKept}`
        })
      )
      .annotate(AnswerSecret, "nowhere"),
    HttpApiEndpoint.post("testGate", "/gates/:id/test", {
      params: { id: Id },
      payload: TestGate,
      success: GateTest,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Try a request",
        description:
          "Returns what the gate does with a request now, and changes nothing. A grant in a cookie is checked, but not " +
          "whether it has ended early. A crawler counts as not verified."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Gates",
      description: "What stands in front of sites, and lets visitors with a grant pass."
    })
  ) {}
