/**
 * Clients of both APIs for pages: they run an operation by its own handler, in this process. So protection, refusals, the
 * gate for bots and grants are decided where the API decides them. A page only brings other credentials: a room has the
 * tenant of the experience and the session of a cookie, the dashboard the key of its operator.
 */
import { Context, Effect, Layer, Predicate, Result, Schema } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { KeyHolder } from "../auth/keys/ApiKeys.ts"
import type { Operator } from "../auth/operators/OperatorSessions.ts"
import { PageTokens } from "../auth/tokens/PageTokens.ts"
import type { VerifiedAccess } from "../domain/consumer/Session.ts"
import {
  CurrentConsumer,
  CurrentSession,
  CurrentStreamCredentials,
  CurrentTenant,
  type StreamCredentials
} from "../api/Credentials.ts"
import { RateCategory, RawBody } from "../api/Annotations.ts"
import { actingConsumer } from "../http/credentials/ActingConsumer.ts"
import { nameOf } from "../http/credentials/CredentialChecks.ts"
import { AdminApi } from "../api/admin/AdminApi.ts"
import { ConsumerApi } from "../api/consumer/ConsumerApi.ts"
import { issuesOf } from "../http/errors/Issues.ts"
import { invalidInput } from "../http/errors/Validation.ts"
import { callerOf } from "../http/limits/RateLimit.ts"
import { type OperationLimit, RateLimits } from "../http/limits/RateLimits.ts"
import { countedAddress, Origins } from "../http/server/Origins.ts"
import { TestClocks, withTimeOf } from "../store/testClock/TestClocks.ts"
import { failWithRefusal, Refusal } from "./Refusal.ts"
import { registeredGroups } from "../http/server/RegisteredGroups.ts"
import * as Time from "../store/coordination/Time.ts"

type GroupsOf<Api> = Api extends HttpApi.HttpApi<string, infer Groups> ? Groups : never
type EndpointsOf<Api, G extends GroupOf<Api>> = HttpApiGroup.Endpoints<HttpApiGroup.WithIdentifier<GroupsOf<Api>, G>>

/** The names of an API's groups, of the operations of a group, and the answer of an operation, decoded. */
type GroupOf<Api> = HttpApiGroup.Identifier<GroupsOf<Api>>
type OperationOf<Api, G extends GroupOf<Api>> = HttpApiEndpoint.Identifier<EndpointsOf<Api, G>>
type DecodedAnswerOf<Api, G extends GroupOf<Api>, O extends OperationOf<Api, G>> =
  HttpApiEndpoint.Success<HttpApiEndpoint.WithIdentifier<EndpointsOf<Api, G>, O>> extends Schema.Top
    ? HttpApiEndpoint.Success<HttpApiEndpoint.WithIdentifier<EndpointsOf<Api, G>, O>>["Type"]
    : never

export type GroupName = GroupOf<typeof ConsumerApi>
export type OperationName<G extends GroupName> = OperationOf<typeof ConsumerApi, G>

/** The answer of an operation of the Consumer API, decoded: instants are milliseconds. */
export type ConsumerAnswer<G extends GroupName, O extends OperationName<G>> = DecodedAnswerOf<typeof ConsumerApi, G, O>

/** The same of the Admin API. */
export type AdminAnswer<
  G extends GroupOf<typeof AdminApi>,
  O extends OperationOf<typeof AdminApi, G>
> = DecodedAnswerOf<typeof AdminApi, G, O>

/** The input of an operation, as it would arrive: instants and amounts are text. */
export interface Input {
  readonly params?: { readonly [name: string]: string }
  readonly query?: { readonly [name: string]: string | undefined }
  readonly payload?: unknown
  readonly headers?: { readonly [name: string]: string }
}

/** The visitor of a page. */
export interface Caller {
  readonly holder: KeyHolder
  /** Absent for a visitor without a session, and where a page shows the same to all visitors. */
  readonly access?: VerifiedAccess | undefined
}

/** A person at the dashboard. A stream needs credentials, which end it. */
export interface DashboardCaller extends Operator {
  readonly credentials?: StreamCredentials
}

/** The operations of an API, for callers of one kind. */
interface ApiClient<Api, Caller> {
  /** Runs an operation. The request is not counted. */
  run<const G extends GroupOf<Api>, const O extends OperationOf<Api, G>>(
    caller: Caller,
    group: G,
    operation: O,
    input: Input
  ): Effect.Effect<DecodedAnswerOf<Api, G, O>, Refusal, HttpServerRequest.HttpServerRequest>
  /** Writes the answer of an operation as the API does: instants are text. */
  encode<const G extends GroupOf<Api>, const O extends OperationOf<Api, G>>(
    group: G,
    operation: O,
    answer: DecodedAnswerOf<Api, G, O>
  ): unknown
}

