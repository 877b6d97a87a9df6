/**
 * Runs an operation of the Consumer API for a page: its own handler, in this process. So protection, refusals, the gate
 * for bots and grants are decided where the API decides them. A page only brings other credentials: the tenant of the
 * experience, and the session of a cookie.
 */
import { Clock, Context, Effect, Layer, Predicate, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { KeyHolder } from "../auth/keys/ApiKeys.ts"
import { PageTokens } from "../auth/tokens/PageTokens.ts"
import type { VerifiedAccess } from "../auth/tokens/Tokens.ts"
import { actingConsumer } from "../http/credentials/ActingConsumer.ts"
import { nameOf } from "../http/credentials/CredentialChecks.ts"
import {
  CurrentConsumer,
  CurrentSession,
  CurrentStreamCredentials,
  CurrentTenant
} from "../http/credentials/Credentials.ts"
import { ConsumerApi } from "../http/consumer/Api.ts"
import { RateCategory } from "../http/limits/Limit.ts"
import { callerOf } from "../http/limits/RateLimit.ts"
import { type Gate, RateLimits } from "../http/limits/RateLimits.ts"
import { countedAddress, Origins } from "../http/server/Origins.ts"
import { Refused, refusedBy } from "./Refused.ts"

type GroupsOf<Api> = Api extends HttpApi.HttpApi<string, infer Groups> ? Groups : never
type Groups = GroupsOf<typeof ConsumerApi>
export type GroupName = HttpApiGroup.Identifier<Groups>
type EndpointsOf<G extends GroupName> = HttpApiGroup.Endpoints<HttpApiGroup.WithIdentifier<Groups, G>>
export type OperationName<G extends GroupName> = HttpApiEndpoint.Identifier<EndpointsOf<G>>
type EndpointOf<G extends GroupName, O extends OperationName<G>> = HttpApiEndpoint.WithIdentifier<EndpointsOf<G>, O>

/** The answer of an operation, decoded: instants are milliseconds. */
export type AnswerOf<G extends GroupName, O extends OperationName<G>> =
  HttpApiEndpoint.Success<EndpointOf<G, O>> extends Schema.Top
    ? HttpApiEndpoint.Success<EndpointOf<G, O>>["Type"]
    : never

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
  /** Absent for a visitor without a session, and where a page shows the same to everybody. */
  readonly access?: VerifiedAccess | undefined
}

export class Calls extends Context.Service<
  Calls,
  {
    /** Runs an operation. The request is not counted. */
    run<const G extends GroupName, const O extends OperationName<G>>(
      caller: Caller,
      group: G,
      operation: O,
      input: Input
    ): Effect.Effect<AnswerOf<G, O>, Refused, HttpServerRequest.HttpServerRequest>
    /** Counts the request of a page under the limits of an operation. */
    count<const G extends GroupName>(
      caller: Caller,
      group: G,
      operation: OperationName<G>
    ): Effect.Effect<void, Refused, HttpServerRequest.HttpServerRequest>
    /** Writes the answer of an operation as the API does: instants are text. */
    encode<const G extends GroupName, const O extends OperationName<G>>(
      group: G,
      operation: O,
      answer: AnswerOf<G, O>
    ): unknown
  }
