/** Runs an operation of the Admin API for an operator: its own handler, in this process, under the operator's key. */
import { Context, Effect, Layer } from "effect"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { AdminApi } from "../../api/admin/AdminApi.ts"
import { CurrentTenant } from "../../api/Credentials.ts"
import { type ApiCalls, callsOf, type DecodedAnswerOf, type GroupOf, type OperationOf, operationsOf } from "../Calls.ts"

type Api = typeof AdminApi

/** The answer of an operation, decoded: instants are milliseconds. */
export type AnswerOf<G extends GroupOf<Api>, O extends OperationOf<Api, G>> = DecodedAnswerOf<Api, G, O>

export class AdminCalls extends Context.Service<AdminCalls, ApiCalls<Api, Operator>>()(
  "usher/pages/dashboard/AdminCalls"
) {
  static readonly layer = Layer.effect(
    AdminCalls,
    Effect.map(operationsOf(AdminApi), (operationOf) =>
      callsOf(operationOf, ({ tenant, by }, services) => Context.add(services, CurrentTenant, { tenant, by }))
    )
  )
}
