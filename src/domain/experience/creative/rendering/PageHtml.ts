/**
 * Renders the free-form body of an experience page as HTML. `body.blocks` holds the nodes of an email (interface
 * document 2.4), and slots that the page fills: `place`, `countdown`, `products`, `rules`.
 *
 * The body is data of its editor: every text is escaped, a link or an image has only a scheme that is allowed, a class
 * name gets a prefix, and there is no style. A node that is unknown or malformed is skipped and named.
 */
import { Option, Predicate, Schema } from "effect"
import { isPicturePath } from "../../../catalogue/Picture.ts"
import { EmailNode, nodeLevelsMax, nodesMax } from "../EmailNode.ts"
import { attributesOf, elementOf, escapeHtml, linesOf } from "./Escaping.ts"
import { imageAddress, instantOf, type InstantFormat, linkAddress, mailAddress } from "./Words.ts"

/** The parts that the page itself fills. */
export const slots = ["place", "countdown", "products", "rules"] as const
export type Slot = (typeof slots)[number]

/** Values that a page fills into its document. */
export interface PageContext {
  /** Returns the HTML of a slot. It is inserted as it is. */
  readonly slot: (slot: Slot) => string
  /** Formats an instant in the language of the page. */
  readonly instant: (at: number, timeZone: string, format: InstantFormat) => string
  /** Returns a label for a kind of mechanism; undefined for other input. */
  readonly label: (transform: "distribution-type-label" | "waitlist-action-text", kind: string) => string | undefined
  /** The text of a button without its own. */
  readonly open: string
}

export interface RenderedPage {
  readonly html: string
  /** The slots that the document names, each once. */
  readonly slots: ReadonlySet<Slot>
  /** The types of the skipped nodes, each once; `?` for a node without one. At most {@link skippedMax}. */
  readonly skipped: ReadonlyArray<string>
}

/** Names of skipped nodes. */
export const skippedMax = 20

type Leaf = Exclude<EmailNode, { readonly type: "section" | "row" | "column" }>
type NodeOf<Type extends Leaf["type"]> = Extract<Leaf, { readonly type: Type }>

/** Renders `body.blocks`. A body without blocks renders nothing. */
export const pageHtml = (body: { readonly [name: string]: unknown }, context: PageContext): RenderedPage => {
  const rendering = new Rendering(context)
  const html = Array.isArray(body["blocks"]) ? rendering.all(body["blocks"], 1) : ""
  return { html, slots: rendering.filled, skipped: [...rendering.skipped].slice(0, skippedMax) }
}

/** One rendering. It counts the nodes, so that a huge document is cut. */
class Rendering {
  readonly filled = new Set<Slot>()
  readonly skipped = new Set<string>()
  private count = 0
  private readonly context: PageContext

  constructor(context: PageContext) {
    this.context = context
  }

  all(nodes: ReadonlyArray<unknown>, level: number): string {
    return nodes.map((node) => this.one(node, level)).join("")
  }

  private one(node: unknown, level: number): string {
    this.count += 1
    if (this.count > nodesMax || level > nodeLevelsMax) return ""
    if (!Predicate.hasProperty(node, "type") || typeof node.type !== "string") return this.leaveOut("?")
    const { type } = node
    if (isSlot(type)) return this.fill(type)
    if (isContainer(type)) {
      const children = Predicate.hasProperty(node, "children") ? node.children : undefined
      if (!Array.isArray(children)) return this.leaveOut(type)
      return elementOf("div", { class: classOf(node, type) }, this.all(children, level + 1))
    }
    const leaf = decodeLeaf(node)
    return Option.isNone(leaf) ? this.leaveOut(type) : leafHtml(leaf.value as Leaf, this.context)
  }

  /** A slot is filled once: a second one would repeat the ids of its elements. */
  private fill(slot: Slot): string {
    if (this.filled.has(slot)) return ""
    this.filled.add(slot)
    return this.context.slot(slot)
  }

