/**
 * Requests with one broken constraint each. The description decides whether a constraint is broken: values that it
 * accepts are dropped, so the remaining requests must be refused.
 */
import { randomUUID } from "node:crypto"
import type { Dice } from "../../e2e/support/Dice.ts"
import type { Declared, Parameter, Schema } from "./description.ts"
import type { Draft } from "./requests.ts"
import { written } from "./requests.ts"
import type { Wire } from "./wire.ts"

/** A request that must be refused, its defect, and the expected status. */
export interface Broken {
  readonly what: string
  readonly wire: Wire
  readonly status: 400 | 415
}

/** Returns all ways to break the draft. */
export function breaksOf(declared: Declared, draft: Draft, dice: Dice): ReadonlyArray<Broken> {
  return [
    ...brokenParameters(declared, draft, dice),
    ...brokenBodies(declared, draft, dice),
    ...notJson(declared, draft)
  ]
}

/** Values that are wrong for most types. */
const strays: ReadonlyArray<unknown> = [null, true, 0, -1, 1.5, 1e300, "", "not it", [], [null], {}, { a: 1 }]

/** Texts that almost match a format. */
const nearly: { readonly [format: string]: ReadonlyArray<string> } = {
  uuid: ["0199b2a1-7c3e-7d7a-b0f2", "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5g", "0199b2a17c3e7d7ab0f20f1e2d3c4b5a "],
  "date-time": ["2026-02-30T18:00:00Z", "2026-11-21", "2026-11-21T18:00:00", "2026-11-21T25:00:00Z", "tomorrow"],
  date: ["2026-02-30", "2026-13-01", "21.11.2026", "2026-11-21T18:00:00Z"],
  email: ["no address", "@example.com", "a@", "a b@example.com"],
  uri: ["no address", "//nowhere"]
}

/** Returns values of the wrong type, and values of the right type just out of bounds. */
function wrongValues(declared: Declared, schema: Schema, dice: Dice): ReadonlyArray<unknown> {
  const own = declared.resolve(schema)
  const inner = [...(own["anyOf"] ?? []), ...(own["allOf"] ?? [])].flatMap((part: Schema) =>
    wrongValues(declared, part, dice)
  )
  const just: Array<unknown> = [...(nearly[own["format"]] ?? [])]
  if (own["maxLength"] !== undefined) just.push("x".repeat(own["maxLength"] + dice.between(1, 50)))
  if (own["minLength"] > 0) just.push("x".repeat(own["minLength"] - 1))
  if (own["maximum"] !== undefined) just.push(own["maximum"] + 1)
  if (own["minimum"] !== undefined) just.push(own["minimum"] - 1)
  if (own["type"] === "integer") just.push((own["minimum"] ?? 0) + 0.5)
  if (own["enum"] !== undefined) just.push(`${own["enum"][0]} `, String(own["enum"][0]).toLowerCase(), "other")
  if (own["pattern"] !== undefined) just.push("~", "1e3", "-1")
  if (own["maxItems"] !== undefined && own["maxItems"] <= 2_000) just.push(Array(own["maxItems"] + 1).fill(filler(own)))
  return [...strays, ...just, ...inner]
}

const filler = ({ items = {} }: Schema): unknown => (items["format"] === "uuid" ? randomUUID() : null)

function brokenParameters(declared: Declared, draft: Draft, dice: Dice): ReadonlyArray<Broken> {
  return declared.parameters.flatMap((parameter) => {
    const texts = wrongValues(declared, parameter.schema, dice).map(asText)
    const wrong = [...new Set(texts)].filter((text) => !parameter.accepts(text) && isRoutable(parameter, text))
    const found = wrong.map((text) => ({
      what: `${parameter.in} ${parameter.name} is ${shown(text)}`,
      wire: written(declared, withParameter(draft, parameter, text)),
      status: 400 as const
    }))
    const isLeftOut = parameter.in === "query" && parameter.required
    const without = { ...draft, query: draft.query.filter(([name]) => name !== parameter.name) }
    const wire = written(declared, without)
    return isLeftOut ? [...found, { what: `query ${parameter.name} is missing`, wire, status: 400 as const }] : found
  })
}

