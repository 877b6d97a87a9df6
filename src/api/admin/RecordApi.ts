/**
 * Declares the operations that records of most kinds have on the Admin API. A kind of record names its schemas and the
 * differences of each operation. Names, paths and answers follow from the names of the kind.
 */
import type { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { NotFound } from "../Errors.ts"
import { archivedQuery, listAnnotations, listQuery, pageOf, restores, searchQuery } from "./Lists.ts"

/** The names of a kind of record. */
interface Names<Name extends string, Path extends string> {
  /** In the names of operations and schemas: `MediaAsset`. */
  readonly name: Name
  /** In a sentence, with its article: `a media asset`. */
  readonly aNoun: string
  /** Without its first slash: `media-assets` for all records, `media-assets/:id` for one. */
  readonly path: Path
}

interface RecordNames<Name extends string, Path extends string, Record extends Schema.Top> extends Names<Name, Path> {
  readonly record: Record
}

/** The texts and errors of an operation. Without `error` it fails with a 404 at most. */
interface Operation<Errors extends HttpApiEndpoint.ErrorConstraint> {
  readonly description?: string
  readonly error?: ErrorsOf<Errors>
}

/** The type of `error` in the options of an endpoint. */
type ErrorsOf<Errors extends HttpApiEndpoint.ErrorConstraint> = NonNullable<
  Parameters<typeof HttpApiEndpoint.get<"", "/", never, never, never, never, never, Errors>>[2]
>["error"]

type OnlyNotFound = typeof NotFound

/** The errors of an operation on one record. */
const orNotFound = <Errors extends HttpApiEndpoint.ErrorConstraint>(error: ErrorsOf<Errors>): ErrorsOf<Errors> =>
  // Without `error` the type parameter is `OnlyNotFound`.
  error ?? (NotFound as unknown as ErrorsOf<Errors>)

/** The operations on all records of a kind, and on one that the path names by `id`. */
export const operationsOn = <Record extends Schema.Top, const Name extends string, const Path extends string>(
  record: Record,
  names: Names<Name, Path>
) => ({
  ...operationsOnAll({ ...names, record }),
  ...operationsOnOne({ ...names, record, path: `${names.path}/:id` as const, params: { id: Id } })
})

/**
 * The operations on all records. `list` shows the records that are not archived, or only those that are; `only` are
 * further filters.
 */
export const operationsOnAll = <const Name extends string, const Path extends string, Record extends Schema.Top>({
  name,
  aNoun,
  record,
  ...names
}: RecordNames<Name, Path, Record>) => {
  const path = `/${names.path}` as const
  return {
    create: <Payload extends Schema.Top, const Errors extends HttpApiEndpoint.ErrorConstraint = never>({
      payload,
      error,
      description
    }: Operation<Errors> & { readonly payload: Payload }) =>
      HttpApiEndpoint.post<`create${Name}`, `/${Path}`, never, never, Payload, never, Record["Rebuild"], Errors>(
        `create${name}`,
        path,
        {
          payload,
          success: record.pipe(HttpApiSchema.status(201)),
          error
        }
      ).annotateMerge(textsOf(`Create ${aNoun}`, description)),

    list: <
      const Sort extends string,
      Only extends Schema.Struct.Fields = {},
      Item extends Schema.Top = Record
    >(options: {
      readonly sorts: ReadonlyArray<Sort>
      /** The searched fields in words. */
      readonly search: string
      readonly only?: Only
      /** The record as the list shows it, if it differs. */
      readonly item?: Item
      /** The name of the schema of a page. */
      readonly page?: string
      readonly description: string
    }) =>
      HttpApiEndpoint.get(`list${name}s`, path, {
        query: {
          ...listQuery(options.sorts),
          ...searchQuery(options.search),
          ...archivedQuery,
          ...(options.only as Only)
        },
        success: pageOf((options.item ?? record) as Item).annotate({ identifier: options.page ?? `${name}Page` })
      }).annotateMerge(
        listAnnotations({ summary: `List ${aNoun.replace(/^an? /, "")}s`, description: options.description })
      )
  }
}

/** The operation that lists what belongs to the record that the path names by `id`. `only` are its filters. */
export const listBelow = <
  const Name extends string,
  const Path extends `/${string}/:id/${string}`,
  const Sort extends string,
  Item extends Schema.Top,
  Only extends Schema.Struct.Fields = {}
>(
  name: Name,
  path: Path,
  {
    sorts,
    only,
    item,
    page,
    ...texts
  }: {
    readonly sorts: ReadonlyArray<Sort>
    readonly only?: Only
    readonly item: Item
    /** The name of the schema of a page. */
    readonly page: string
    readonly summary: string
    readonly description: string
  }
) =>
  HttpApiEndpoint.get(name, path, {
    params: { id: Id },
    query: { ...listQuery(sorts), ...(only as Only) },
    success: pageOf(item).annotate({ identifier: page }),
    error: NotFound
  }).annotateMerge(listAnnotations(texts))

/** The operations on one record. `restore` is the inverse of `archive`. */
export const operationsOnOne = <
  const Name extends string,
  const Path extends string,
  Params extends HttpApiEndpoint.ParamsConstraint & Schema.Struct.Fields,
  Record extends Schema.Top
>({
  name,
  aNoun,
  record: success,
  params,
  ...names
}: RecordNames<Name, Path, Record> & { readonly params: Params }) => {
  const path = `/${names.path}` as const
  return {
    get: (description?: string) =>
      HttpApiEndpoint.get(`get${name}`, path, { params, success, error: NotFound }).annotateMerge(
        textsOf(`Get ${aNoun}`, description)
      ),

    change: <Payload extends Schema.Top, const Errors extends HttpApiEndpoint.ErrorConstraint = OnlyNotFound>({
      payload,
      error,
      description
    }: Operation<Errors> & { readonly payload: Payload }) =>
      HttpApiEndpoint.put<`change${Name}`, `/${Path}`, Params, never, Payload, never, Record, Errors>(
        `change${name}`,
        path,
        {
          params,
          payload,
          success,
          error: orNotFound<Errors>(error)
        }
      ).annotateMerge(textsOf(`Change ${aNoun}`, description)),

    archive: <const Errors extends HttpApiEndpoint.ErrorConstraint = OnlyNotFound>({
      error,
      description
    }: Operation<Errors>) =>
      HttpApiEndpoint.delete<`archive${Name}`, `/${Path}`, Params, never, never, never, Record, Errors>(
        `archive${name}`,
        path,
        { params, success, error: orNotFound<Errors>(error) }
      ).annotateMerge(textsOf(`Archive ${aNoun}`, description)),

    restore: <const Errors extends HttpApiEndpoint.ErrorConstraint = OnlyNotFound>({
      error,
      ...texts
    }: Operation<Errors> = {}) =>
      HttpApiEndpoint.post<`restore${Name}`, `/${Path}/restore`, Params, never, never, never, Record, Errors>(
        `restore${name}`,
        `${path}/restore`,
        {
          params,
          success,
          error: orNotFound<Errors>(error)
        }
      ).annotateMerge(restores({ aNoun, ...texts }))
  }
}

const textsOf = (summary: string, description: string | undefined) =>
  OpenApi.annotations({ summary, ...(description !== undefined && { description }) })
