/** Requests to both APIs with an organization's test keys. */
import { Duration, Effect, Redacted, Result, Schema, Stream } from "effect"
import { HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { declarations, type Kind } from "../domain/mechanism/Mechanism.ts"
import { StartRefused } from "../settings/Settings.ts"

/** How long a request may take. */
const requestMax = Duration.seconds(10)

/** A request that had no answer, or one with an unexpected status. `reason` groups errors in reports. */
export class Failed extends Schema.TaggedError<Failed>()("Failed", { reason: Schema.String, detail: Schema.String }) {}

/** Where to send requests, and as which organization. */
export interface Target {
  readonly url: string
  readonly adminUrl: string
  readonly publishableKey: string
  readonly secretKey: Redacted.Redacted
}

/** A mechanism to which requests go. */
interface Mechanism {
  readonly kind: Kind
  readonly id: string
}

/** A guest's session. */
export interface Session {
  readonly consumerId: string
  readonly accessToken: string
}

/** The fields of a place that the load reads. */
export const Place = Schema.Struct({
  /** A waitlist answers `isEntered` instead. */
  status: Schema.optionalKey(Schema.String),
  position: Schema.optionalKey(Schema.NullOr(Schema.Int)),
  admissionGrant: Schema.optionalKey(Schema.NullOr(Schema.String))
})
export type Place = typeof Place.Type

const Guest = Schema.Struct({ session: Schema.Struct({ consumerId: Schema.String }), accessToken: Schema.String })

const decodePlace = Schema.decodeUnknownResult(Schema.fromJsonString(Place))

/** Makes the functions that send a request and read its answer. */
const callsOf = (http: HttpClient.HttpClient, onRequest: () => void) => {
  const execute = (request: HttpClientRequest.HttpClientRequest) =>
    Effect.suspend(() => {
      onRequest()
      return http.execute(request)
    }).pipe(Effect.mapError(noAnswer))

  const call = <S extends Schema.Top>(schema: S, request: HttpClientRequest.HttpClientRequest) =>
    execute(request).pipe(
      Effect.flatMap((response) => read(schema, response)),
      Effect.timeoutOrElse({
        duration: requestMax,
        orElse: () => Effect.fail(new Failed({ reason: "time-out", detail: `${request.method} ${request.url}` }))
      })
    )

  return { execute, call }
}

export type Client = Effect.Success<ReturnType<typeof make>>

export const make = Effect.fnUntraced(function* (target: Target, onRequest: () => void) {
  const http = yield* HttpClient.HttpClient
  const trimmed = (url: string) => url.replace(/(?<!\/)\/+$/, "")
  const consumerApi = `${trimmed(target.url)}/api`
  const adminApi = `${trimmed(target.adminUrl)}/api`

  const { execute, call } = callsOf(http, onRequest)
  const asVisitor = HttpClientRequest.setHeader("x-publishable-key", target.publishableKey)
  const asConsumer = ({ accessToken }: Session) => HttpClientRequest.bearerToken(accessToken)
  const asServer = HttpClientRequest.bearerToken(target.secretKey)
  const to = ({ kind, id }: Mechanism, operation: string) =>
    `${consumerApi}/${declarations[kind].path}/${id}/${operation}`

  return {
    guest: call(Guest, asVisitor(HttpClientRequest.post(`${consumerApi}/auth/guest`))).pipe(
      Effect.map(({ session, accessToken }): Session => ({ consumerId: session.consumerId, accessToken }))
    ),
    /** Sends a consumer's action, such as its entry. */
    act: (mechanism: Mechanism, session: Session, operation: string, body?: object) => {
      const request = HttpClientRequest.post(to(mechanism, operation)).pipe(asVisitor, asConsumer(session))
      return call(Place, body === undefined ? request : HttpClientRequest.bodyJsonUnsafe(request, body))
    },
    status: (mechanism: Mechanism, session: Session) => {
      const operation = mechanism.kind === "appointment" ? "me" : "status"
      return call(Place, HttpClientRequest.get(to(mechanism, operation)).pipe(asVisitor, asConsumer(session)))
    },
    /** Reads something public about a mechanism. */
    see: <S extends Schema.Top>(schema: S, mechanism: Mechanism, operation: string) =>
      call(schema, HttpClientRequest.get(to(mechanism, operation)).pipe(asVisitor)),
    /** The places that the live stream sends, one after another. */
    places: (mechanism: Mechanism, session: Session) =>
      execute(HttpClientRequest.get(to(mechanism, "events")).pipe(asVisitor, asConsumer(session))).pipe(
        Effect.flatMap(whole200),
        Effect.map(placesIn),
        Stream.unwrap
      ),
    /** The shop completes the grant. */
    complete: (mechanism: Mechanism, { consumerId }: Session) =>
      call(
        Place,
        HttpClientRequest.post(to(mechanism, "complete")).pipe(
          asServer,
          HttpClientRequest.bodyJsonUnsafe({ consumerId })
        )
      ),
    admin: <S extends Schema.Top>(schema: S, method: "GET" | "POST" | "DELETE", path: string, body?: object) => {
      const request = HttpClientRequest.make(method)(`${adminApi}${path}`).pipe(asServer)
      return call(schema, body === undefined ? request : HttpClientRequest.bodyJsonUnsafe(request, body))
    }
  }
})

const noAnswer = (error: { readonly message: string }) => new Failed({ reason: "no answer", detail: error.message })

/** The places in a live stream. */
const placesIn = (response: HttpClientResponse.HttpClientResponse) =>
  response.stream.pipe(
    Stream.mapError(noAnswer),
    Stream.decodeText(),
    Stream.splitLines,
    Stream.filter((line) => line.startsWith("data: ")),
    Stream.map((line) => decodePlace(line.slice("data: ".length))),
    Stream.filter(Result.isSuccess),
    Stream.map(({ success }) => success)
  )

const whole200 = (response: HttpClientResponse.HttpClientResponse) =>
  response.status === 200
    ? Effect.succeed(response)
    : Effect.flatMap(
        Effect.orElseSucceed(response.text, () => ""),
        (text) => Effect.fail(new Failed({ reason: String(response.status), detail: text.slice(0, 300) }))
      )

const read = <S extends Schema.Top>(schema: S, response: HttpClientResponse.HttpClientResponse) =>
  Effect.gen(function* () {
    const text = yield* Effect.mapError(response.text, noAnswer)
    if (response.status >= 300) {
      return yield* new Failed({ reason: String(response.status), detail: text.slice(0, 300) })
    }
    return yield* Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(text === "" ? "null" : text).pipe(
      Effect.mapError(({ message }) => new Failed({ reason: "unexpected answer", detail: message.slice(0, 300) }))
    )
  }) as Effect.Effect<S["Type"], Failed>

/** Turns a failed request of the preparation into a message for the operator. */
export const orRefused =
  (what: string) =>
  <A, R>(effect: Effect.Effect<A, Failed, R>): Effect.Effect<A, StartRefused, R> =>
    Effect.mapError(effect, ({ reason, detail }) => new StartRefused({ message: `${what}: ${reason}. ${detail}` }))
