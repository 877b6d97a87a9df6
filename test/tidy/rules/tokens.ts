/**
 * Bans syntax from `src` that bypasses Effect, as far as the linter has no rule for it: time and failing must come from
 * services that a test can replace.
 */
import type { Finding } from "./Finding.ts"
import { isSyntaxNode, lineAt, syntaxOf, type SyntaxNode, type TextFile, walk } from "./Tree.ts"

interface Ban {
  readonly token: string
  readonly instead: string
  readonly matches: (node: SyntaxNode) => boolean
}

const bans: ReadonlyArray<Ban> = [
  {
    token: "async",
    instead: "Write an Effect; wrap a foreign promise in Effect.tryPromise.",
    matches: (node) => node["async"] === true || node.type === "AwaitExpression"
  },
  {
    token: "try",
    instead: "Use Effect.try or Result.try where a foreign API throws.",
    matches: (node) => node.type === "TryStatement"
  },
  {
    token: "new Date()",
    instead: "Use Clock, or take `now` as an argument.",
    matches: (node) =>
      /^(New|Call)Expression$/.test(node.type) &&
      isIdentifier(node["callee"], "Date") &&
      (node.type === "CallExpression" || (node["arguments"] as ReadonlyArray<unknown>).length === 0)
  }
]

/** Finds banned tokens. */
export function bannedTokens(files: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  const found: Array<Finding> = []
  for (const file of files) {
    walk(syntaxOf(file), (node) => {
      for (const { token, instead, matches } of bans) {
        if (matches(node)) {
          found.push({
            path: file.path,
            line: lineAt(file, node.start),
            problem: `${token} is banned in src`,
            fix: instead
          })
        }
      }
    })
  }
  return found
}

function isIdentifier(node: unknown, name: string): boolean {
  return isSyntaxNode(node) && node.type === "Identifier" && node["name"] === name
}
