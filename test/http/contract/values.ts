/** Random values that a schema should allow. Callers validate them against the schema again. */
import { randomUUID } from "node:crypto"
import type { Dice } from "../../e2e/support/Dice.ts"
import type { Schema } from "./description.ts"

/** The inputs of a random value: dice, the resolution of schemas, and existing identifiers. */
export interface Making {
  readonly dice: Dice
  readonly resolve: (schema: Schema) => Schema
  readonly known: Known
}

/** Values from earlier requests and responses, by the name of their field. */
export type Known = Map<string, Array<unknown>>

const knownMax = 30
const depthMax = 6

/** Stores a value for later requests. */
export function learn(known: Known, name: string, value: unknown): void {
  const values = known.get(name) ?? []
  if (values.includes(value)) return
  known.set(name, [...values, value].slice(-knownMax))
}

/** Returns a value of the schema for the field with this name. */
export function valueOf(making: Making, declared: Schema, name: string, depth = 0): unknown {
  const { dice } = making
  const schema = making.resolve(declared)
  const choices: ReadonlyArray<Schema> | undefined = schema["anyOf"] ?? schema["oneOf"]
  if (choices !== undefined) return valueOf(making, dice.pick(choices), name, depth)
  if (schema["allOf"] !== undefined) return valueOf(making, merged(making, schema), name, depth)
  if ("const" in schema) return schema["const"]
  if (schema["enum"] !== undefined) return dice.pick(schema["enum"])
  const examples: ReadonlyArray<unknown> | undefined = schema["examples"]
  if (examples !== undefined && schema["format"] === undefined && dice.chance(0.7)) return dice.pick(examples)
  const types = [schema["type"] ?? "object"].flat()
  switch (dice.pick(types)) {
    case "null":
      return null
    case "boolean":
      return dice.chance(0.5)
    case "integer":
      return numberOf(dice, schema, 1)
    case "number":
      return numberOf(dice, schema, 0.25)
    case "array":
      return arrayOf(making, schema, name, depth)
    case "string":
      return textOf(making, schema, name)
    default:
      return objectOf(making, schema, depth)
  }
}

const merged = (making: Making, { allOf, ...rest }: Schema): Schema =>
  Object.assign({}, rest, ...(allOf as ReadonlyArray<Schema>).map((part) => making.resolve(part)))

/** Returns mostly small numbers, and numbers at the bounds. */
function numberOf(dice: Dice, schema: Schema, step: number): number {
  const least = schema["minimum"] ?? (schema["exclusiveMinimum"] ?? -100) + step
  const most = schema["maximum"] ?? (schema["exclusiveMaximum"] ?? 1_000) - step
  const near = Math.max(least, Math.min(most, least < 0 ? 0 : least))
  const small = Math.min(most, near + step * dice.between(0, 100))
  return dice.pick([least, most, small, small, small, small])
}

function arrayOf(making: Making, schema: Schema, name: string, depth: number): ReadonlyArray<unknown> {
  const least = schema["minItems"] ?? 0
  const most = Math.min(schema["maxItems"] ?? least + 3, least + 3)
  const count = schema["items"] === undefined || depth > depthMax ? least : making.dice.between(least, most)
  return Array.from({ length: count }, () => valueOf(making, schema["items"] ?? {}, name.replace(/s$/, ""), depth + 1))
}

function objectOf(making: Making, schema: Schema, depth: number): object {
  const { dice } = making
  const required: ReadonlyArray<string> = schema["required"] ?? []
  const entries = Object.entries<Schema>(schema["properties"] ?? {})
    .filter(([name]) => required.includes(name) || (depth <= depthMax && dice.chance(0.4)))
    .map(([name, field]) => [name, valueOf(making, field, name, depth + 1)])
  const isFree = schema["properties"] === undefined && depth <= depthMax
  const free = Array.from({ length: isFree ? dice.between(0, 2) : 0 }, () => [
    plain(dice, dice.between(1, 8)),
    typeof schema["additionalProperties"] === "object"
      ? valueOf(making, schema["additionalProperties"], "", depth + 1)
      : dice.pick<unknown>([null, true, 12.5, "text", ["a", {}], { a: { b: [] } }])
  ])
  return Object.fromEntries([...entries, ...free])
}

function textOf({ dice, known }: Making, schema: Schema, name: string): string {
  switch (schema["format"]) {
    case "uuid":
      return dice.chance(0.15) ? randomUUID() : String(dice.pick(known.get(name) ?? [randomUUID()]))
    case "date-time":
      return instant(dice)
    case "date":
      return instant(dice).slice(0, 10)
    case "email":
      return `${plain(dice, 8)}@${plain(dice, 5)}.example`
    case "uri":
      return `https://${plain(dice, 6)}.example/${plain(dice, 4)}`
  }
  if (known.has(name) && dice.chance(0.5)) return String(dice.pick(known.get(name)!))
  if (schema["pattern"] !== undefined) return matching(dice, schema)
  const least: number = schema["minLength"] ?? 0
  const most: number = Math.min(schema["maxLength"] ?? 40, 5_000)
  const length = dice.pick([least, most, dice.between(least, Math.min(most, least + 20))])
  return dice.chance(0.6) ? plain(dice, length) : odd(dice, length)
}

const guessesMax = 100

/** Guesses a text that matches the pattern. The patterns of these APIs are simple. */
function matching(dice: Dice, { pattern, minLength = 0, maxLength = 12 }: Schema): string {
  const expression = new RegExp(pattern, "u")
  for (let guess = 0; guess < guessesMax; guess++) {
    const length = dice.between(minLength, Math.min(maxLength, minLength + 12))
    const text = Array.from({ length }, () => dice.pick(dice.pick(alphabets))).join("")
    const uniform = Array.from({ length }, () => dice.pick(alphabets[guess % alphabets.length]!)).join("")
    const found = [uniform, text].find((candidate) => expression.test(candidate))
    if (found !== undefined) return found
  }
  return ""
}

/** Returns a time within a month, with a random offset. */
function instant(dice: Dice): string {
  const hours = dice.between(-12, 14)
  const at = Date.now() + dice.between(-2, 30) * 86_400_000 + dice.between(0, 86_400_000)
  if (dice.chance(0.5)) return new Date(at).toISOString()
  const local = new Date(at + hours * 3_600_000).toISOString().slice(0, -1)
  return `${local}${hours < 0 ? "-" : "+"}${`${Math.abs(hours)}`.padStart(2, "0")}:00`
}

const letters = [..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"]
const alphabets = ["0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789abcdef-"].map(
  (alphabet) => [...alphabet]
)
const oddities = [..."äßéñ漢字ひらがな한글العربية\u200b\u202e\u00a0 '\"\\/<>%_;--&#`{}[]().,*?\t\n\u0301"]

const plain = (dice: Dice, length: number) => Array.from({ length }, () => dice.pick(letters)).join("")
const odd = (dice: Dice, length: number) => Array.from({ length }, () => dice.pick(oddities)).join("")
