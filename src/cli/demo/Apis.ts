/**
 * The two APIs as the demo's people use them: a consumer's browser, a shop's server and an admin's. Whoever cannot
 * reach the server, or is told to come back later, tries again for as long as a person would.
 */
import { Effect, flow, Option, Predicate, Schedule, Schema } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { DemoFailed } from "./DemoFailed.ts"
import type { DemoServer, Keys } from "./DemoServer.ts"

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** A consumer's own place, as far as the demo reads it. */
export const Place = Schema.Struct({
  status: Schema.Literals(["NOT_QUEUED", "QUEUED", "GRANTED", "COMPLETED", "DENIED", "LEFT"]),
  enteredAt: maybe(Schema.String),
  position: maybe(Schema.Int),
  estimatedWaitTimeInSeconds: maybe(Schema.Finite),
  admissionGrant: maybe(Schema.String),
  grantedAt: maybe(Schema.String),
  reason: maybe(Schema.String)
})
export type Place = typeof Place.Type

/** A recorded event as the Admin API lists it. */
export const Recorded = Schema.Struct({
  sequence: Schema.Int,
  type: Schema.String,
  at: Schema.String,
  consumerId: maybe(Schema.String),
  data: maybe(Schema.Unknown)
})
export type Recorded = typeof Recorded.Type

/** A consumer's place as the Admin API lists it. */
export const ListedPlace = Schema.Struct({ consumerId: Schema.String, status: Schema.String })
export type ListedPlace = typeof ListedPlace.Type

/** The queue as its admin watches it. */
export const Live = Schema.Struct({
  lifecycle: Schema.String,
  teardownStatus: maybe(Schema.String),
  live: Schema.Struct({ counts: Schema.Record(Schema.String, Schema.Int), lastSequence: Schema.Int })
})
export type Live = typeof Live.Type

const Guest = Schema.Struct({ session: Schema.Struct({ consumerId: Schema.String }), accessToken: Schema.String })
const Created = Schema.Struct({ id: Schema.String })
const KeySet = Schema.Struct({ keys: Schema.Array(Schema.Record(Schema.String, Schema.Unknown)) })
const page = <S extends Schema.Top>(item: S) =>
  Schema.Struct({
    data: Schema.Array(item),
    pageInfo: Schema.Struct({ endCursor: Schema.NullOr(Schema.String) })
  })

/** A guest's session: who it is and how it says so. */
export interface Session {
  readonly consumerId: string
  readonly accessToken: string
}

/** An answer that is not the one hoped for. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  status: Schema.Int,
  /** The answer's own `code`; empty if it has none. */
  code: Schema.String,
  message: Schema.String
}) {}

export type Apis = Effect.Success<ReturnType<typeof make>>

