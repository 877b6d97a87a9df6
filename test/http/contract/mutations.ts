/** Valid requests damaged in ways that no client library produces. */
import type { Dice } from "../../e2e/support/Dice.ts"
import type { Declared } from "./description.ts"
import type { Draft } from "./requests.ts"
import { written } from "./requests.ts"
import type { Wire } from "./wire.ts"

/** A damaged request with a description of the damage. */
export interface Mutated {
  readonly what: string
  readonly wire: Wire
}

/** Returns the draft with one or two kinds of damage. */
export function mutated(declared: Declared, draft: Draft, dice: Dice): Mutated {
  const ways = [
    ...Object.entries(declared.body === undefined ? strayBodies : { ...texts, ...structures }),
    ...Object.entries(heads),
    ...(declared.parameters.length > 0 || declared.body === undefined ? Object.entries(addresses) : [])
  ]
  const start: Damage = { declared, draft, wire: written(declared, draft), dice }
  let what = ""
  let { wire } = start
  for (let count = dice.between(1, 2); count > 0; count--) {
    const [name, damage] = dice.pick(ways)
    what += what === "" ? name : `, ${name}`
    wire = damage({ ...start, wire })
  }
  return { what, wire }
}

interface Damage {
  readonly declared: Declared
  readonly draft: Draft
  readonly wire: Wire
  readonly dice: Dice
}

type Ways = { readonly [what: string]: (damage: Damage) => Wire }

/** Texts that often break programs. */
const awkward: ReadonlyArray<string> = [
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udc00\ud800",
  "\uffff",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "' or 1=1; --",
  "%00",
  "${7*7}",
  "../../etc/passwd",
  "\\u0000",
  "x".repeat(70_000),
  "9".repeat(400),
  "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a\u0000",
  "2026-11-21T18:00:00.000000000000001Z",
  "+275760-09-13T00:00:00.000Z",
  "-000001-01-01T00:00:00Z",
  "1e5",
  "-0",
  "0x10",
  "Infinity",
  "１２",
  ""
]

/** JSON texts with numbers and nesting that no ordinary client sends. */
const extremes: ReadonlyArray<string> = [
  "1e999",
  "-1e999",
  "-0",
  "0.1",
  "9007199254740993",
  "123456789012345678901234567890",
  "2147483648",
  "9223372036854775808",
  "1e-400",
  nested(33),
  nested(5_000),
  `{"a":`.repeat(2_000) + "1" + "}".repeat(2_000),
  `{"__proto__":{"isAdmin":true}}`,
  `{"constructor":{"prototype":{"x":1}}}`,
  `["${"a".repeat(100)}"]`,
  "null"
]

function nested(depth: number): string {
  return "[".repeat(depth) + "]".repeat(depth)
}

const bodyOf = ({ wire }: Damage): string => String(wire.body ?? "{}")

const withBody = ({ wire }: Damage, body: string | Buffer): Wire => ({
  ...wire,
  body,
  headers: { "content-type": "application/json", ...wire.headers }
})

