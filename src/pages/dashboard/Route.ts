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
  /** The files of a form that takes some, by the name of their field. */
  readonly files: Files
}

export type Files = ReadonlyMap<string, Uint8Array>

/** Another address to go to, whose screen then states the result. */
export interface Led {
  readonly goTo: string
  readonly done?: string
}

/**
 * A screen, a part of one, a file to save, or another address to go to. A screen that an action answers with, because it
 * shows a secret once, has the address to which a repetition of its form leads.
 */
export type Reply =
  | (Screen & { readonly again?: Led })
  | { readonly part: Html }
  | { readonly file: string; readonly name: string }
  /** A document for a frame of the dashboard, with the styles that it has. */
  | { readonly preview: string; readonly styles: ReadonlyArray<string> }
  /** A file or a stream that an operation has answered with. */
  | { readonly response: unknown }
  | Led

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
  /** True for a form that may have files. */
  readonly takesFiles?: boolean
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

/** A form that may have files, likewise. */
export const postFiles = (...route: Parameters<typeof post>): Route => ({ ...post(...route), takesFiles: true })
