/**
 * Every regular expression takes time that grows linearly with its input. One that backtracks or searches in a longer
 * time lets a short text stop the process.
 */
import { analyse, type Report } from "scslre"
import type { Finding } from "./Finding.ts"
import { isSyntaxNode, lineAt, syntaxOf, type SyntaxNode, type TextFile, walk } from "./Tree.ts"

/** Finds expressions that take more than linear time, and those that cannot be checked because a program composes them. */
export function slowExpressions(files: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  return files.flatMap((file) => {
    const found: Array<Finding> = []
    walk(syntaxOf(file), (node) => {
      const problem = problemOf(node)
      if (problem !== undefined) found.push({ path: file.path, line: lineAt(file, node.start), ...problem })
    })
    return found
  })
}

function problemOf(node: SyntaxNode): Pick<Finding, "problem" | "fix"> | undefined {
  const expression = node["regex"]
  if (typeof expression === "object" && expression !== null) {
    const { pattern, flags } = expression as { readonly pattern: string; readonly flags: string }
    const [report] = analyse({ source: pattern, flags }, { assumeRejectingSuffix: false }).reports
    return report === undefined
      ? undefined
      : { problem: `/${pattern}/${flags} takes ${timeOf(report)} for many ${report.character.literal.source}`, fix }
  }
  const isComposed = /^(New|Call)Expression$/.test(node.type) && isRegExp(node["callee"])
  return isComposed
    ? { problem: "an expression is composed by the program and cannot be checked", fix: "Write it as a literal." }
    : undefined
}

const fix = "Let no two parts match the same text, or scan the text by hand."

const timeOf = ({ exponential }: Report): string => (exponential ? "exponential time" : "quadratic time or more")

const isRegExp = (callee: unknown): boolean => isSyntaxNode(callee) && callee["name"] === "RegExp"