  private leaveOut(type: string): string {
    this.skipped.add(type.slice(0, 100))
    return ""
  }
}

const decodeLeaf = Schema.decodeUnknownOption(EmailNode)

const isSlot = (type: string): type is Slot => (slots as ReadonlyArray<string>).includes(type)
const isContainer = (type: string) => type === "section" || type === "row" || type === "column"

/** The class names of the document, each with a prefix, so that none is one of the page's own. */
const classOf = (node: object, own?: string): string | undefined => {
  const named = Predicate.hasProperty(node, "className") && typeof node.className === "string" ? node.className : ""
  const names = named.split(/\s+/).filter((name) => /^[\w-]{1,64}$/.test(name))
  const all = [...(own === undefined ? [] : [own]), ...names].map((name) => `doc-${name}`)
  return all.length === 0 ? undefined : all.join(" ")
}

const leafHtml = (node: Leaf, context: PageContext): string => {
  switch (node.type) {
    case "hr":
      return `<hr${attributesOf({ class: classOf(node) })}>`
    case "heading":
      // The heading of level 1 is the page's own.
      return elementOf(`h${Math.min(6, node.level + 1)}`, { class: classOf(node) }, linesOf(node.content))
    case "p":
      return elementOf(node.tag ?? "p", { class: classOf(node) }, linesOf(node.content))
    case "link":
      return anchor(node.href, classOf(node), linesOf(node.content))
    case "button":
      return elementOf("p", {}, anchor(node.href, "button", linesOf(node.content ?? "") || escapeHtml(context.open)))
    case "image":
      return image(node)
    case "date-time":
      return instant(node, context)
    case "icon":
      return elementOf("span", { "aria-hidden": "true" }, node.name === "calendar" ? "&#128197;" : "&#128506;")
    case "dynamic-text":
      return elementOf(
        "span",
        { class: classOf(node) },
        escapeHtml(context.label(node.transform, node.input) ?? node.input)
      )
    case "footer":
      return footer(node)
  }
}

const anchor = (href: string, className: string | undefined, content: string): string => {
  const address = linkAddress(href, {})
  return address === undefined
    ? elementOf("span", { class: className === "button" ? undefined : className }, content)
    : elementOf("a", { class: className, href: address, rel: "noopener" }, content)
}

const image = (node: NodeOf<"image">): string => {
  const { alt, width, height, href, fallbackSrc } = node
  const source = pictureAddress(node.src) ?? (fallbackSrc === undefined ? undefined : pictureAddress(fallbackSrc))
  const shown =
    source === undefined
      ? escapeHtml(alt)
      : `<img${attributesOf({ class: classOf(node), src: source, alt, width, height, loading: "lazy" })}>`
  return href === undefined ? shown : anchor(href, undefined, shown)
}

/** An uploaded picture is at the page's own origin. An email has none, so it shows only absolute addresses. */
const pictureAddress = (address: string): string | undefined =>
  isPicturePath(address) ? address : imageAddress(address, {})

const instant = (node: NodeOf<"date-time">, context: PageContext): string => {
  const at = instantOf(node.iso, node.timeZone)
  const text = at === undefined ? node.iso : context.instant(at, node.timeZone, node.format ?? "at")
  const datetime = at === undefined ? undefined : new Date(at).toISOString()
  return elementOf(
    node.tag ?? "time",
    { class: classOf(node), ...(node.tag === undefined && { datetime }) },
    escapeHtml(text)
  )
}

const footer = (node: NodeOf<"footer">): string => {
  const { supportEmail, footerMessage = "", physicalAddress = "" } = node
  const address = mailAddress(supportEmail)
  const support = escapeHtml(supportEmail)
  const parts = [
    linesOf(footerMessage),
    linesOf(physicalAddress),
    address === undefined ? support : elementOf("a", { href: address }, support)
  ]
  const paragraphs = parts.filter((part) => part !== "").map((part) => elementOf("p", {}, part))
  return elementOf("div", { class: classOf(node, "footer") }, paragraphs.join(""))
}
