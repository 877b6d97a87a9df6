/** The plain text of an experience page, for the description that search engines and shared links show. */
import { Predicate } from "effect"
import { nodeLevelsMax, nodesMax } from "../EmailNode.ts"
import { onOneLine } from "./Placeholders.ts"

/** Returns the paragraphs and headings of the body on one line, cut to the length. */
export const pageText = (body: { readonly [name: string]: unknown }, lengthMax: number): string => {
  const texts: Array<string> = []
  let count = 0
  let length = 0
  const read = (nodes: unknown, level: number): void => {
    if (!Array.isArray(nodes) || level > nodeLevelsMax) return
    for (const node of nodes) {
      count += 1
      if (count > nodesMax || length > lengthMax || !Predicate.isObject(node)) return
      const { type, content, children } = node
      if ((type === "p" || type === "heading") && typeof content === "string") {
        texts.push(content)
        length += content.length
      }
      read(children, level + 1)
    }
  }
  read(body["blocks"], 1)
  return onOneLine(texts.join(" "), lengthMax)
}
