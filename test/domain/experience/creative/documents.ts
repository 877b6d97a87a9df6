/** Creative documents for tests: some by hand, and any number made by chance from the schemas themselves. */
import { Schema, SchemaAST } from "effect"
import { CreativeDocument } from "../../../../src/domain/experience/creative/Document.ts"
import { below, type Random32, seededRandom } from "../../../../src/domain/values/SeededRandom.ts"

/** An email of these nodes. */
export const email = (nodes: unknown, more: object = {}) => ({
  schemaVersion: 1,
  editor: "email-components-v1",
  kind: "announcement-email",
  body: { subjectTemplate: "It opens at noon", nodes },
  ...more
})

/** A text message. */
export const sms = (more: object = {}) => ({
  schemaVersion: 1,
  editor: "sms-text-v1",
  kind: "announcement-sms",
  body: { textTemplate: "It opens at noon" },
  ...more
})

/** A page in free form. */
export const rich = (body: unknown = {}, more: object = {}) => ({
  schemaVersion: 1,
  editor: "rich-content-v0",
  kind: "experience-page",
  body,
  ...more
})

/** A node with everything that its type can have, for each of the thirteen. */
export const fullNodes: ReadonlyArray<{ readonly type: string; readonly [field: string]: unknown }> = [
  { type: "section", className: "a", children: [] },
  { type: "row", className: "a", children: [] },
  { type: "column", className: "a", children: [] },
  { type: "hr", className: "a" },
  { type: "heading", className: "a", level: 6, content: "Hello" },
  { type: "p", className: "a", content: "", tag: "span", variant: "inline" },
  { type: "link", className: "a", href: "/", content: "There" },
  { type: "button", href: "/", content: "" },
  { type: "image", className: "a", src: "/a", alt: "A", fallbackSrc: "/b", height: 1, width: 2, href: "/c" },
  { type: "date-time", className: "a", iso: "2026-11-21", timeZone: "UTC", format: "locale", tag: "strong" },
  { type: "icon", name: "map" },
  { type: "dynamic-text", className: "a", transform: "waitlist-action-text", input: "{{ x }}" },
  {
    type: "footer",
    className: "a",
    supportEmail: "help@example.com",
    footerMessage: "Bye",
    physicalAddress: "1 Main Street",
    unsubscribeLink: "{{ unsubscribe }}"
  }
]

/** Nodes of which the innermost stands so many levels deep. */
export const nested = (levels: number, innermost: unknown = { type: "hr" }): ReadonlyArray<unknown> => {
  let nodes = [innermost]
  for (let level = 1; level < levels; level++) nodes = [{ type: "section", children: nodes }]
  return nodes
}

/** A document made by chance from its schema; the same seed makes the same one. */
export const anyDocument = (seed: string): unknown => made(CreativeDocument.ast, seededRandom(seed), 0)

const texts = [
  "",
  " ",
  "x",
  "Ünïcödé 👟",
  "line\nbreak",
  "https://example.com/a?b=c",
  "http://example.com",
  "/fonts/0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a",
  "{{ link }}"
]
const numbers = [1, 2, 6, 7, 640, 2_147_483_648]

/** Optional fields come half of the time; the deeper, the fewer nodes. */
function made(ast: SchemaAST.AST, random: Random32, depth: number): unknown {
  switch (ast._tag) {
    case "Literal":
      return ast.literal
    case "Boolean":
      return below(random, 2) === 0
    case "Union":
      return made(picked(ast.types, random), random, depth)
    case "Suspend":
      return made(ast.thunk(), random, depth)
    case "Objects":
      return Object.fromEntries(ast.indexSignatures.length > 0 ? anyEntries(random) : fieldsOf(ast, random, depth))
    case "Arrays":
      return Array.from({ length: below(random, Math.max(1, 5 - depth)) }, () => made(ast.rest[0]!, random, depth + 1))
    case "String":
      return fitting(ast, texts, random)
    case "Number":
      return fitting(ast, numbers, random)
    default:
      throw new Error(`nothing is made of ${ast._tag}`)
  }
}

const fieldsOf = ({ propertySignatures }: SchemaAST.Objects, random: Random32, depth: number) =>
  propertySignatures
    .filter(({ type }) => type.context?.isOptional !== true || below(random, 2) === 0)
    .map(({ name, type }) => [name, made(type, random, depth)])

const fitting = (ast: SchemaAST.AST, candidates: ReadonlyArray<unknown>, random: Random32) =>
  picked(fittingBySchema.get(ast) ?? remembered(ast, candidates), random)

const fittingBySchema = new Map<SchemaAST.AST, ReadonlyArray<unknown>>()

const remembered = (ast: SchemaAST.AST, candidates: ReadonlyArray<unknown>) => {
  const fitting = candidates.filter(Schema.is(Schema.make(ast)))
  fittingBySchema.set(ast, fitting)
  return fitting
}

const anyEntries = (random: Random32): ReadonlyArray<readonly [string, unknown]> =>
  Array.from({ length: below(random, 4) }, (_, index) => [`${picked(texts, random)}${index}`, anyJson(random, 0)])

const anyJson = (random: Random32, depth: number): unknown => {
  const leaves = [null, true, false, -1.5, 1e300, ...texts]
  const choice = below(random, 6)
  if (depth > 3 || choice > 1) return picked(leaves, random)
  const items = Array.from({ length: below(random, 4) }, () => anyJson(random, depth + 1))
  return choice === 0 ? items : Object.fromEntries(items.map((item, index) => [`__proto__${index}`, item]))
}

const picked = <A>(from: ReadonlyArray<A>, random: Random32): A => from[below(random, from.length)]!
