/** Every declared operation of both APIs, with the credentials that its declaration requires. */
import type { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { AdminApi } from "../../../src/api/admin/AdminApi.ts"
import { ConsumerApi } from "../../../src/api/consumer/ConsumerApi.ts"
import type { Requirement, securitySchemes } from "../../../src/api/Credentials.ts"

export type Scheme = keyof typeof securitySchemes

export interface Operation {
  /** `METHOD /path`, as declared. */
  readonly name: string
  readonly api: "consumer" | "admin"
  /** The names of its group and its own, as a client has them. */
  readonly group: string
  readonly endpoint: string
  readonly method: string
  readonly path: string
  /** The alternatives; each is a set of schemes that are required together. */
  readonly requirement: ReadonlyArray<ReadonlyArray<Scheme>>
}

const operationsOf = (api: "consumer" | "admin", groups: object): ReadonlyArray<Operation> =>
  (Object.values(groups) as ReadonlyArray<HttpApiGroup.Top>).flatMap((group) =>
    (Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>).map(
      ({ identifier, method, path, middlewares }) => ({
        name: `${method} ${path}`,
        api,
        group: group.identifier,
        endpoint: identifier,
        method,
        path,
        requirement: requirementOf(middlewares)
      })
    )
  )

function requirementOf(middlewares: Iterable<object>): Operation["requirement"] {
  for (const middleware of middlewares) {
    if (!("requirement" in middleware)) continue
    return (middleware.requirement as ReadonlyArray<Requirement>).map((all) => Object.keys(all) as Array<Scheme>)
  }
  return []
}

export const operations: ReadonlyArray<Operation> = [
  ...operationsOf("consumer", ConsumerApi.groups),
  ...operationsOf("admin", AdminApi.groups)
]
