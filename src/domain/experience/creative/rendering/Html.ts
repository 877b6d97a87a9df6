/**
 * Renders an email as HTML with tables and inline styles, which every email program shows. All text from the document
 * or a placeholder is escaped. A URL that is relative, or has a scheme that an email may not use, is omitted.
 */
import type { Theme } from "../../Experience.ts"
import type { EmailNode } from "../EmailNode.ts"
import {
  type Attributes,
  attributesOf as attributes,
  elementOf as element,
  escapeHtml as escape,
  linesOf as lines
} from "./Escaping.ts"
import { fill, type Values } from "./Placeholders.ts"
import { dateTimeText, dynamicText, imageAddress, linkAddress, mailAddress } from "./Words.ts"

/** The context of a rendering. */
export interface Rendering {
  readonly values: Values
  readonly theme: typeof Theme.Type
  /** Formatted instants by their source. */
  readonly known: Map<string, string>
}

/** The context with the theme's colours resolved. */
interface Styled extends Rendering {
  readonly colour: ReturnType<typeof coloursOf>
}

type NodeOf<Type extends EmailNode["type"]> = Extract<EmailNode, { readonly type: Type }>

/** Renders the whole document. */
export const htmlOf = (subject: string, nodes: ReadonlyArray<EmailNode>, rendering: Rendering): string => {
  const colour = coloursOf(rendering.theme)
  const outer = style({ margin: "0", padding: "24px 0", background: colour.background })
  const inner = style({
    "max-width": "600px",
    margin: "0 auto",
    padding: "24px",
    background: colour.surface,
    color: colour.text,
    "font-family": safe(rendering.theme.fontFamily) ?? "Arial, Helvetica, sans-serif"
  })
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escape(subject)}</title>`
  const body = element("div", { style: inner }, nodesHtml(nodes, { ...rendering, colour }))
  return `<!doctype html>\n<html lang="en"><head>${head}</head>${element("body", { style: outer }, body)}</html>\n`
}

const nodesHtml = (nodes: ReadonlyArray<EmailNode>, rendering: Styled): string =>
  nodes.map((node) => nodeHtml(node, rendering)).join("")

const nodeHtml = (node: EmailNode, rendering: Styled): string => {
  const text = (template: string) => lines(fill(template, rendering.values))
  const { colour } = rendering
  switch (node.type) {
    case "section":
      return table(node.className, element("td", {}, nodesHtml(node.children, rendering)))
    case "row":
      return table(node.className, node.children.map((child) => cell(child, rendering)).join(""))
    case "column":
      return element("div", { class: node.className }, nodesHtml(node.children, rendering))
    case "hr":
      return `<hr${attributes({ class: node.className, style: `border:0;border-top:1px solid ${colour.muted}` })}>`
    case "heading": {
      const font = safe(rendering.theme.fontHeading)
      const shown = { class: node.className, style: font === undefined ? undefined : `font-family:${font}` }
      return element(`h${node.level}`, shown, text(node.content))
    }
    case "p": {
      const display = node.variant === undefined ? undefined : `display:${node.variant}`
      return element(node.tag ?? "p", { class: node.className, style: display }, text(node.content))
    }
    case "link":
      return link(node.href, { class: node.className, style: `color:${colour.primary}` }, text(node.content), rendering)
    case "button":
      return button(node, rendering)
    case "image":
      return image(node, rendering)
    case "date-time":
      return element(node.tag ?? "span", { class: node.className }, escape(dateTimeText(node, rendering)))
    case "icon":
      return element("span", { "aria-hidden": "true" }, node.name === "calendar" ? "&#128197;" : "&#128506;")
    case "dynamic-text":
      return element(
        "span",
        { class: node.className },
        escape(dynamicText(node.transform, fill(node.input, rendering.values)))
      )
    case "footer":
      return footer(node, rendering)
  }
}

const table = (className: string | undefined, cells: string): string =>
  element(
    "table",
    { role: "presentation", class: className, width: "100%", cellpadding: 0, cellspacing: 0, border: 0 },
    element("tr", {}, cells)
  )

/** Renders a row's child as a table cell; a column is already one. */
const cell = (node: EmailNode, rendering: Styled): string =>
  node.type === "column"
    ? element("td", { class: node.className, valign: "top" }, nodesHtml(node.children, rendering))
    : element("td", { valign: "top" }, nodeHtml(node, rendering))

/** Renders the content as a link, or without one if the URL is unusable. */
const link = (href: string, shown: Attributes, content: string, { values }: Styled): string => {
  const address = linkAddress(href, values)
  return address === undefined
    ? element("span", { class: shown["class"] }, content)
    : element("a", { ...shown, href: address }, content)
}

const button = ({ href, content }: NodeOf<"button">, rendering: Styled): string => {
  const shown = style({
    display: "inline-block",
    padding: "12px 20px",
    "border-radius": "4px",
    background: rendering.colour.primary,
    color: "#ffffff",
    "text-decoration": "none"
  })
  const label = lines(fill(content ?? "", rendering.values)) || "Open"
  return element("div", { style: "margin:16px 0" }, link(href, { style: shown }, label, rendering))
}

const image = (node: NodeOf<"image">, rendering: Styled): string => {
  const { values } = rendering
  const source =
    imageAddress(node.src, values) ??
    (node.fallbackSrc === undefined ? undefined : imageAddress(node.fallbackSrc, values))
  const alt = fill(node.alt, values)
  const { className, width, height, href } = node
  const shown =
    source === undefined
      ? escape(alt)
      : `<img${attributes({ class: className, src: source, alt, width, height, style: "max-width:100%;border:0" })}>`
  return href === undefined ? shown : link(href, {}, shown, rendering)
}

const footer = (node: NodeOf<"footer">, rendering: Styled): string => {
  const { values, colour } = rendering
  const { muted } = colour
  const support = fill(node.supportEmail, values)
  const address = mailAddress(support)
  const anchor = (href: string, content: string) => element("a", { href, style: `color:${muted}` }, content)
  const unsubscribe = node.unsubscribeLink === undefined ? undefined : linkAddress(node.unsubscribeLink, values)
  const parts = [
    lines(fill(node.footerMessage ?? "", values)),
    lines(fill(node.physicalAddress ?? "", values)),
    address === undefined ? escape(support) : anchor(address, escape(support)),
    unsubscribe === undefined ? "" : anchor(unsubscribe, "Unsubscribe")
  ]
  const shown = { class: node.className, style: `color:${muted};font-size:12px` }
  return element("div", shown, parts.flatMap((part) => (part === "" ? [] : element("p", {}, part))).join(""))
}

/** Returns the colours of a theme that an email uses. */
const coloursOf = (theme: typeof Theme.Type) => ({
  background: safe(theme.background) ?? "#ffffff",
  surface: safe(theme.surface) ?? "#ffffff",
  text: safe(theme.text) ?? "#222222",
  muted: safe(theme.muted) ?? "#767676",
  primary: safe(theme.primary) ?? "#222222"
})

/**
 * Returns a theme's text as the value of a style; undefined if it could contain more than a value, or load a resource.
 */
const safe = (value: string | undefined): string | undefined =>
  value !== undefined && /^[\w#%.,()\s"'-]+$/.test(value) && !/(?:url|image|src|expression)\s*\(/i.test(value)
    ? value
    : undefined

const style = (properties: { readonly [property: string]: string }): string =>
  Object.entries(properties)
    .map(([property, value]) => `${property}:${value}`)
    .join(";")