>()("usher/pages/Calls") {
  static readonly layer = Layer.effect(
    Calls,
    Effect.gen(function* () {
      const operations = yield* operationsOf(ConsumerApi)
      const limits = yield* RateLimits
      const origins = yield* Origins
      const tokens = yield* PageTokens
      const clock = yield* Clock.Clock
      const gates = new Map<Operation, Gate>()

      const operationOf = (group: string, name: string): Operation => operations.get(`${group} ${name}`)!

      const gateOf = (operation: Operation): Gate => {
        const known = gates.get(operation)
        if (known !== undefined) return known
        const made = limits.gate("consumer", Context.get(operation.endpoint.annotations, RateCategory))
        gates.set(operation, made)
        return made
      }

      const provide = ({ holder, access }: Caller, services: Context.Context<never>): Context.Context<never> => {
        const current = { tenant: holder.tenant, by: nameOf(holder) }
        const withTenant = services.pipe(
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

      const run = Effect.fnUntraced(function* (caller: Caller, group: string, name: string, input: Input) {
        const { endpoint, handler, decode } = operationOf(group, name)
        const request = yield* HttpServerRequest.HttpServerRequest
        const decoded = yield* decode(input)
        const handled = handler({ endpoint, request, headers: input.headers ?? {}, ...decoded })
        return yield* Effect.updateContext(handled, (services: Context.Context<never>) => provide(caller, services))
      })

      const count = Effect.fnUntraced(function* ({ holder, access }: Caller, group: string, name: string) {
        const request = yield* HttpServerRequest.HttpServerRequest
        const address = () => countedAddress(origins.of(request).address)
        const outcome = gateOf(operationOf(group, name)).pass(callerOf(holder, address, access?.consumerId))
        const { retryAfterSeconds } = Effect.isEffect(outcome) ? yield* outcome : outcome
        if (retryAfterSeconds !== undefined)
          return yield* new Refused({ status: 429, code: "RATE_LIMIT", retryAfterSeconds })
      })

      return {
        run: (caller, group, operation, input) =>
          Effect.catchCause(run(caller, group, operation, input), (cause) => refusedBy(cause)) as never,
        count,
        encode: (group, operation, answer) => operationOf(group, operation).encode(answer)
      }
    })
  )
}

/** An operation of an API: its handler, and how its input and its answer are written. */
export interface Operation {
  readonly endpoint: HttpApiEndpoint.Top
  readonly handler: (request: object) => Effect.Effect<unknown, unknown>
  readonly decode: (input: Input) => Effect.Effect<object, unknown>
  readonly encode: (answer: unknown) => unknown
}

/** A group with its handlers, as `HttpApiBuilder.group` registers it. */
interface RegisteredGroup {
  readonly handlers: ReadonlyMap<string, Pick<Operation, "endpoint" | "handler">>
}

/** Returns the operations of an API by group and name. Needs its handlers. */
export const operationsOf = (api: { readonly groups: object }) =>
  Effect.map(Effect.context(), (services) => {
    const operations = new Map<string, Operation>()
    for (const group of Object.values(api.groups) as ReadonlyArray<HttpApiGroup.Top>) {
      const registered = services.mapUnsafe.get(group.key) as RegisteredGroup
      for (const [name, { endpoint, handler }] of registered.handlers) {
        const decoder = once(() => decoderOf(endpoint))
        const encoder = once(() => encoderOf(endpoint))
        operations.set(`${group.identifier} ${name}`, {
          endpoint,
          handler,
          decode: (input) => decoder()(input),
          encode: (answer) => encoder()(answer)
        })
      }
    }
    return operations
  })

/** Makes a value when it is first asked for. Pages use few of the operations. */
const once = <A>(make: () => A): (() => A) => {
  let made: A | undefined
  return () => (made ??= make())
}

/** Decodes each part of the input by the schema that the endpoint declares. */
const decoderOf = ({ params, query, payload }: HttpApiEndpoint.Top): Operation["decode"] => {
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
  return (input) =>
    Effect.map(
      Effect.forEach(decoders, ([name, decode]) =>
        Effect.map(decode(present(input[name] ?? empty[name])), (value) => [name, value] as const)
      ),
      (entries) => Object.fromEntries(entries)
    )
}

/** The input without fields that have no value. */
const present = (input: unknown): unknown =>
  Predicate.isObject(input)
    ? Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
    : input

const encoderOf = ({ success }: HttpApiEndpoint.Top): ((answer: unknown) => unknown) => {
  const [schema] = success
  return schema === undefined
    ? (answer) => answer
    : Schema.encodeSync(Schema.toCodecJson(schema as Schema.Codec<unknown, unknown>))
}
