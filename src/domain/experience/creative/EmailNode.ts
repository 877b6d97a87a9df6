/**
 * The parts of an email: nodes of thirteen types, of which three contain others.
 *
 * A recursive decoder could receive nodes nested so deep that they exhaust the stack, or so many that they delay all
 * other work. So the outline of the nodes is checked level by level first, and decoded only if it is within the limits.
 */
import { Predicate, Schema } from "effect"
import { AnyJson, text } from "../../values/Text.ts"

/** Limit of levels of nested nodes: far more than any email program shows. */
export const nodeLevelsMax = 64

/** Limit of nodes per document: ten times a long newsletter, decoded in about 100 ms. */
export const nodesMax = 5_000

/** As long as a whole body may be, so it adds no limit of its own. */
const textLengthMax = 1_048_576

const Text = text({ maxLength: textLengthMax })
const RequiredText = text({ minLength: 1, maxLength: textLengthMax })
const Size = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))
const className = Schema.optionalKey(Text)

/** A URL, or a placeholder that is filled in when the email is sent. */
const UnsubscribeLink = RequiredText.check(
  Schema.makeFilter((link: string) => /^(https?:\/\/|\{\{)/.test(link), {
    expected: "text that begins with http://, https:// or {{",
    representation: { id: "usher/string", payload: null },
    toJsonSchema: () => ({ pattern: "^(https?://|\\{\\{)" })
  })
)

/** The children of a node, decoded recursively. */
const children = Schema.Array(Schema.suspend((): Schema.Codec<EmailNode> => EmailNode))

const Section = Schema.Struct({ type: Schema.Literal("section"), className, children })
const Row = Schema.Struct({ type: Schema.Literal("row"), className, children })
const Column = Schema.Struct({ type: Schema.Literal("column"), className, children })

const Hr = Schema.Struct({ type: Schema.Literal("hr"), className })

const Heading = Schema.Struct({
  type: Schema.Literal("heading"),
  className,
  level: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 })),
  content: RequiredText
})

const Paragraph = Schema.Struct({
  type: Schema.Literal("p"),
  className,
  content: Text,
  tag: Schema.optionalKey(Schema.Literals(["p", "span", "strong"])),
  variant: Schema.optionalKey(Schema.Literals(["block", "inline"]))
})

const Link = Schema.Struct({ type: Schema.Literal("link"), className, href: RequiredText, content: RequiredText })

const Button = Schema.Struct({
  type: Schema.Literal("button"),
  href: RequiredText,
  content: Schema.optionalKey(Text)
})

const Image = Schema.Struct({
  type: Schema.Literal("image"),
  className,
  src: RequiredText,
  alt: RequiredText,
  fallbackSrc: Schema.optionalKey(Text),
  height: Schema.optionalKey(Size),
  width: Schema.optionalKey(Size),
  href: Schema.optionalKey(Text)
})

const DateTime = Schema.Struct({
  type: Schema.Literal("date-time"),
  className,
  iso: RequiredText,
  timeZone: RequiredText,
  format: Schema.optionalKey(Schema.Literals(["at", "locale"])),
  tag: Schema.optionalKey(Schema.Literal("strong"))
})

const Icon = Schema.Struct({ type: Schema.Literal("icon"), name: Schema.Literals(["calendar", "map"]) })

const DynamicText = Schema.Struct({
  type: Schema.Literal("dynamic-text"),
  className,
  transform: Schema.Literals(["distribution-type-label", "waitlist-action-text"]),
  input: RequiredText
})

const Footer = Schema.Struct({
  type: Schema.Literal("footer"),
  className,
  supportEmail: RequiredText,
  footerMessage: Schema.optionalKey(Text),
  physicalAddress: Schema.optionalKey(Text),
  unsubscribeLink: Schema.optionalKey(UnsubscribeLink)
})

/** A node without children. */
const Leaf = Schema.Union([Hr, Heading, Paragraph, Link, Button, Image, DateTime, Icon, DynamicText, Footer])

/** A node with children, in their order. */
interface Container {
  readonly type: "section" | "row" | "column"
  readonly className?: string
  readonly children: ReadonlyArray<EmailNode>
}

/** One node with its children. */
export type EmailNode = typeof Leaf.Type | Container

/** One node, identified by its `type`. */
export const EmailNode: Schema.Codec<EmailNode> = Schema.Union([Section, Row, Column, ...Leaf.members]).annotate({
  identifier: "EmailNode"
})

const Nodes = Schema.Array(EmailNode)

/** The nodes of an email, within the limits. */
export const EmailNodes = Schema.Array(AnyJson)
  .check(
    Schema.makeFilter((nodes: ReadonlyArray<unknown>) => isWithinLimits(nodes), {
      expected: `at most ${nodesMax} nodes, nested at most ${nodeLevelsMax} levels deep`,
      representation: { id: "usher/json", payload: null, schemas: [EmailNode.ast] },
      toJsonSchema: ({ schemas }) => ({ items: schemas[0] })
    })
  )
  .pipe(Schema.decodeTo(Nodes))

/** Checks level by level, so that no nesting can exhaust the stack. */
function isWithinLimits(nodes: ReadonlyArray<unknown>): boolean {
  let count = 0
  let level = nodes
  for (let depth = 1; level.length > 0; depth++) {
    count += level.length
    if (depth > nodeLevelsMax || count > nodesMax) return false
    level = level.flatMap(childrenOf)
  }
  return true
}

const childrenOf = (node: unknown): ReadonlyArray<unknown> =>
  Predicate.hasProperty(node, "children") && Array.isArray(node.children) ? node.children : []
