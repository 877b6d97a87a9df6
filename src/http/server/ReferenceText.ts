/** The texts of an API's reference, as HTML. */
import { linesOf } from "../../domain/experience/creative/rendering/Escaping.ts"

/** The name of a group or a schema in addresses. */
export const slugOf = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")

/** Text with paragraphs and code, as descriptions have them. */
export const textHtml = (text = ""): string =>
  text
    .split(/\n{2,}/)
    .filter((part) => part !== "")
    .map((part) => `<p>${inline(part)}</p>`)
    .join("")

/** A line of text. What stands between back quotes is code. */
export const inline = (text: string): string =>
  text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? `<code>${linesOf(part)}</code>` : linesOf(part)))
    .join("")
