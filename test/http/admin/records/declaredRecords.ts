/** What the descriptions of both APIs declare of records: the operations at their paths, and which of them archive one. */
import { OpenApi } from "effect/http-api"
import { AdminApi } from "../../../../src/http/admin/Api.ts"
import { ConsumerApi } from "../../../../src/http/consumer/Api.ts"

/** The part of an operation's declaration that tells what it takes and answers. */
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

/** What an operation answers with 200, as declared. */
export const answerOf = (operation: Operation | undefined) =>
  operation?.responses["200"]?.content?.["application/json"]?.schema

interface DeclaredSchema {
  readonly $ref?: string
  readonly properties?: object
}

/** True if an answer of this schema says whether it is archived. */
const saysArchived = (schema: DeclaredSchema | undefined): boolean => {
  const name = schema?.$ref?.split("/").at(-1)
  const named: DeclaredSchema | undefined = name === undefined ? schema : admin.components.schemas[name]
  return "archived" in (named?.properties ?? {})
}

/** The paths of records that are archived one by one: those at which DELETE answers the record. */
export const archivable: ReadonlyArray<string> = adminPaths.flatMap(([path, operations]) =>
  path.endsWith("}") && saysArchived(answerOf(operations["delete"])) ? [path] : []
)
