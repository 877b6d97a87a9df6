/**
 * Finds the fields of a body that an operation does not know (`api/IgnoredFields.ts`). The names of an operation's fields
 * are read once from its schema. A body is parsed a second time, which costs some microseconds for a body of a kilobyte.
 */
import { Cause, Context, Effect, Layer, Result, SchemaAST } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { IgnoredFields, ignoredFieldsBounds } from "../../api/IgnoredFields.ts"

const { pathsMax, headerLengthMax, more } = ignoredFieldsBounds

/** Characters of a field's name in the header. */
const nameLengthMax = 100

/** Notes the ignored fields of a request for the header of its answer. */
export const layer = Layer.succeed(IgnoredFields)((handle, { endpoint }) => {
  const shapes = shapesOf(endpoint)
  if (shapes.length === 0) return handle
  return Effect.withFiber((fiber) => {
    const request = Context.getUnsafe(fiber.context, HttpServerRequest.HttpServerRequest)
    if (!hasJson(request.headers)) return handle
    // The operation has read the text before, unless another part of the request was malformed.
    const note = Effect.matchCause(request.text, {
      onFailure: () => undefined,
      onSuccess: (text) => noteIgnored(request.source, shapes, text)
    })
    return Effect.matchCauseEffect(handle, {
      onSuccess: (response) => Effect.as(note, response),
      onFailure: (cause) =>
        Cause.hasInterrupts(cause) ? Effect.failCause(cause) : Effect.andThen(note, Effect.failCause(cause))
    })
  })
})

const marked = Symbol("usher/http/fields/ignored")

/** The request of the platform. It is the same object in all middlewares. */
interface Marked {
  [marked]?: string
}

/** Returns the value of the header for the request, if its body has unknown fields. */
export const ignoredFieldsOf = ({ source }: HttpServerRequest.HttpServerRequest): string | undefined =>
  (source as Marked)[marked]

const hasJson = (headers: { readonly [name: string]: string | undefined }): boolean =>
  (headers["content-length"] !== undefined || headers["transfer-encoding"] !== undefined) &&
  /^\s*application\/json\s*(?:;|$)/i.test(headers["content-type"] ?? "application/json")

const noteIgnored = (source: object, shapes: Shapes, text: string): void => {
  const body = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(body)) return
  const header = headerOf(ignoredPaths(shapes, body.success))
  if (header !== undefined) (source as Marked)[marked] = header
}

/** Returns the paths as one header; undefined without any. */
export const headerOf = (paths: ReadonlyArray<string>): string | undefined => {
  if (paths.length === 0) return undefined
  let header = ""
  for (const [index, path] of paths.entries()) {
    const item = index === 0 ? path : `, ${path}`
    if (index === pathsMax || header.length + item.length > headerLengthMax - `, ${more}`.length) {
      return header === "" ? more : `${header}, ${more}`
    }
    header += item
  }
  return header
}

/** What a schema knows of a value: its alternatives if it is an object, and its items if it is an array. */
interface Shape {
  readonly objects: Array<ObjectShape>
  readonly items: Array<Shape>
  /** The value may be any JSON. */
  isFree: boolean
  /** Shapes that the value may have as well, such as the members of a union. */
  readonly parts: Array<Shape>
}
type Shapes = ReadonlyArray<Shape>

interface ObjectShape {
  readonly fields: ReadonlyMap<string, Shapes>
  /** The values of the fields that are not in `fields`; undefined if there are no others. */
  readonly others: Shapes | undefined
  /** Fields that tell this alternative from others, with their values. */
  readonly tags: ReadonlyArray<readonly [name: string, values: ReadonlySet<unknown>]>
}

/**
 * Returns the paths of unknown fields: the first of each name at each place, where the items of an array are one place.
 * One more than fit into a header are enough.
 */
export const ignoredPaths = (shapes: Shapes, body: unknown): ReadonlyArray<string> => {
  const found = new Map<string, string>()
  /** The names and indices that lead to the value. */
  const trail: Array<string | number> = []
  const visitItems = (items: ReadonlyArray<unknown>, known: Shapes): void => {
    if (known.length === 0) return
    for (const [index, item] of items.entries()) {
      trail.push(index)
      visit(item, known)
      trail.pop()
    }
  }
  const visitFields = (fields: Fields, alternatives: ReadonlyArray<ObjectShape>): void => {
    if (alternatives.length === 0) return
    for (const name of Object.keys(fields)) {
      if (found.size > pathsMax) return
      const value = fields[name]
      const known = knownOf(alternatives, name)
      if (known.length > 0 && !isObject(value)) continue
      trail.push(name)
      if (known.length > 0) visit(value, known)
      else note()
      trail.pop()
    }
  }
  const visit = (value: unknown, known: Shapes): void => {
    if (!isObject(value) || found.size > pathsMax || known.some(({ isFree }) => isFree)) return
    if (Array.isArray(value))
      visitItems(value, known.length === 1 ? known[0]!.items : known.flatMap(({ items }) => items))
    else visitFields(value, alternativesOf(known, value))
  }
  const note = () => {
    const place = trail.map((step) => (typeof step === "number" ? "[]" : `.${shown(step)}`)).join("")
    if (found.size <= pathsMax && !found.has(place)) found.set(place, pathOf(trail))
  }
  visit(body, shapes)
  return [...found.values()]
}

