/**
 * Renders an email as plain text, for programs that show no HTML. Blocks are separated by an empty line, and a link's
 * text is followed by its URL.
 */
import type { EmailNode } from "../EmailNode.ts"
import type { Rendering } from "./Html.ts"
import { fill } from "./Placeholders.ts"
import { dateTimeText, dynamicText, linkAddress } from "./Words.ts"

/** The text of one node. Adjacent inline pieces share a paragraph. */
interface Piece {
  readonly text: string
  readonly isInline: boolean
}

/** Renders the whole text. */
export const plainTextOf = (nodes: ReadonlyArray<EmailNode>, rendering: Rendering): string => {
  const paragraphs: Array<string> = []
  let isContinued = false
  for (const { text, isInline } of piecesOf(nodes, rendering)) {
    if (text === "") continue
    if (isInline && isContinued) paragraphs.push(`${paragraphs.pop()!} ${text}`)
    else paragraphs.push(text)
    isContinued = isInline
  }
  return `${paragraphs.join("\n\n")}\n`
}

const piecesOf = (nodes: ReadonlyArray<EmailNode>, rendering: Rendering): ReadonlyArray<Piece> =>
  nodes.flatMap((node) => piecesOfOne(node, rendering))

const piecesOfOne = (node: EmailNode, rendering: Rendering): ReadonlyArray<Piece> => {
  const text = (template: string) => fill(template, rendering.values).trim()
  switch (node.type) {
    case "section":
    case "row":
    case "column":
      return piecesOf(node.children, rendering)
    case "hr":
      return [block("---")]
    case "heading":
      return [block(text(node.content))]
    case "p": {
      const isInline = node.variant === undefined ? (node.tag ?? "p") !== "p" : node.variant === "inline"
      return [{ text: text(node.content), isInline }]
    }
    case "link":
      return [inline(withAddress(text(node.content), node.href, rendering))]
    case "button":
      return [block(withAddress(text(node.content ?? "") || "Open", node.href, rendering))]
    case "image":
      return [block(node.href === undefined ? text(node.alt) : withAddress(text(node.alt), node.href, rendering))]
    case "date-time":
      return [inline(dateTimeText(node, rendering))]
    case "icon":
      return []
    case "dynamic-text":
      return [inline(dynamicText(node.transform, text(node.input)))]
    case "footer": {
      const { footerMessage, physicalAddress, supportEmail, unsubscribeLink } = node
      const unsubscribe = unsubscribeLink === undefined ? undefined : linkAddress(unsubscribeLink, rendering.values)
      const parts = [
        text(footerMessage ?? ""),
        text(physicalAddress ?? ""),
        text(supportEmail),
        unsubscribe === undefined ? "" : `Unsubscribe: ${unsubscribe}`
      ]
      return [block(parts.filter((part) => part !== "").join("\n"))]
    }
  }
}

const block = (text: string): Piece => ({ text, isInline: false })
const inline = (text: string): Piece => ({ text, isInline: true })

const withAddress = (text: string, href: string, { values }: Rendering): string => {
  const address = linkAddress(href, values)
  if (address === undefined || address === text) return text
  return text === "" ? address : `${text}: ${address}`
}