interface CountingClient extends ApiClient<typeof ConsumerApi, Caller> {
  /** Counts the request of a page under the limits of an operation. */
  count<const G extends GroupName>(
    caller: Caller,
    group: G,
    operation: OperationName<G>
  ): Effect.Effect<void, Refusal, HttpServerRequest.HttpServerRequest>
}

export class ConsumerApiClient extends Context.Service<ConsumerApiClient, CountingClient>()(
  "usher/pages/ConsumerApiClient"
) {
  static readonly layer = Layer.effect(ConsumerApiClient)(
    Effect.gen(function* () {
      const operationOf = yield* operationsOf(ConsumerApi)
      const limits = yield* RateLimits
      const origins = yield* Origins
      const tokens = yield* PageTokens
      const clocks = yield* TestClocks
      const clock = yield* Time.serverClock
      const known = new Map<Operation, OperationLimit>()

      const limitOf = (operation: Operation): OperationLimit => {
        const limit =
          known.get(operation) ??
          limits.ofOperation("consumer", Context.get(operation.endpoint.annotations, RateCategory))
        known.set(operation, limit)
        return limit
      }

      const provide = ({ holder, access }: Caller, services: Context.Context<never>): Context.Context<never> => {
        const current = { tenant: holder.tenant, by: nameOf(holder) }
        const withTenant = withTimeOf(clocks, services, holder.tenant).pipe(
          Context.add(CurrentTenant, current),
          Context.add(CurrentSession, access === undefined ? {} : { access })
        )
        if (access === undefined) return withTenant
        const credentials = {
          hasEnded: (now: number) => tokens.hasEnded(access, now),
          areGood: () => Effect.sync(() => !tokens.hasEnded(access, clock.currentTimeMillisUnsafe()))
        }
        return withTenant.pipe(
          Context.add(CurrentConsumer, actingConsumer(holder, access).consumer),
          Context.add(CurrentStreamCredentials, credentials)
        ) as Context.Context<never>
      }

      const count = Effect.fnUntraced(function* ({ holder, access }: Caller, group: string, name: string) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const address = () => countedAddress(origins.of(request).address)
        const outcome = limitOf(operationOf(group, name)).pass(callerOf(holder, address, access?.consumerId))
        const { retryAfterSeconds } = Effect.isEffect(outcome) ? yield* outcome : outcome
        if (retryAfterSeconds !== undefined)
          return yield* new Refusal({ status: 429, code: "RATE_LIMIT", retryAfterSeconds })
      })

      return { ...clientOf<typeof ConsumerApi, Caller>(operationOf, provide), count }
    })
  )
}

export class AdminApiClient extends Context.Service<AdminApiClient, ApiClient<typeof AdminApi, DashboardCaller>>()(
  "usher/pages/AdminApiClient"
) {
  static readonly layer = Layer.effect(AdminApiClient)(
    Effect.gen(function* () {
      const operationOf = yield* operationsOf(AdminApi)
      const clocks = yield* TestClocks
      return clientOf(operationOf, ({ tenant, by, credentials }, services) => {
        const withTenant = Context.add(withTimeOf(clocks, services, tenant), CurrentTenant, { tenant, by })
        return credentials === undefined ? withTenant : Context.add(withTenant, CurrentStreamCredentials, credentials)
      })
    })
  )
}

/** An operation of an API: its handler, and how its input and its answer are written. */
interface Operation {
  readonly endpoint: HttpApiEndpoint.Top
  readonly handler: (request: object) => Effect.Effect<unknown, unknown>
  readonly decode: (input: Input) => Effect.Effect<object, unknown>
  /** Decodes an answer that the handler has written itself. */
  readonly read: (answer: unknown) => Effect.Effect<unknown>
  readonly encode: (answer: unknown) => unknown
}

/** Returns the client of an API. `provide` adds the credentials of a caller. */
const clientOf = <Api, Caller>(
  operationOf: (group: string, name: string) => Operation,
  provide: (caller: Caller, services: Context.Context<never>) => Context.Context<never>
): ApiClient<Api, Caller> => ({
  run: (caller, group, operation, input) =>
    runOperation(operationOf(group, operation), input, (services) => provide(caller, services)) as never,
  encode: (group, operation, answer) => operationOf(group, operation).encode(answer)
})

