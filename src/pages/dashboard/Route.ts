/** A route of the dashboard: the least role that may use it, and its answer. */
import type { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import type { Role } from "../../domain/organization/Person.ts"
import type { Html } from "../Html.ts"
import type { Refusal } from "../Refusal.ts"
import type { Screen } from "./Frame.ts"

/** The contents of a request. A GET has no fields. */
export interface RouteRequest {
  readonly params: { readonly [name: string]: string }
  readonly query: URLSearchParams
  readonly fields: URLSearchParams
}

/** A screen, a part of one, a file to save, or another address to go to, whose screen then states the result. */
export type Reply =
  | Screen
  | { readonly part: Html }
  | { readonly file: string; readonly name: string }
  | { readonly goTo: string; readonly done?: string }

/** Returns the reply to an operator. */
export type Run = (
  operator: Operator,
  sent: RouteRequest
) => Effect.Effect<Reply, Refusal, HttpServerRequest.HttpServerRequest>

export interface Route {
  readonly method: "GET" | "POST"
  /** Below `/dashboard`. */
  readonly path: "" | `/${string}`
  readonly role: Role
  readonly run: Run
}

/** A screen that every operator may read. */
export const get = (path: Route["path"], run: Run): Route => ({ method: "GET", path, role: "viewer", run })

/** A form that needs at least this role. */
export const post = (path: Route["path"], role: Exclude<Role, "viewer">, run: Run): Route => ({
  method: "POST",
  path,
  role,
  run
})
