/** The parts that operations on records of all kinds share. */
import { Effect } from "effect"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { PageRefused } from "../../../store/records/Pagination.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { orInvalidPage } from "./Refusals.ts"
import { orNotFound } from "../../errors/Refusals.ts"
import { orBusy } from "./Answers.ts"

/**
 * Runs an operation for the tenant of the request; `by` names the author: an API key, or a person of the dashboard. A
 * record that does not exist is a 404. A store or an engine that cannot answer for now is a 503.
 */
export const forTenant = <A, E, R>(run: (tenant: Tenant, by: string) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(CurrentTenant, ({ tenant, by }) => run(tenant, by)).pipe(orNotFound, orBusy)

/** A handler that runs an operation on the record that the path names by `id`. */
export const onRecord =
  <A, E, R>(run: (tenant: Tenant, id: string, by: string) => Effect.Effect<A, E, R>) =>
  ({ params: { id } }: { readonly params: { readonly id: string } }) =>
    forTenant((tenant, by) => run(tenant, id, by))

/** A handler that lists records of the tenant. A refused page is a 400 that names the parameter. */
export const onList =
  <Query extends object, A, E, R>(list: (tenant: Tenant, query: Query) => Effect.Effect<A, E | PageRefused, R>) =>
  ({ query }: { readonly query: Query }) =>
    forTenant((tenant) => list(tenant, query).pipe(orInvalidPage(query)))