/** Damage to the body as text. */
const texts: Ways = {
  "bytes flipped": (damage) => {
    const bytes = Buffer.from(bodyOf(damage))
    for (let count = damage.dice.between(1, 4); count > 0 && bytes.length > 0; count--) {
      const at = damage.dice.between(0, bytes.length - 1)
      bytes[at] = bytes[at]! ^ (1 << damage.dice.between(0, 7))
    }
    return withBody(damage, bytes)
  },
  "cut off": (damage) => withBody(damage, bodyOf(damage).slice(0, damage.dice.between(0, bodyOf(damage).length))),
  empty: (damage) => withBody(damage, ""),
  "only blanks": (damage) => withBody(damage, " \n\t"),
  "a byte order mark in front": (damage) => withBody(damage, `\ufeff${bodyOf(damage)}`),
  "bytes that are not text": (damage) => withBody(damage, Buffer.from([0x22, 0xff, 0xfe, 0xc0, 0x80, 0x22])),
  "in an array": (damage) => withBody(damage, `[${bodyOf(damage)}]`),
  "something else": (damage) => withBody(damage, damage.dice.pick(extremes)),
  "every key twice": (damage) => withBody(damage, bodyOf(damage).replace(/^\{(.+)\}$/s, "{$1,$1}")),
  "a prototype's keys": (damage) =>
    withBody(damage, bodyOf(damage).replace(/^\{/, `{"__proto__":{"name":"x"},"constructor":null,`).replace(",}", "}"))
}

/** Damage to the body as JSON: replaced values. */
const structures: Ways = {
  "an awkward text": (damage) => replacing(damage, () => JSON.stringify(damage.dice.pick(awkward))),
  "an awkward text within": (damage) =>
    replacing(damage, (old) => JSON.stringify(`${JSON.parse(old)}`.slice(0, 20) + damage.dice.pick(awkward))),
  "an extreme": (damage) => replacing(damage, () => damage.dice.pick(extremes)),
  "an array for a value": (damage) => replacing(damage, (old) => `[${old}]`),
  "an object for a value": (damage) => replacing(damage, (old) => `{"0":${old},"length":1}`),
  "many values": (damage) => replacing(damage, (old) => `[${Array(3_000).fill(old.slice(0, 100)).join()}]`),
  "fields swapped": (damage) => {
    const fields = fieldsOf(damage)
    if (fields.length < 2) return damage.wire
    const [a, b] = [damage.dice.pick(fields), damage.dice.pick(fields)]
    const swapped = fields.map(([name, value]) => [name, name === a[0] ? b[1] : name === b[0] ? a[1] : value] as const)
    return withBody(damage, textOf(swapped))
  },
  "another field awkward": (damage) => {
    const names = Object.keys(damage.declared.resolve(damage.declared.body!.schema)["properties"] ?? { name: 1 })
    const value = damage.dice.chance(0.5) ? JSON.stringify(damage.dice.pick(awkward)) : damage.dice.pick(extremes)
    return withBody(damage, textOf([...fieldsOf(damage), [damage.dice.pick(names), value]]))
  }
}

/** Returns the fields of the body, each value as JSON text. */
function fieldsOf({ draft }: Damage): ReadonlyArray<readonly [string, string]> {
  const { body } = draft
  if (typeof body !== "object" || body === null || Array.isArray(body)) return []
  return Object.entries(body).map(([name, value]) => [name, JSON.stringify(value)])
}

const textOf = (fields: ReadonlyArray<readonly [string, string]>): string =>
  `{${fields.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join()}}`

function replacing(damage: Damage, change: (old: string) => string): Wire {
  const fields = fieldsOf(damage)
  if (fields.length === 0) return withBody(damage, change("{}"))
  const [chosen] = damage.dice.pick(fields)
  return withBody(damage, textOf(fields.map(([name, old]) => [name, name === chosen ? change(old) : old])))
}

/** Bodies for operations that take none. */
const strayBodies: Ways = {
  "a stray body": (damage) => withBody(damage, damage.dice.pick(extremes)),
  "a stray body that is not JSON": (damage) => withBody(damage, "{")
}

const withHeader = ({ wire }: Damage, name: string, value: string): Wire => ({
  ...wire,
  headers: { ...wire.headers, [name]: value }
})

/** Headers that no ordinary client sends. Credentials stay unchanged. */
const heads: Ways = {
  "an odd content type": (damage) =>
    withHeader(
      damage,
      "content-type",
      damage.dice.pick([
        "application/json; charset=utf-16",
        "APPLICATION/JSON",
        "application/problem+json",
        ";",
        "json"
      ])
    ),
  "an odd request id": (damage) =>
    withHeader(damage, "x-request-id", damage.dice.pick(["", "a b", "x".repeat(500), "é"])),
  "an odd idempotency key": (damage) =>
    withHeader(damage, "idempotency-key", damage.dice.pick(["", "k".repeat(2_000), "é", "a,b", "{}"])),
  "an odd last event": (damage) =>
    withHeader(damage, "last-event-id", damage.dice.pick(["", "-1", "9".repeat(400), "1e999", "NaN", "é"])),
  "an odd accept header": (damage) =>
    withHeader(damage, "accept", damage.dice.pick(["text/html", "*", "", "application/xml;q=9"])),
  "an odd consumer": (damage) =>
    "x-consumer-id" in damage.wire.headers
      ? withHeader(damage, "x-consumer-id", damage.dice.pick(["", "me", "{}", "x".repeat(5_000), "é"]))
      : damage.wire
}

/** Percent-encoded texts, valid and invalid. */
const encoded = ["%00", "%ff", "%c0%80", "%", "%zz", "%2e%2e", "%2F", "%25", "+", "%ed%a0%80", "a%00b", "x".repeat(900)]

/** Paths and queries that no ordinary client sends. */
const addresses: Ways = {
  "an odd path": (damage) => {
    const [first] = Object.values(damage.draft.params)
    if (first === undefined) return damage.wire
    return { ...damage.wire, path: damage.wire.path.replace(encodeURIComponent(first), damage.dice.pick(encoded)) }
  },
  "an odd query": (damage) => {
    const names = damage.declared.parameters.filter((one) => one.in === "query").map(({ name }) => name)
    const name = damage.dice.pick([...names, ...names, "__proto__", "constructor", "first[]", "", "%zz", "a%00"])
    const text = `${name}=${damage.dice.pick([...encoded, "", "null", "[]", "-1", "1e999", "0x10", " 1"].map(escaped))}`
    const separator = damage.wire.path.includes("?") ? "&" : "?"
    return { ...damage.wire, path: `${damage.wire.path}${separator}${text}` }
  },
  "its query twice": (damage) => {
    const [path, query = "first=1"] = damage.wire.path.split("?")
    return { ...damage.wire, path: `${path}?${query}&${query}` }
  },
  "a long query": (damage) => ({
    ...damage.wire,
    path: `${damage.wire.path}${damage.wire.path.includes("?") ? "&" : "?"}${"a=b&".repeat(2_000)}`
  })
}

const escaped = (text: string) => text.replaceAll(" ", "%20")
