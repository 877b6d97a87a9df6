/** Sizes that may shrink but not grow. */
import type { Finding } from "./Finding.ts"
import { isSyntaxNode, lineAt, syntaxOf, type TextFile, walk } from "./Tree.ts"

/** The recorded worst, in lines. */
export interface Record {
  readonly file: number
  /** Not recorded for tests, whose functions are chapters. */
  readonly function?: number
}

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"])

/** Files and functions that are longer than the recorded worst. */
export function longerThanRecorded(files: ReadonlyArray<TextFile>, record: Record): ReadonlyArray<Finding> {
  return files.flatMap((file) => {
    const found: Array<Finding> = []
    const fix = "Split it by role; raising the record in test/tidy.test.ts needs a better reason than haste."
    const lines = file.text.trimEnd().split("\n").length
    if (lines > record.file) {
      found.push({ path: file.path, line: lines, problem: `${lines} lines, the longest was ${record.file}`, fix })
    }
    for (const { line, length } of functionsOf(file)) {
      if (record.function === undefined || length <= record.function) continue
      found.push({
        path: file.path,
        line,
        problem: `a function of ${length} lines, the longest was ${record.function}`,
        fix
      })
    }
    return found
  })
}

function functionsOf(file: TextFile): ReadonlyArray<{ readonly line: number; readonly length: number }> {
  const found: Array<{ readonly line: number; readonly length: number }> = []
  walk(syntaxOf(file), (node) => {
    if (!functionTypes.has(node.type) || !isSyntaxNode(node["body"])) return
    const line = lineAt(file, node.start)
    found.push({ line, length: lineAt(file, node.end) - line + 1 })
  })
  return found
}
