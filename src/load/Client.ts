/**
 * Requests to both APIs with an organization's keys, by the clients that follow from the APIs' declarations. A typed
 * request costs about a tenth more processor time than one written by hand, and a span costs as much. So requests have
 * no spans, and a run costs what it would cost without types.
 */
import { Context, Duration, Effect, Option, Redacted, type Schedule, Schema, Stream } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { AdminApi } from "../api/admin/AdminApi.ts"
import { ConsumerApi } from "../api/consumer/ConsumerApi.ts"
import { statusOf } from "../api/Errors.ts"

/** Where to send requests, and as which organization. */
export interface Target {
  readonly url: string
  readonly adminUrl: string
  readonly publishableKey: string
  readonly secretKey: Redacted.Redacted
}

/** A guest's session. */
export interface Session {
  readonly consumerId: string
  readonly accessToken: string
}

/** A request that had no answer, or one that was not a success. */
export class RequestError extends Schema.TaggedError<RequestError>()("RequestError", {
  /** The status of the answer, or `no answer`, `time-out` or `unexpected answer`. Groups errors in reports. */
  reason: Schema.String,
  /** The code of a refusal; empty if the answer has none. */
  code: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `${this.reason}. ${this.detail}`
  }
}

export interface Options {
  /** Runs before each request. */
  readonly onRequest?: () => void
  /** How long a request may take. By default 10 seconds. */
  readonly timeout?: Duration.Input
  /** When a request is sent again. Absent: never. */
  readonly retries?: Schedule.Schedule<unknown>
  /** Whether a request is sent again. Default: after no answer, and after a 503. */
  readonly isRetried?: (error: RequestError) => boolean
  /** Runs after a request that may be sent again. */
  readonly onRetry?: () => void
}

/** The headers with a caller's credentials. */
const Credentials = Context.Reference<Readonly<Record<string, string>>>("usher/load/Credentials", {
  defaultValue: () => ({})
})

export type ConsumerClient = HttpApiClient.ForApi<typeof ConsumerApi>
type AdminClient = HttpApiClient.ForApi<typeof AdminApi>

export type Client = Effect.Success<ReturnType<typeof make>>

export const make = Effect.fnUntraced(function* (target: Target, options: Options = {}) {
  const { onRequest = () => {}, onRetry = () => {}, timeout = "10 seconds", retries } = options
  const { isRetried = isTemporary } = options
  const detail = `It took longer than ${Duration.format(Duration.fromInputUnsafe(timeout))}.`
  const timeOut = new RequestError({ reason: "time-out", code: "", detail })
  const httpClient = (yield* HttpClient.HttpClient).pipe(
    HttpClient.mapRequestEffect((request) =>
      Effect.map(Credentials, (headers) => {
        onRequest()
        return HttpClientRequest.setHeaders(request, headers)
      })
    )
  )
  const consumerApi = yield* HttpApiClient.makeWith(ConsumerApi, { httpClient, baseUrl: target.url })
  const adminApi = yield* HttpApiClient.makeWith(AdminApi, { httpClient, baseUrl: target.adminUrl })

  const publishable = { "x-publishable-key": target.publishableKey }
  const secret = { authorization: `Bearer ${Redacted.value(target.secretKey)}` }

  /** Makes the function that sends requests to an API with such credentials. */
  const callerOf = <Api>(api: Api, headers: Readonly<Record<string, string>>) => {
    const context = Context.make(Credentials, headers).pipe(Context.add(HttpClient.TracerDisabledWhen, () => true))
    return <A, E>(send: (api: Api) => Effect.Effect<A, E>): Effect.Effect<A, RequestError> => {
      const attempt = send(api).pipe(
        Effect.timeoutOrElse({ duration: timeout, orElse: () => Effect.fail(timeOut) }),
        Effect.catch((error) => Effect.fail(requestErrorOf(error))),
        Effect.provideContext(context)
      )
      return retries === undefined
        ? attempt
        : attempt.pipe(
            Effect.tapError((error) => Effect.sync(() => isRetried(error) && onRetry())),
            Effect.retry({ schedule: retries, while: isRetried })
          )
    }
  }

  const visitor = callerOf<ConsumerClient>(consumerApi, publishable)
  return {
    visitor,
    /** The requests of a consumer's browser. */
    consumer: ({ accessToken }: Session) =>
      callerOf<ConsumerClient>(consumerApi, { ...publishable, authorization: `Bearer ${accessToken}` }),
    /** The requests of the shop's server for a consumer. */
    actingFor: (consumerId: string) =>
      callerOf<ConsumerClient>(consumerApi, { ...secret, "x-consumer-id": consumerId }),
    /** The requests of the shop's server to the Consumer API. */
    shop: callerOf<ConsumerClient>(consumerApi, secret),
    admin: callerOf<AdminClient>(adminApi, secret),
    guest: visitor((api) => api.auth.guest({ headers: {} })).pipe(
      Effect.map(({ session, accessToken }): Session => ({ consumerId: session.consumerId, accessToken }))
    )
  }
})

const requestErrorOf = (error: unknown): RequestError => {
  if (error instanceof RequestError) return error
  const status = statusOf(error) ?? (HttpClientError.isHttpClientError(error) ? error.response?.status : undefined)
  const { message } = error as Error
  const detail = (message === "" ? JSON.stringify(error) : message).slice(0, 300)
  if (status !== undefined && status >= 300) {
    const { code } = error as { readonly code?: unknown }
    return new RequestError({ reason: `${status}`, code: typeof code === "string" ? code : "", detail })
  }
  const reason = HttpClientError.isHttpClientError(error) ? "no answer" : "unexpected answer"
  return new RequestError({ reason, code: "", detail })
}

/** Whether another attempt may succeed. */
const isTemporary = ({ reason }: RequestError): boolean => ["no answer", "time-out", "503"].includes(reason)

interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly pageInfo: { readonly endCursor: string | null }
}

/** The position after which a page begins. */
interface Cursor {
  readonly after?: string
}

/** Reads all items of a list, page by page, or the first ones. */
export const allOf = <A, E>(pageAfter: (cursor: Cursor) => Effect.Effect<Page<A>, E>, itemsMax = Infinity) =>
  Stream.paginate<Cursor, A, E>({}, (cursor) =>
    Effect.map(pageAfter(cursor), ({ data, pageInfo: { endCursor } }) => [
      data,
      endCursor === null || data.length === 0 ? Option.none() : Option.some({ after: endCursor })
    ])
  ).pipe(Stream.take(itemsMax), Stream.runCollect)

/** Reads the recorded events of a mechanism, or the first ones. */
export const historyOf = (client: Client, id: string, eventsMax?: number) =>
  allOf(
    (cursor) =>
      client.admin((api) =>
        api.distributions.listDistributionHistory({ params: { id }, query: { first: 100, ...cursor } })
      ),
    eventsMax
  )
