/** The checks before every route of the dashboard: limits, the origin of forms, the session, and the role. */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { mayDo, type Role } from "../../domain/organization/Person.ts"
import { isUuid } from "../../domain/values/Ids.ts"
import type { IdempotentResponses } from "../../http/idempotency/IdempotentResponses.ts"
import { countByAddress } from "../../http/limits/RateLimit.ts"
import { limited } from "../../http/server/RawBodies.ts"
import { inTimeOf, TestClocks } from "../../store/testClock/TestClocks.ts"
import * as Answer from "../Answer.ts"
import { html } from "../Html.ts"
import { makeUnlessStopping, notFound, Refusal, unavailable } from "../Refusal.ts"
import { queryOf } from "../room/Visit.ts"
import { headersOf, makeIsOwn, readableHereOnly } from "../Security.ts"
import { doneNote, type makeFrame, problemNote, type Screen } from "./Frame.ts"
import * as Note from "./Note.ts"
import { makeOnce } from "./Once.ts"
import { contentsOf, isMultipart } from "./form/Contents.ts"
import type { Files, Reply, Route, RouteRequest } from "./Route.ts"
import type { make } from "./Session.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse
export type Handle = Effect.Effect<Response, Refusal, Request>
export type Frame = ReturnType<typeof makeFrame>
export type Sessions = Effect.Success<typeof make>

/** Requests of one address in a minute. The script asks for figures every second. */
const requestsPerMinute = 600

/** Forms with files that one process reads or works on at once. */
const formsAtOnceMax = 8

export const home = "/dashboard"

export const seeOther = (location: string): Response =>
  HttpServerResponse.empty({ status: 303, headers: { location, "cache-control": "no-store" } })

const none: Files = new Map()

/** The fields of a form. */
export const fieldsOf = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
  Effect.mapError(request.text, () => new Refusal({ status: 400, code: "INVALID" }))
).pipe(Effect.map((text) => new URLSearchParams(text)))

/** Makes the functions that answer a request if it may pass. */
export const makeGuard = Effect.fnUntraced(function* (
  sessions: Sessions,
  frame: Frame,
  answers: IdempotentResponses["Service"]
) {
  const once = makeOnce(answers)
  const note = yield* Note.make
  const clocks = yield* TestClocks
  const isOwn = yield* makeIsOwn
  const unlessStopping = yield* makeUnlessStopping
  const count = yield* countByAddress({ name: "dashboard", requestsMax: requestsPerMinute })
  const inTurn = limited(formsAtOnceMax, unavailable())
  const foreign = new Refusal({ status: 403, code: "FOREIGN", detail: "This form came from another site." })

  /** Runs a handler if the request is within the limits and comes from this origin. */
  const open = (handle: Handle) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      count(request).pipe(
        Effect.andThen(readableHereOnly),
        Effect.andThen(unlessStopping),
        Effect.andThen(request.method === "GET" || isOwn(request) ? handle : Effect.fail(foreign)),
        Effect.catchTag("Refusal", (refusal) => frame(refusalScreen(refusal)))
      )
    )

  const answer = Effect.fnUntraced(function* (operator: Operator, reply: Reply) {
    const { text, add, remove } = yield* note
    if ("goTo" in reply) {
      const led = seeOther(reply.goTo)
      return reply.done === undefined ? led : add(led, reply.done)
    }
    if ("part" in reply) return yield* Answer.ofVisitor(reply.part.text, 200, {})
    if ("preview" in reply) return yield* Answer.ofVisitor(reply.preview, 200, previewHeaders(reply.styles))
    if ("file" in reply) return saved(reply)
    if ("response" in reply) return ownFile(reply.response)
    if (text === undefined) return yield* frame(reply, operator)
    return remove(yield* frame({ ...reply, body: html`${doneNote(text)}${reply.body}` }, operator))
  })

  /** Runs a route for the operator of the session. Without one it leads to the sign-in. */
  const forOperator = (route: Route) =>
    Effect.flatMap(HttpRouter.params, (params) => {
      const replied = makeReplied(route, params as RouteRequest["params"], { once, inTurn })
      return open(
        Effect.gen(function* () {
          const operator = yield* sessions.read
          if (operator === undefined) return seeOther(yield* sessions.signInPath)
          const request = yield* HttpServerRequest.HttpServerRequest
          return yield* Effect.flatMap(replied(operator, request), (found) => answer(operator, found)).pipe(
            Effect.catchTag("Refusal", (refusal) => frame(refusalScreen(refusal), operator)),
            inTimeOf(clocks, operator.tenant)
          )
        })
      )
    })
  return { open, forOperator }
})

