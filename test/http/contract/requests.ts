/** Requests to an operation before they are sent. */
import { goodCredentials, outcome } from "../matrix/credentials.ts"
import type { Input } from "../matrix/inputs.ts"
import type { World } from "../matrix/world.ts"
import type { Declared, Parameter } from "./description.ts"
import { type Making, valueOf } from "./values.ts"
import type { Wire } from "./wire.ts"

/** A request before serialization. */
export interface Draft {
  readonly params: { readonly [name: string]: string }
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  readonly body?: unknown
  readonly file?: Input["file"]
  readonly headers: { readonly [name: string]: string }
}

/** Returns the request that the operation's row in the matrix creates. */
export const baseOf = ({ params = {}, query, body, file }: Input, headers: Draft["headers"]): Draft => ({
  params,
  query: [...new URLSearchParams(query)],
  headers,
  ...(body !== undefined && { body }),
  ...(file !== undefined && { file })
})

/** Returns the credentials of the own tenant that the operation accepts. */
export const credentialsFor = ({ operation }: Declared, world: World): ReadonlyArray<Draft["headers"]> =>
  goodCredentials(world)
    .filter(({ name, shown }) => outcome(operation, shown) === "own" && !name.includes("another"))
    .map(({ headers }) => headers)

/** Serializes the draft. */
export function written({ operation }: Declared, { params, query, body, file, headers }: Draft): Wire {
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name]!))
  const search = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&")
  return {
    method: operation.method,
    path: search === "" ? path : `${path}?${search}`,
    headers: {
      ...headers,
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(file !== undefined && { "content-type": file.type })
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(file !== undefined && { body: file.bytes })
  }
}

const attemptsMax = 5

/** Returns the base with some optional parts removed, some added, and some values replaced by other valid ones. */
export function varied(declared: Declared, base: Draft, making: Making): Draft {
  const query = queryFrom(declared, base, making)
  if (declared.body === undefined) return { ...base, query }
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const body = bodyFrom(declared.body.schema, base.body, making)
    if (declared.body.accepts(body)) return { ...base, query, body }
  }
  return { ...base, query }
}

function queryFrom({ parameters }: Declared, base: Draft, making: Making): Draft["query"] {
  const { dice } = making
  return parameters
    .filter((parameter) => parameter.in === "query")
    .flatMap((parameter): Draft["query"] => {
      const given = base.query.filter(([name]) => name === parameter.name)
      if (given.length > 0 && dice.chance(0.6)) return given
      if (!parameter.required && dice.chance(0.6)) return []
      const text = textFor(parameter, making)
      return parameter.accepts(text) ? [[parameter.name, text]] : given
    })
}

const textFor = ({ name, schema }: Parameter, making: Making): string => String(valueOf(making, schema, name))

function bodyFrom(declared: object, base: unknown, making: Making): unknown {
  const { dice } = making
  const schema = making.resolve(declared)
  const isObject = schema["properties"] !== undefined && typeof base === "object" && base !== null
  if (!isObject) {
    // Of several shapes, it mostly keeps the one of the base.
    return dice.chance(base === undefined ? 1 : 0.2) ? valueOf(making, schema, "") : base
  }
  const required: ReadonlyArray<string> = schema["required"] ?? []
  const fields = Object.entries(schema["properties"] as { readonly [name: string]: object })
  const given = base as { readonly [name: string]: unknown }
  const entries = fields.flatMap(([name, field]) => {
    const isGiven = Object.hasOwn(given, name)
    if (!required.includes(name) && dice.chance(isGiven ? 0.15 : 0.7)) return []
    return [[name, isGiven && dice.chance(0.7) ? given[name] : valueOf(making, field, name)] as const]
  })
  return Object.fromEntries([...entries, ...(dice.chance(0.1) ? [["unheardOf", { a: [1] }] as const] : [])])
}
