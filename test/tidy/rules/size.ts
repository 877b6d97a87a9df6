/** The limits for the length of files and functions. */
import type { Finding } from "./Finding.ts"
import { isSyntaxNode, lineAt, syntaxOf, type TextFile, walk } from "./Tree.ts"

/** The exceptions from a limit: sizes by path. The entries may only shrink. */
export type Exceptions = { readonly [path: string]: number }

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"])

/** Finds files with more lines than the limit, and exceptions that are larger than needed. */
export function longFiles(files: ReadonlyArray<TextFile>, max: number, exceptions: Exceptions): ReadonlyArray<Finding> {
  return files.flatMap((file) => {
    const size = file.text.trimEnd().split("\n").length
    return compare({ path: file.path, line: size, size, unit: "lines" }, max, exceptions)
  })
}

/** Finds files whose longest function has more lines than the limit, and exceptions that are larger than needed. */
export function longFunctions(files: ReadonlyArray<TextFile>, max: number, exceptions: Exceptions) {
  return files.flatMap((file) => {
    const { line, size } = longestFunction(file)
    return compare({ path: file.path, line, size, unit: "lines in one function" }, max, exceptions)
  })
}

interface Measured {
  readonly path: string
  readonly line: number
  readonly size: number
  readonly unit: string
}

function compare({ path, line, size, unit }: Measured, max: number, exceptions: Exceptions): ReadonlyArray<Finding> {
  const excepted = exceptions[path]
  if (size > (excepted ?? max)) {
    return [{ path, line, problem: `has ${size} ${unit}, at most ${excepted ?? max}`, fix: "Split it by role." }]
  }
  if (excepted === undefined || (size === excepted && size > max)) return []
  const fix = size > max ? `Lower it to ${size}.` : "Remove it."
  return [{ path, line, problem: `has ${size} ${unit}, and an exception for ${excepted}`, fix }]
}

function longestFunction(file: TextFile): { readonly line: number; readonly size: number } {
  let longest = { line: 1, size: 0 }
  walk(syntaxOf(file), (node) => {
    if (!functionTypes.has(node.type) || !isSyntaxNode(node["body"])) return
    const line = lineAt(file, node.start)
    const size = lineAt(file, node.end) - line + 1
    if (size > longest.size) longest = { line, size }
  })
  return longest
}