const asText = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))

/** A path parameter that is empty or too long for a route makes a different path, or none. */
const isRoutable = (parameter: Parameter, text: string) =>
  parameter.in === "query" || (text.length > 0 && text.length < 500)

const withParameter = (draft: Draft, { name, in: place }: Parameter, text: string): Draft =>
  place === "path"
    ? { ...draft, params: { ...draft.params, [name]: text } }
    : { ...draft, query: [...draft.query.filter(([other]) => other !== name), [name, text]] }

function brokenBodies(declared: Declared, draft: Draft, dice: Dice): ReadonlyArray<Broken> {
  const { body } = declared
  if (body === undefined) return []
  return (
    changesOf(declared, body.schema, draft.body, dice)
      // If the body is optional, null means no body.
      .filter(({ value }) => value !== undefined && !(body.isOptional && value === null) && !body.accepts(value))
      .map(({ what, value }) => ({ what, wire: written(declared, { ...draft, body: value }), status: 400 }))
  )
}

interface Change {
  readonly what: string
  readonly value: unknown
}

/** Returns the value with one change each. Not every change breaks it. */
function changesOf(declared: Declared, schema: Schema, value: unknown, dice: Dice, at = "body"): ReadonlyArray<Change> {
  const own = declared.resolve(schema)
  const whole = wrongValues(declared, own, dice).map((wrong) => ({ what: `${at} is ${shown(wrong)}`, value: wrong }))
  const parts: ReadonlyArray<Schema> = own["anyOf"] ?? []
  const members = parts.flatMap((part) => changesOf(declared, part, value, dice, at))
  if (Array.isArray(value) && own["items"] !== undefined && value.length > 0) {
    const index = dice.between(0, value.length - 1)
    const inner = changesOf(declared, own["items"], value[index], dice, `${at}[${index}]`)
    return [...whole, ...inner.map(({ what, value: item }) => ({ what, value: value.with(index, item) }))]
  }
  const { properties } = own
  if (properties === undefined || typeof value !== "object" || value === null) return [...whole, ...members]
  const fields = Object.entries<Schema>(properties).flatMap(([name, field]) => {
    const { [name]: inner, ...rest } = value as { readonly [name: string]: unknown }
    const changes = changesOf(declared, field, inner, dice, `${at}.${name}`)
    const changed = changes.map(({ what, value: part }) => ({ what, value: { ...rest, [name]: part } }))
    return [...changed, { what: `${at}.${name} is missing`, value: rest }]
  })
  return [...whole, ...members, ...fields]
}

/** Returns bodies that are not JSON, or whose content type is not JSON. */
function notJson(declared: Declared, draft: Draft): ReadonlyArray<Broken> {
  if (declared.body === undefined) return []
  const whole = written(declared, { ...draft, body: draft.body ?? {} })
  const text = String(whole.body)
  const bodies = {
    "cut off": text.slice(0, -1),
    "more than one": `${text}${text}`,
    "bare words": "{name: 'x'}",
    NaN: "NaN"
  }
  const types = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/xml"
  ]
  return [
    ...Object.entries(bodies).map(([what, body]) => ({
      what: `the body is not JSON: ${what}`,
      wire: { ...whole, body },
      status: 400 as const
    })),
    ...types.map((type) => ({
      what: `the body is said to be ${type}`,
      wire: { ...whole, headers: { ...whole.headers, "content-type": type } },
      status: 415 as const
    }))
  ]
}

/** Returns a value in a few characters. */
const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "absent"
  return text.length <= 60 ? text : `${text.slice(0, 40)}… (${text.length} characters)`
}
