/**
 * Clients for the two APIs, as the demo uses them: a consumer's browser, a shop's server and an admin. A call that gets
 * no response, or a 503, is retried for up to five minutes.
 */
import { Effect, flow, Option, Predicate, Schedule, Schema } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { DemoFailed } from "./DemoFailed.ts"
import type { DemoServer, Keys } from "./DemoServer.ts"

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** The fields of a consumer's own place that the demo reads. */
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

/** The queue as the admin monitors it. */
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

/** A guest's session: its consumer and its access token. */
export interface Session {
  readonly consumerId: string
  readonly accessToken: string
}

/** A response with an error status. */
export class Refused extends Schema.TaggedError<Refused>()("Refused", {
  status: Schema.Int,
  /** The response's `code`; empty if it has none. */
  code: Schema.String,
  message: Schema.String
}) {}

export type Apis = Effect.Success<ReturnType<typeof make>>

/** Creates the clients of an organization. `onRetry` runs after each failed attempt. */
export const make = Effect.fnUntraced(function* (server: DemoServer, keys: Keys, onRetry: () => void) {
  const http = yield* HttpClient.HttpClient
  const retries = Schedule.min([Schedule.exponential("50 millis", 1.5), Schedule.spaced("500 millis")]).pipe(
    Schedule.jittered,
    Schedule.upTo({ duration: "5 minutes" })
  )

  const call = <S extends Schema.Top>(schema: S, request: HttpClientRequest.HttpClientRequest) =>
    http.execute(request).pipe(
      Effect.flatMap((response) => read(schema, request, response)),
      Effect.tapError((error) => Effect.sync(() => isTemporary(error) && onRetry())),
      Effect.retry({ schedule: retries, while: isTemporary }),
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

  /** Reads all items of a list, page by page. */
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

/** Whether another attempt may succeed: there was no response, or a 503. */
const isTemporary = (error: unknown): boolean =>
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
      message: `${what} returned ${response.status}: ${text}`
    })
  }
  return yield* Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(text).pipe(
    Effect.mapError((issue) => new DemoFailed({ message: `${what} returned an unexpected response: ${issue.message}` }))
  )
})