/** Runs an operation with the credentials that `provide` adds. */
const runOperation = (
  { endpoint, handler, decode, read }: Operation,
  input: Input,
  provide: (services: Context.Context<never>) => Context.Context<never>
): Effect.Effect<unknown, Refusal, HttpServerRequest.HttpServerRequest> =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const decoded = yield* decode(input)
    const handled = handler({ endpoint, request, headers: input.headers ?? {}, ...decoded })
    return yield* read(yield* Effect.updateContext(handled, provide))
  }).pipe(Effect.catchCause((cause) => failWithRefusal(cause)))

/** Makes the function that returns an operation of an API by group and name. Needs the API's handlers. */
const operationsOf = (api: { readonly groups: object }) =>
  Effect.map(Effect.context(), (services) => {
    const operations = new Map<string, Operation>()
    for (const { group, handlers } of registeredGroups(api, services)) {
      for (const [name, { endpoint, handler }] of handlers) {
        const decoder = once(() => decoderOf(endpoint))
        const reader = once(() => readerOf(endpoint))
        const encoder = once(() => encoderOf(endpoint))
        operations.set(`${group.identifier} ${name}`, {
          endpoint,
          handler,
          decode: (input) => decoder()(input),
          read: (answer) =>
            HttpServerResponse.isHttpServerResponse(answer) ? reader()(answer) : Effect.succeed(answer),
          encode: (answer) => encoder()(answer)
        })
      }
    }
    return (group: string, name: string): Operation => operations.get(`${group} ${name}`)!
  })

/** Makes a value when it is first asked for. Pages use few of the operations. */
const once = <A>(make: () => A): (() => A) => {
  let made: A | undefined
  return () => (made ??= make())
}

/** Decodes each part of the input by the schema that the endpoint declares. */
const decoderOf = ({ params, query, payload, annotations }: HttpApiEndpoint.Top): Operation["decode"] => {
  // A file is not read by a schema.
  if (Context.get(annotations, RawBody) !== undefined) return ({ payload: file }) => Effect.succeed({ payload: file })
  const body = payload.get("application/json")?.schemas as ReadonlyArray<Schema.Codec<unknown, unknown>> | undefined
  const parts = {
    params: params as Schema.Codec<unknown, unknown> | undefined,
    query: query as Schema.Codec<unknown, unknown> | undefined,
    payload: body === undefined ? undefined : Schema.toCodecJson(Schema.Union(body))
  }
  const decoders = Object.entries(parts).flatMap(([name, schema]) =>
    schema === undefined ? [] : [[name as keyof typeof parts, Schema.decodeUnknownEffect(schema)] as const]
  )
  const empty = { params: {}, query: {}, payload: null }
  // The API names every issue of a body, and so does a form.
  const every = parts.payload && Schema.decodeUnknownResult(parts.payload, { errors: "all" })
  const named = (value: unknown) => (error: Schema.SchemaError) => {
    const again = every?.(value)
    return again === undefined || Result.isSuccess(again) ? error : invalidInput(issuesOf(again.failure.issue, value))
  }
  return (input) =>
    Effect.map(
      Effect.forEach(decoders, ([name, decode]) => {
        const value = present(input[name] ?? empty[name])
        const decoded = Effect.map(decode(value), (found) => [name, found] as const)
        return name === "payload" ? Effect.mapError(decoded, named(value)) : decoded
      }),
      (entries) => Object.fromEntries(entries)
    )
}

/** The input without fields that have no value, at any depth. */
const present = (input: unknown): unknown => {
  if (Array.isArray(input)) return input.map(present)
  if (!Predicate.isObject(input)) return input
  return Object.fromEntries(
    Object.entries(input).flatMap(([key, value]) => (value === undefined ? [] : [[key, present(value)]]))
  )
}

const readerOf = ({ success }: HttpApiEndpoint.Top) => {
  const [schema] = success
  const json = Schema.fromJsonString(Schema.toCodecJson(schema as Schema.Codec<unknown, unknown>))
  const decode = Schema.decodeUnknownEffect(json)
  // An answer that callers share is decoded once for all of them.
  const known = new WeakMap<object, unknown>()
  // A proof of a draw is a stream, which its page reads itself.
  return (response: HttpServerResponse.HttpServerResponse): Effect.Effect<unknown> => {
    if (response.body._tag !== "Uint8Array" || response.status !== 200) return Effect.succeed(response)
    if (known.has(response)) return Effect.succeed(known.get(response))
    return Effect.map(Effect.orDie(decode(Buffer.from(response.body.body).toString())), (answer) => {
      known.set(response, answer)
      return answer
    })
  }
}

const encoderOf = ({ success }: HttpApiEndpoint.Top): ((answer: unknown) => unknown) => {
  const [schema] = success
  return schema === undefined
    ? (answer) => answer
    : Schema.encodeSync(Schema.toCodecJson(schema as Schema.Codec<unknown, unknown>))
}
