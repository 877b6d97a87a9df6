/** The Markdown documents: their links, their lengths, the limits they state, and the table that is generated from the code. */
import { posix } from "node:path"
import type { Finding } from "./Finding.ts"
import { lineAt, type TextFile } from "./Tree.ts"

const tableStart = "<!-- settings -->"
const tableEnd = "<!-- /settings -->"

/** Finds links between the project's own documents and files that have no target. Web addresses are not checked. */
export function brokenLinks(tree: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  const documents = tree.filter((file) => file.path.endsWith(".md"))
  return documents.flatMap((document) =>
    [...document.text.matchAll(/\]\(([^()\s]+)\)/g)].flatMap((match) => {
      const target = match[1]!
      if (/^[a-z]+:/.test(target) || leadsSomewhere(tree, document, target)) return []
      const fix = "Point it at a file, folder or heading that is there."
      return [{ path: document.path, line: lineAt(document, match.index), problem: `links to ${target}`, fix }]
    })
  )
}

/** Returns the document with the table of settings between its markers; unchanged if it has no markers. */
export function withSettingsTable(document: string, table: string): string {
  const start = document.indexOf(tableStart)
  const end = document.indexOf(tableEnd)
  if (start === -1 || end < start) return document
  return `${document.slice(0, start + tableStart.length)}\n\n${table}\n\n${document.slice(end)}`
}

/** Finds a table of settings that is missing from its document, or differs from the code. */
export function staleSettingsTable(document: TextFile, table: string): ReadonlyArray<Finding> {
  const line = lineAt(document, Math.max(0, document.text.indexOf(tableStart)))
  const isThere = document.text.includes(`${tableStart}\n\n${table}\n\n${tableEnd}`)
  const problem = "the table of settings is not the one of src/settings/Settings.ts"
  const fix = `Run npm run docs:settings; the document needs the markers ${tableStart} and ${tableEnd}.`
  return isThere ? [] : [{ path: document.path, line, problem, fix }]
}

/** Finds rows such as ``[`sizeMax`](engine/actor/Actor.ts) | 1,000`` whose number differs from the source. */
export function untrueLimits(tree: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  const documents = tree.filter((file) => file.path.endsWith(".md"))
  return documents.flatMap((document) =>
    [...document.text.matchAll(/^\| \[`(\w+)`\]\((\S+?)\) +\| +([\d,]+) +\|/gm)].flatMap((match) => {
      const [, name, target, number] = match as unknown as [string, string, string, string]
      const path = posix.normalize(posix.join(posix.dirname(document.path), target))
      const source = tree.find((file) => file.path === path)?.text ?? ""
      const value = new RegExp(`\\b${name}(?::| =) ([\\d_]+)n?\\b`).exec(source)?.[1]?.replaceAll("_", "")
      if (value === number.replaceAll(",", "")) return []
      const problem = `${name} is ${number} here and ${value ?? "not a plain number"} in ${path}`
      return [{ path: document.path, line: lineAt(document, match.index), problem, fix: "Write what the source says." }]
    })
  )
}

/** The limits of documents in words, code blocks included. The first pattern that matches a path counts. */
export type LengthLimits = ReadonlyArray<readonly [path: RegExp, wordsMax: number]>

/** Finds documents with more words than their limit. A document that no pattern matches has no limit. */
export function longDocuments(tree: ReadonlyArray<TextFile>, limits: LengthLimits): ReadonlyArray<Finding> {
  return tree.flatMap((document) => {
    const wordsMax = limits.find(([path]) => path.test(document.path))?.[1] ?? Infinity
    const words = document.text.split(/\s+/).filter((word) => word !== "").length
    const fix = "Shorten it, or move reference material into a document next to its code."
    if (words <= wordsMax) return []
    return [{ path: document.path, line: 1, problem: `has ${words} words, at most ${wordsMax}`, fix }]
  })
}

function leadsSomewhere(tree: ReadonlyArray<TextFile>, document: TextFile, target: string): boolean {
  const [path = "", heading] = target.split("#")
  const resolved = path === "" ? document.path : posix.normalize(posix.join(posix.dirname(document.path), path))
  const folder = resolved.replace(/\/*$/, "/")
  const file = tree.find((candidate) => candidate.path === resolved)
  if (file === undefined) return heading === undefined && tree.some((candidate) => candidate.path.startsWith(folder))
  return heading === undefined || headingsOf(file).has(heading)
}

/** Returns the link names of a document's headings: lower case, words joined by hyphens. */
function headingsOf(document: TextFile): ReadonlySet<string> {
  const withoutCode = document.text.replace(/^```[\s\S]*?^```/gm, "")
  const headings = [...withoutCode.matchAll(/^#+ +(.+?) *$/gm)].map((match) => match[1]!)
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-")
    )
  )
}
