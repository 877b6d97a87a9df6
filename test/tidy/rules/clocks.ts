/** One file reads time, so that an organization's test mode can have a clock of its own. */
import type { Finding } from "./Finding.ts"
import { isSyntaxNode, lineAt, syntaxOf, type SyntaxNode, type TextFile, walk } from "./Tree.ts"

/** A reading of a clock that stays, with its reason. */
export interface ClockReading {
  readonly path: string
  readonly reading: string
  readonly reason: string
}

const folders = /^src\/(?:domain|engine|store|workers|pages|http|auth|delivery|beacon)\//
const timeFile = "src/store/coordination/Time.ts"

const readings: { readonly [object: string]: RegExp } = {
  Clock: /^(?:Clock|clockWith|currentTime)/,
  Date: /^now$/,
  DateTime: /^now/,
  performance: /^(?:now|timeOrigin)$/,
  process: /^hrtime$/
}

const ofSql = /\b(?:now|clock_timestamp|statement_timestamp|transaction_timestamp)\(\)|\bcurrent_(?:timestamp|date)\b/gi

const mayRead = /\b(?:Clock|Date|DateTime|performance|process)\.|(?:\bnow|_timestamp)\(\)|\bcurrent_(?:timestamp|date)/i

/** Finds readings of a clock outside of `Time.ts` that are not among the exceptions. */
export function clockReadings(
  files: ReadonlyArray<TextFile>,
  exceptions: ReadonlyArray<ClockReading>
): ReadonlyArray<Finding> {
  const read = files.filter(({ path }) => path !== timeFile && folders.test(path) && /\.(?:ts|sql)$/.test(path))
  return read.flatMap((file) =>
    readingsIn(file)
      .filter(({ reading }) => !exceptions.some((one) => one.path === file.path && one.reading === reading))
      .map(({ reading, at }) => ({
        path: file.path,
        line: lineAt(file, at),
        problem: `reads ${reading}`,
        fix: `Ask ${timeFile}: \`now\` for the tenant's time, \`serverNow\` for the server's.`
      }))
  )
}

/** Finds exceptions that nothing needs any more. */
export function needlessExceptions(
  files: ReadonlyArray<TextFile>,
  exceptions: ReadonlyArray<ClockReading>
): ReadonlyArray<ClockReading> {
  return exceptions.filter(({ path, reading }) => {
    const file = files.find((one) => one.path === path)
    return file === undefined || !readingsIn(file).some((one) => one.reading === reading)
  })
}

interface Reading {
  readonly reading: string
  readonly at: number
}

function readingsIn(file: TextFile): ReadonlyArray<Reading> {
  if (file.path.endsWith(".sql"))
    return sqlReadings(
      file.text.replaceAll(/--.*/g, (comment) => " ".repeat(comment.length)),
      0
    )
  // Most files read none, and reading their syntax takes long.
  if (!mayRead.test(file.text)) return []
  const found: Array<Reading> = []
  walk(syntaxOf(file), (node) => {
    const member = memberOf(node)
    if (member !== undefined) found.push({ reading: member, at: node.start })
    const text = textOf(node)
    if (text !== undefined) found.push(...sqlReadings(text, node.start))
  })
  return found
}

const sqlReadings = (text: string, start: number): ReadonlyArray<Reading> =>
  [...text.matchAll(ofSql)].map((match) => ({ reading: match[0].toLowerCase(), at: start + match.index }))

function memberOf(node: SyntaxNode): string | undefined {
  if (node.type !== "MemberExpression") return undefined
  const { object, property } = node as SyntaxNode & { readonly object: unknown; readonly property: unknown }
  if (!isSyntaxNode(object) || !isSyntaxNode(property)) return undefined
  const [owner, name] = [String(object["name"]), String(property["name"])]
  return readings[owner]?.test(name) === true ? `${owner}.${name}` : undefined
}

/** The text of a template or a string, which may be SQL. */
function textOf(node: SyntaxNode): string | undefined {
  if (node.type === "TemplateElement") return (node["value"] as { readonly raw: string }).raw
  return node.type === "Literal" && typeof node["value"] === "string" ? node["value"] : undefined
}
