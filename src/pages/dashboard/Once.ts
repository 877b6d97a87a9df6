/**
 * Acts once on a form, however often it is sent: by a double click, a reload, or the way back and forth. The form has a
 * random id (`FormId.ts`), which is an idempotency key. A repetition leads to where the first one led.
 */
import { Effect, Schema } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { hash } from "node:crypto"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { isUuid } from "../../domain/values/Ids.ts"
import type { IdempotentResponses } from "../../http/idempotency/IdempotentResponses.ts"
import { Refusal, unavailable } from "../Refusal.ts"
import type { Led, Reply, RouteRequest } from "./Route.ts"

type Sent = Pick<RouteRequest, "fields" | "files">

type Call<A> = Effect.Effect<A, Refusal, HttpServerRequest.HttpServerRequest>

const LedJson = Schema.fromJsonString(Schema.Struct({ goTo: Schema.String, done: Schema.optionalKey(Schema.String) }))
const encode = Schema.encodeSync(LedJson)
const decode = Schema.decodeSync(LedJson)

/** Where a repetition leads; undefined if nothing has been done. */
const repeatedBy = (reply: Reply): Led | undefined =>
  "goTo" in reply ? reply : "again" in reply ? reply.again : undefined

/** Makes the function that runs the action of a form once. An answer that leads nowhere has done nothing to repeat. */
export const makeOnce = (answers: IdempotentResponses["Service"]) =>
  Effect.fnUntraced(function* ({ tenant }: Operator, path: string, { fields, files }: Sent, run: Call<Reply>) {
    const id = fields.get("confirmed") ?? ""
    if (!isUuid(id)) return yield* run
    let refusal: Refusal | undefined
    let reply: Reply | undefined
    const handle = Effect.match(run, {
      onSuccess: (made) => {
        reply = made
        const led = repeatedBy(made)
        return led === undefined ? HttpServerResponse.empty({ status: 400 }) : HttpServerResponse.text(encode(led))
      },
      // A refused action has done nothing, and its form may be sent again.
      onFailure: (failure) => {
        refusal = failure
        return HttpServerResponse.empty({ status: failure.status < 500 ? 400 : 503 })
      }
    })
    const digests = [...files].map(([name, bytes]) => `\n${name} ${hash("sha256", bytes)}`)
    const fingerprint = hash("sha256", `${path}\n${fields}${digests.join("")}`, "buffer")
    const answer = yield* answers
      .answer({ tenant, key: `dashboard:${id}`, fingerprint }, { secret: "none" }, handle)
      .pipe(Effect.catchTag("Unavailable", () => unavailable()))
    if (refusal !== undefined) return yield* refusal
    if (reply !== undefined) return reply
    if (!HttpServerResponse.isHttpServerResponse(answer) && answer._tag === "Answered") {
      return decode(Buffer.from(answer.answer.body ?? []).toString())
    }
    const isReused = !HttpServerResponse.isHttpServerResponse(answer) && answer._tag === "Reused"
    const detail = isReused ? "This form was sent before with other values." : "This action is under way."
    return yield* new Refusal({ status: 409, code: "REPEATED", detail })
  })
