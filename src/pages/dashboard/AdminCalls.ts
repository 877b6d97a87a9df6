/** Runs an operation of the Admin API for an operator: its own handler, in this process, under the operator's key. */
import { Context, Effect, Layer } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import type { Schema } from "effect"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { AdminApi } from "../../http/admin/Api.ts"
import { CurrentTenant } from "../../http/credentials/Credentials.ts"
import { type Input, operationsOf } from "../Calls.ts"
import { type Refused, refusedBy } from "../Refused.ts"

type GroupsOf<Api> = Api extends HttpApi.HttpApi<string, infer Groups> ? Groups : never
type Groups = GroupsOf<typeof AdminApi>
type GroupName = HttpApiGroup.Identifier<Groups>
type EndpointsOf<G extends GroupName> = HttpApiGroup.Endpoints<HttpApiGroup.WithIdentifier<Groups, G>>
type OperationName<G extends GroupName> = HttpApiEndpoint.Identifier<EndpointsOf<G>>

/** The answer of an operation, decoded: instants are milliseconds. */
export type AnswerOf<G extends GroupName, O extends OperationName<G>> =
  HttpApiEndpoint.Success<HttpApiEndpoint.WithIdentifier<EndpointsOf<G>, O>> extends Schema.Top
    ? HttpApiEndpoint.Success<HttpApiEndpoint.WithIdentifier<EndpointsOf<G>, O>>["Type"]
    : never

export class AdminCalls extends Context.Service<
  AdminCalls,
  {
    run<const G extends GroupName, const O extends OperationName<G>>(
      operator: Operator,
      group: G,
      operation: O,
      input: Input
    ): Effect.Effect<AnswerOf<G, O>, Refused, HttpServerRequest.HttpServerRequest>
    /** Writes the answer of an operation as the API does: instants are text. */
    encode<const G extends GroupName, const O extends OperationName<G>>(
      group: G,
      operation: O,
      answer: AnswerOf<G, O>
    ): unknown
  }
>()("usher/pages/dashboard/AdminCalls") {
  static readonly layer = Layer.effect(
    AdminCalls,
    Effect.gen(function* () {
      const operations = yield* operationsOf(AdminApi)

      const run = Effect.fnUntraced(function* (operator: Operator, group: string, name: string, input: Input) {
        const { endpoint, handler, decode } = operations.get(`${group} ${name}`)!
        const request = yield* HttpServerRequest.HttpServerRequest
        const decoded = yield* decode(input)
        const handled = handler({ endpoint, request, headers: input.headers ?? {}, ...decoded })
        return yield* Effect.updateContext(
          handled,
          (services: Context.Context<never>) =>
            Context.add(services, CurrentTenant, { tenant: operator.tenant, by: operator.by }) as Context.Context<never>
        )
      })

      return {
        run: (operator, group, operation, input) =>
          Effect.catchCause(run(operator, group, operation, input), (cause) => refusedBy(cause)) as never,
        encode: (group, operation, answer) => operations.get(`${group} ${operation}`)!.encode(answer)
      }
    })
  )
}