/** Makes the function that runs a route for an operator, if its role allows that. Only then its form is read. */
const makeReplied = (
  { method, role, takesFiles = false, run }: Route,
  params: RouteRequest["params"],
  { once, inTurn }: { readonly once: ReturnType<typeof makeOnce>; readonly inTurn: InTurn }
) => {
  const typed = method === "GET" ? Effect.succeed(new URLSearchParams()) : fieldsOf
  const written = Effect.map(typed, (fields) => ({ fields, files: none }))
  return Effect.fnUntraced(function* (operator: Operator, request: Request) {
    const refusal = refusalOf(operator, role, params["id"])
    if (refusal !== undefined) return yield* refusal
    const hasFiles = takesFiles && isMultipart(request)
    const acted = Effect.flatMap(hasFiles ? contentsOf(request) : written, (sent) =>
      once(operator, request.url, sent, run(operator, { params, query: queryOf(request), ...sent }))
    )
    return yield* hasFiles ? inTurn(acted) : acted
  })
}

type InTurn = ReturnType<typeof limited<Refusal>>

/** Returns why a route does not run: the role is too low, or no record can have the id of the path. */
const refusalOf = (operator: Operator, needed: Role, id: string | undefined): Refusal | undefined => {
  if (!mayDo(operator.role, needed)) {
    const detail = `This needs the role ${needed}. Yours is ${operator.role}; an admin can change it.`
    return new Refusal({ status: 403, code: "ROLE", detail })
  }
  return id === undefined || isUuid(id) ? undefined : notFound
}

/** A preview may be framed by the dashboard alone. */
const previewHeaders = (styles: ReadonlyArray<string>) =>
  headersOf({ scripts: [], styles, formOrigins: [], isPreview: true })

/** A file or a stream of the API as a page's answer: no cache keeps it, and nothing on its way changes a stream. */
const ownFile = (answered: unknown): Response => {
  const response = answered as Response
  const own = response.headers["cache-control"]
  return HttpServerResponse.setHeaders(response, {
    "cache-control": own?.startsWith("no-store") === true ? own : "no-store",
    "x-content-type-options": "nosniff"
  })
}

const saved = ({ file, name }: { readonly file: string; readonly name: string }): Response =>
  HttpServerResponse.text(file, {
    contentType: "application/json; charset=utf-8",
    headers: {
      "content-disposition": `attachment; filename="${name}"`,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff"
    }
  })

/** The meaning of a refusal without a text of its own. */
const reasons: { readonly [status: number]: string } = {
  400: "The form is incomplete or was changed on its way. Nothing was changed.",
  404: "There is nothing here any more, or it belongs to another organization.",
  405: "This address is part of another screen. Open that screen from the dashboard.",
  409: "Something has changed meanwhile. Look at the state, and try again if it is still needed.",
  413: "The form is too large. Nothing was changed.",
  423: "It is not open yet.",
  429: "Too many requests came from your address. Wait a minute, and go on.",
  500: "This is a fault of the server, and its log has the cause. Look at the state before you try again."
}

const titles: { readonly [status: number]: string } = {
  404: "Not found",
  405: "Not found",
  500: "Something went wrong",
  503: "Temporarily unavailable"
}

/** The screen of a refusal. */
export const refusalScreen = ({ status, detail, retryAfterSeconds }: Refusal): Screen => ({
  title: titles[status] ?? "Request refused",
  status,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  body: html`${problemNote(detail ?? reasons[status] ?? "Try again in a moment.")}
    <p><a href="${home}">Back to the dashboard</a></p>`
})
