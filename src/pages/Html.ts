/** HTML as values. The tag `html` escapes every text that it inserts, so a page cannot forget it. */
import { escapeHtml } from "../domain/experience/creative/rendering/Escaping.ts"

/** Text that is HTML. Only {@link html} and {@link trusted} make it. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A value that a template can insert. It inserts nothing for `undefined`, `null` and `false`. */
export type Inserted = Html | string | number | false | null | undefined | ReadonlyArray<Inserted>

/**
 * Makes HTML. An inserted text is escaped for an element, and for an attribute in quotes. Line breaks of the template are
 * spaces, so that its layout costs no bytes.
 */
export const html = (parts: TemplateStringsArray, ...inserted: ReadonlyArray<Inserted>): Html =>
  new Html(partsOf(parts).reduce((text, part, index) => text + written(inserted[index - 1]) + part))

const compact = new WeakMap<TemplateStringsArray, ReadonlyArray<string>>()

const partsOf = (parts: TemplateStringsArray): ReadonlyArray<string> => {
  const known = compact.get(parts)
  if (known !== undefined) return known
  const made = parts.map((part) => part.replaceAll(/(?<!\s)\s*\n\s*/g, " ").replaceAll(/> (?=<(?!a|t|s))/g, ">"))
  compact.set(parts, made)
  return made
}

/** HTML that was escaped elsewhere, such as a rendered document. */
export const trusted = (text: string): Html => new Html(text)

/** A style of this project. Nothing is added to its text, because a policy names its hash. */
export const style = (text: string): Html => new Html(`<style>${text}</style>`)

/** A script of this project, likewise. */
export const script = (text: string): Html => new Html(`<script>${text}</script>`)

export const nothing = new Html("")

const written = (value: Inserted): string => {
  if (value instanceof Html) return value.text
  if (typeof value === "string") return escapeHtml(value)
  if (typeof value === "number") return `${value}`
  return Array.isArray(value) ? value.map(written).join("") : ""
}