/** The clients of an organization; `onRetry` is told of each attempt that failed. */
export const make = Effect.fnUntraced(function* (server: DemoServer, keys: Keys, onRetry: () => void) {
  const http = yield* HttpClient.HttpClient
  const patience = Schedule.min([Schedule.exponential("50 millis", 1.5), Schedule.spaced("500 millis")]).pipe(
    Schedule.jittered,
    Schedule.upTo({ duration: "30 seconds" })
  )

  const call = <S extends Schema.Top>(schema: S, request: HttpClientRequest.HttpClientRequest) =>
    http.execute(request).pipe(
      Effect.flatMap((response) => read(schema, request, response)),
      Effect.tapError((error) => Effect.sync(() => passes(error) && onRetry())),
      Effect.retry({ schedule: patience, while: passes }),
      Effect.catchTag("HttpClientError", (error) => Effect.fail(new DemoFailed({ message: error.message })))
    )

  const asAdmin = flow(
    HttpClientRequest.prependUrl(`${server.adminUrl}/api`),
    HttpClientRequest.bearerToken(keys.secretKey)
  )
  const asShop = flow(
    HttpClientRequest.prependUrl(`${server.consumerUrl}/api`),
    HttpClientRequest.bearerToken(keys.secretKey)
  )
  const asVisitor = flow(
    HttpClientRequest.prependUrl(`${server.consumerUrl}/api`),
    HttpClientRequest.setHeader("x-publishable-key", keys.publishableKey)
  )
  const asConsumer = (session: Session) => flow(asVisitor, HttpClientRequest.bearerToken(session.accessToken))

  const post = (path: string, body?: unknown) =>
    body === undefined
      ? HttpClientRequest.post(path)
      : HttpClientRequest.post(path).pipe(HttpClientRequest.bodyJsonUnsafe(body))

  /** All items of a list, page by page. */
  const all = Effect.fnUntraced(function* <S extends Schema.Top>(item: S, path: string) {
    const items: Array<S["Type"]> = []
    let after: string | null = null
    for (;;) {
      const request: HttpClientRequest.HttpClientRequest = HttpClientRequest.get(path).pipe(
        HttpClientRequest.setUrlParams({ first: 100, ...(after === null ? {} : { after }) })
      )
      const { data, pageInfo }: { readonly data: ReadonlyArray<S["Type"]>; readonly pageInfo: PageInfo } = yield* call(
        page(item),
        asAdmin(request)
      )
      items.push(...data)
      after = pageInfo.endCursor
      if (after === null || data.length === 0) return items
    }
  })

  return {
    admin: {
      create: (path: string, body: unknown) => call(Created, asAdmin(post(path, body))),
      live: (queueId: string) => call(Live, asAdmin(HttpClientRequest.get(`/distributions/${queueId}`))),
      end: (queueId: string) => call(Schema.Unknown, asAdmin(post(`/queues/${queueId}/end`))),
      history: (queueId: string) => all(Recorded, `/distributions/${queueId}/history`),
      places: (queueId: string) => all(ListedPlace, `/distributions/${queueId}/consumers`)
    },
    shop: {
      validate: (queueId: string, consumerId: string, token: string) =>
        call(Schema.Unknown, asShop(post(`/queues/${queueId}/validate`, { consumerId, token }))).pipe(
          Effect.map((answer) => answer === true)
        ),
      complete: (queueId: string, consumerId: string) =>
        call(Place, asShop(post(`/queues/${queueId}/complete`, { consumerId }))),
      keySet: call(KeySet, HttpClientRequest.get(`${server.consumerUrl}/.well-known/jwks.json`))
    },
    public: {
      get: <S extends Schema.Top>(schema: S, path: string) => call(schema, asVisitor(HttpClientRequest.get(path)))
    },
    consumer: {
      get: <S extends Schema.Top>(schema: S, path: string, session: Session) =>
        call(schema, asConsumer(session)(HttpClientRequest.get(path))),
      post: <S extends Schema.Top>(schema: S, path: string, session: Session, body?: unknown) =>
        call(schema, asConsumer(session)(post(path, body))),
      session: call(Guest, asVisitor(post("/auth/guest"))).pipe(
        Effect.map(({ session, accessToken }): Session => ({ consumerId: session.consumerId, accessToken }))
      ),
      enter: (queueId: string, session: Session) => call(Place, asConsumer(session)(post(`/queues/${queueId}/enter`))),
      leave: (queueId: string, session: Session) => call(Place, asConsumer(session)(post(`/queues/${queueId}/leave`))),
      status: (queueId: string, session: Session) =>
        call(Place, asConsumer(session)(HttpClientRequest.get(`/queues/${queueId}/status`)))
    }
  }
})

/** Whether it is worth another attempt: nobody answered, or the answer was to come back later. */
const passes = (error: unknown): boolean =>
  Predicate.isTagged(error, "HttpClientError") || (error instanceof Refused && error.status === 503)

interface PageInfo {
  readonly endCursor: string | null
}

const decodeCode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ code: Schema.String })))

const read = Effect.fnUntraced(function* <S extends Schema.Top>(
  schema: S,
  request: HttpClientRequest.HttpClientRequest,
  response: HttpClientResponse.HttpClientResponse
) {
  const text = yield* response.text
  const what = `${request.method} ${request.url}`
  if (response.status >= 300) {
    const { code } = Option.getOrElse(decodeCode(text), () => ({ code: "" }))
    return yield* new Refused({
      status: response.status,
      code,
      message: `${what} answered ${response.status}: ${text}`
    })
  }
  return yield* Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(text).pipe(
    Effect.mapError((issue) => new DemoFailed({ message: `${what} answered what was not expected: ${issue.message}` }))
  )
})