type Fields = { readonly [name: string]: unknown }

const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null

/** The alternatives whose literals the value has. */
const alternativesOf = (known: Shapes, value: Fields): ReadonlyArray<ObjectShape> => {
  if (known.length === 1 && known[0]!.objects.length === 1) return known[0]!.objects
  return known.flatMap(({ objects }) =>
    objects.filter(({ tags }) => tags.every(([name, values]) => !Object.hasOwn(value, name) || values.has(value[name])))
  )
}

/** The shapes that a field has in the alternatives; none if it is unknown. */
const knownOf = (alternatives: ReadonlyArray<ObjectShape>, name: string): Shapes => {
  if (alternatives.length === 1) {
    const { fields, others } = alternatives[0]!
    return fields.get(name) ?? others ?? []
  }
  return alternatives.flatMap(({ fields, others }) => fields.get(name) ?? others ?? [])
}

const pathOf = (trail: ReadonlyArray<string | number>): string =>
  trail
    .map((step, index) => (typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${shown(step)}`))
    .join("")

/** A name in printable characters that separate nothing. */
const shown = (name: string): string => {
  const text = encodeURIComponent(name.toWellFormed().slice(0, nameLengthMax).toWellFormed())
  return text.replaceAll(".", "%2E")
}

const shapesByEndpoint = new WeakMap<HttpApiEndpoint.Top, Shapes>()

/** The shapes of an operation's bodies; none if there is no body, or every field is known. */
const shapesOf = (endpoint: HttpApiEndpoint.Top): Shapes => {
  const known = shapesByEndpoint.get(endpoint)
  if (known !== undefined) return known
  const schemas = endpoint.payload.get("application/json")?.schemas ?? []
  const shapes = shapesIn(schemas.map(({ ast }) => ast))
  shapesByEndpoint.set(endpoint, shapes)
  return shapes
}

export const shapesIn = (schemas: ReadonlyArray<SchemaAST.AST>): Shapes => {
  const made = new Map<SchemaAST.AST, Shape>()
  const shapes = schemas.map((ast) => shapeOf(ast, made))
  // A part may contain the whole, so the parts are added when all shapes are known.
  const wholes = [...made.values()].map((shape) => [shape, allParts(shape)] as const)
  for (const [shape, parts] of wholes) for (const part of parts) add(shape, part)
  return shapes.filter((shape) => shape.objects.length > 0 || shape.items.length > 0)
}

/** The parts of a shape, and their parts, as they are now. */
const allParts = (shape: Shape): ReadonlyArray<Shape> => {
  const found = new Set([shape])
  for (const { parts } of found) for (const part of parts) found.add(part)
  found.delete(shape)
  return [...found].map((part) => ({ ...part, objects: [...part.objects], items: [...part.items] }))
}

function shapeOf(ast: SchemaAST.AST, made: Map<SchemaAST.AST, Shape>): Shape {
  const known = made.get(ast)
  if (known !== undefined) return known
  const shape: Shape = { objects: [], items: [], isFree: false, parts: [] }
  made.set(ast, shape)
  // A value that may be sent as JSON of every shape has the fields to which it is decoded.
  const received = ast.encoding === undefined ? undefined : shapeOf(ast.encoding.at(-1)!.to, made)
  if (received !== undefined && !isAny(received)) {
    shape.parts.push(received)
    return shape
  }
  if (ast._tag === "Objects") shape.objects.push(objectOf(ast, made))
  else if (ast._tag === "Arrays") shape.items.push(...[...ast.elements, ...ast.rest].map((item) => shapeOf(item, made)))
  else if (ast._tag === "Union") shape.parts.push(...ast.types.map((member) => shapeOf(member, made)))
  else if (ast._tag === "Suspend") shape.parts.push(shapeOf(ast.thunk(), made))
  else if (["Declaration", "Unknown", "Any", "ObjectKeyword"].includes(ast._tag)) shape.isFree = true
  return shape
}

const isAny = ({ isFree, items }: Shape): boolean => isFree || items.some((item) => item.isFree)

const add = (shape: Shape, { objects, items, isFree }: Shape): void => {
  shape.objects.push(...objects)
  shape.items.push(...items)
  shape.isFree ||= isFree
}

const objectOf = (
  { propertySignatures, indexSignatures }: Extract<SchemaAST.AST, { _tag: "Objects" }>,
  made: Map<SchemaAST.AST, Shape>
): ObjectShape => {
  const fields = propertySignatures.map(({ name, type }) => [String(name), [shapeOf(type, made)]] as const)
  const tags = propertySignatures.flatMap(({ name, type }) => {
    const values = literalsOf(type)
    return values === undefined ? [] : [[String(name), new Set(values)] as const]
  })
  const [others] = indexSignatures
  return { fields: new Map(fields), others: others && [shapeOf(others.type, made)], tags }
}

const literalsOf = (ast: SchemaAST.AST): ReadonlyArray<unknown> | undefined => {
  if (ast._tag === "Literal") return [ast.literal]
  if (ast._tag !== "Union") return undefined
  const members = ast.types.map(literalsOf)
  return members.every((literals) => literals !== undefined) ? members.flat() : undefined
}
