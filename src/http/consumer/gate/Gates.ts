/** The handlers of gates on the Consumer API. */
import { Effect, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { GateRecord } from "../../../api/consumer/GateApi.ts"
import { NotFound } from "../../../api/Errors.ts"
import { queueIdsOf } from "../../../domain/gate/Gate.ts"
import { reportHeader, reportIn } from "../../../domain/gate/Report.ts"
import { sha256 } from "../../../domain/values/Digest.ts"
import { GateReports } from "../../../store/gate/GateReports.ts"
import { Gates } from "../../../store/gate/Gates.ts"
import { orAnswer, orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { matches } from "../../server/Documents.ts"
import { makeList } from "../mechanism/RevokedGrants.ts"
import * as GateRecords from "../../gate/GateRecords.ts"

/** Seconds after which a gate asks again. */
const maxAgeSeconds = 10

const encode = Schema.encodeEffect(Schema.fromJsonString(Schema.toCodecJson(GateRecord)))

export const layer = HttpApiBuilder.group(ConsumerApi, "gates", (handlers) =>
  Effect.gen(function* () {
    const gates = yield* Gates
    const reports = yield* GateReports
    const recordOf = yield* GateRecords.make
    const list = yield* makeList

    /** The gate, if the caller may see it. */
    const opened = Effect.fnUntraced(
      function* (gateId: string) {
        const { tenant, gate: caller } = yield* CurrentTenant
        if (caller !== undefined && caller.id !== gateId) return yield* NotFound.of("Gate")
        return { tenant, gate: yield* gates.find(tenant, gateId) }
      },
      orNotFound,
      orServiceUnavailable
    )

    /** A gate that asks with its own key is seen, also without a report. */
    const noted = Effect.fnUntraced(function* (gateId: string) {
      const { gate: caller } = yield* CurrentTenant
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const report = reportIn(headers[reportHeader])
      if (report !== undefined || caller !== undefined) yield* reports.note(gateId, report)
    })

    return handlers.handleAll({
      get: Effect.fnUntraced(function* ({ params: { gateId } }) {
        const { tenant, gate } = yield* opened(gateId)
        const record = yield* orAnswer("queue")(recordOf(tenant, gate))
        return yield* answered(yield* Effect.orDie(encode(record)))
      }),
      ended: Effect.fnUntraced(function* ({ params: { gateId }, query }) {
        const { tenant, gate } = yield* opened(gateId)
        yield* noted(gateId)
        return yield* list(tenant, query, queueIdsOf(gate.rules))
      })
    })
  })
)

/** The record, unless the caller has it. */
const answered = Effect.fnUntraced(function* (text: string) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const etag = `W/"${sha256(text)}"`
  const common = { etag, "cache-control": `private, max-age=${maxAgeSeconds}` }
  return matches(headers["if-none-match"], etag)
    ? HttpServerResponse.empty({ status: 304, headers: common })
    : HttpServerResponse.text(text, { contentType: "application/json", headers: common })
})
