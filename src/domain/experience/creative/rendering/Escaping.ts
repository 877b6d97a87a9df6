/** Writes HTML elements of which every text and attribute is escaped. */

/** Attributes by name. An undefined one is left out. */
export type Attributes = { readonly [name: string]: string | number | undefined }

/** Writes an element. The content is HTML. */
export const elementOf = (tag: string, shown: Attributes, content: string): string =>
  `<${tag}${attributesOf(shown)}>${content}</${tag}>`

/** Writes the attributes of a tag, each after a space. */
export const attributesOf = (shown: Attributes): string =>
  Object.entries(shown)
    .map(([name, value]) => (value === undefined ? "" : ` ${name}="${escapeHtml(`${value}`)}"`))
    .join("")

/** Writes text with its line breaks. */
export const linesOf = (text: string): string => escapeHtml(text).replaceAll(/\r?\n/g, "<br>")

const entities: { readonly [character: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}

/** Escapes text for an element or an attribute in quotes. */
export const escapeHtml = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => entities[character]!)
