/** The records in both API descriptions: the operations at their paths, and which of them archive a record. */
import { OpenApi } from "effect/http-api"
import { AdminApi } from "../../../../src/api/admin/AdminApi.ts"
import { ConsumerApi } from "../../../../src/api/consumer/ConsumerApi.ts"

/** The part of an operation's declaration that describes its input and answers. */
export interface Operation {
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly schema: object }>
  readonly responses: {
    readonly [status: string]: { readonly content?: { readonly "application/json"?: { readonly schema: object } } }
  }
}

/** The operations at a path, by method. */
export type AtPath = readonly [path: string, operations: { readonly [method: string]: Operation }]

const admin = OpenApi.fromApi(AdminApi)

const pathsOf = ({ paths }: { readonly paths: object }) => Object.entries(paths) as unknown as ReadonlyArray<AtPath>

/** The paths of the Admin API. */
export const adminPaths = pathsOf(admin)

/** The paths of both APIs. */
export const allPaths = [...pathsOf(OpenApi.fromApi(ConsumerApi)), ...adminPaths]

/** Returns the declared schema of an operation's answer with 200. */
export const answerOf = (operation: Operation | undefined) =>
  operation?.responses["200"]?.content?.["application/json"]?.schema

interface DeclaredSchema {
  readonly $ref?: string
  readonly properties?: object
}

/** Returns true if the schema has a field for the archived state. */
const saysArchived = (schema: DeclaredSchema | undefined): boolean => {
  const name = schema?.$ref?.split("/").at(-1)
  const named: DeclaredSchema | undefined = name === undefined ? schema : admin.components.schemas[name]
  return "archived" in (named?.properties ?? {})
}

/** The paths of records that are archived one by one: those at which DELETE returns the record. */
export const archivable: ReadonlyArray<string> = adminPaths.flatMap(([path, operations]) =>
  path.endsWith("}") && saysArchived(answerOf(operations["delete"])) ? [path] : []
)
