/** Lists on the Admin API: their query parameters, their envelope, and the texts about archived records. */
import { Schema } from "effect"
import { OpenApi } from "effect/http-api"
import { pageSizeDefault, pageSizeMax, searchLengthMin } from "../../domain/values/Lists.ts"
import { isAtLeast, key } from "../../domain/values/Text.ts"

const PageSize = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: pageSizeMax }))

/** Base64 only, because as many other characters could exceed the maximum size of the request's head. */
const cursorPattern = /^[A-Za-z0-9+/=]*$/
const CursorText = Schema.String.check(
  Schema.isMaxLength(8_000),
  Schema.makeFilter((text: string) => cursorPattern.test(text), {
    expected: "a cursor of this list",
    representation: { id: "usher/string", payload: null },
    toJsonSchema: () => ({ pattern: cursorPattern.source })
  })
)

/** The query parameters of a list. */
export const listQuery = <const Sort extends string>(sorts: ReadonlyArray<Sort>) => ({
  first: Schema.optionalKey(PageSize),
  after: Schema.optionalKey(CursorText.annotate({ description: "Return items after this cursor: an `endCursor`." })),
  last: Schema.optionalKey(PageSize),
  before: Schema.optionalKey(CursorText.annotate({ description: "Return items before this cursor: a `startCursor`." })),
  sortBy: Schema.optionalKey(Schema.Literals(sorts).annotate({ description: `Default \`${sorts[0]}\`.` })),
  sortDir: Schema.optionalKey(Schema.Literals(["asc", "desc"]).annotate({ description: "Default `asc`." }))
})

/** The texts of a list in the description. */
export const listAnnotations = (options: {
  readonly identifier?: string
  readonly summary: string
  readonly description: string
}) => OpenApi.annotations({ ...options, transform: (operation) => withTypes(operation as Operation) })

interface Operation {
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly schema: object }>
}

/** The derived schema counts a character beyond U+FFFF as two. */
const searchLength = { minLength: searchLengthMin }

const pageSize = { type: "integer", minimum: 1, maximum: pageSizeMax }

/** Parameters that are numbers or truth values and arrive as text. */
const typed: ReadonlyMap<string, object> = new Map([
  [
    "first",
    {
      ...pageSize,
      description: `Items to return, from the beginning or from \`after\` on. Default ${pageSizeDefault}.`
    }
  ],
  [
    "last",
    {
      ...pageSize,
      description: "Items to return, back from the end or from `before`. Not together with `first` or `after`."
    }
  ],
  [
    "minRiskScore",
    { type: "number", minimum: 0, maximum: 1, description: "Only places with at least this risk score." }
  ],
  ["active", { type: "boolean", description: "True: only places that have not ended. Default false." }],
  ["archived", { type: "boolean", description: "True: only archived ones. Default false." }]
])

const withTypes = (operation: Operation): Operation => ({
  ...operation,
  parameters: operation.parameters.map((parameter) => {
    if (parameter.name === "search") return { ...parameter, schema: { ...parameter.schema, ...searchLength } }
    const schema = typed.get(parameter.name)
    return schema === undefined ? parameter : { ...parameter, schema }
  })
})

/** The query parameter of lists that can be searched. `where` names the fields that are searched. */
export const searchQuery = (where: string) => ({
  search: Schema.optionalKey(
    // Two code points may be one letter.
    key({ minLength: searchLengthMin, maxLength: 200 })
      .check(isAtLeast(searchLengthMin))
      .pipe(
        Schema.annotateEncoded({
          description:
            `Text of at least ${searchLengthMin} characters to search for in ${where}. Case counts for nothing, by the ` +
            "rules of Unicode for all languages."
        })
      )
  )
})

/** The envelope of a list. */
export const pageOf = <S extends Schema.Constraint>(item: S) =>
  Schema.Struct({
    data: Schema.Array(item),
    pageInfo: Schema.Struct({
      startCursor: Schema.NullOr(Schema.String),
      endCursor: Schema.NullOr(Schema.String)
    })
  })

/** The query parameter of lists whose records can be archived. */
export const archivedQuery = { archived: Schema.optionalKey(Schema.Boolean) }

/** The texts of an operation that restores, in the description. */
export const restores = (record: {
  readonly aNoun: string
  readonly description?: string
  readonly identifier?: string
}) =>
  OpenApi.annotations({
    ...(record.identifier !== undefined && { identifier: record.identifier }),
    summary: `Restore ${record.aNoun}`,
    description: [
      "Restores the record and returns it. A record that is not archived is returned as it is.",
      ...(record.description === undefined ? [] : [record.description])
    ].join(" ")
  })
