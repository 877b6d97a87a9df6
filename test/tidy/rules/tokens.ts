/**
 * Bans tokens from `src` that bypass Effect. Time, randomness, waiting, failing and printing must come from services
 * that a test can replace.
 */
import type { Finding } from "./Finding.ts"
import { isSyntaxNode, lineAt, syntaxOf, type SyntaxNode, type TextFile, walk } from "./Tree.ts"

/** An allowed use of a banned token, with its reason. */
export interface Exception {
  readonly path: string
  readonly token: string
  readonly reason: string
}

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
  { token: "Date.now", instead: "Use Clock, or take `now` as an argument.", matches: isMember("Date", "now") },
  {
    token: "new Date()",
    instead: "Use Clock, or take `now` as an argument.",
    matches: (node) =>
      /^(New|Call)Expression$/.test(node.type) &&
      isIdentifier(node["callee"], "Date") &&
      (node.type === "CallExpression" || (node["arguments"] as ReadonlyArray<unknown>).length === 0)
  },
  {
    token: "Math.random",
    instead: "Use effect/crypto, or take the entropy as an argument.",
    matches: isMember("Math", "random")
  },
  {
    token: "setTimeout",
    instead: "Use Effect.sleep, Effect.timeout or a Schedule.",
    matches: (node) =>
      node.type === "CallExpression" && ["setTimeout", "setInterval"].some((name) => isIdentifier(node["callee"], name))
  },
  {
    token: "console",
    instead: "Use Effect.log, or Console from effect.",
    matches: (node) => node.type === "MemberExpression" && isIdentifier(node["object"], "console")
  },
  {
    token: "as any",
    instead: "Write the type, or `unknown`.",
    matches: (node) =>
      node.type === "TSAsExpression" &&
      isSyntaxNode(node["typeAnnotation"]) &&
      node["typeAnnotation"].type === "TSAnyKeyword"
  },
  { token: "process.env", instead: "Add the setting to src/settings/Settings.ts.", matches: isMember("process", "env") }
]

/** Comments that switch the compiler off. They are not nodes of the syntax tree. */
const compilerOff = /@ts-(ignore|nocheck|expect-error)/

/** Finds banned tokens without an exception, and exceptions without a use. */
export function bannedTokens(
  files: ReadonlyArray<TextFile>,
  exceptions: ReadonlyArray<Exception>
): ReadonlyArray<Finding> {
  const unused = new Set(exceptions)
  const found: Array<Finding> = []
  const report = (file: TextFile, offset: number, token: string, fix: string): void => {
    const exception = exceptions.find((candidate) => candidate.path === file.path && candidate.token === token)
    if (exception !== undefined) unused.delete(exception)
    else found.push({ path: file.path, line: lineAt(file, offset), problem: `${token} is banned in src`, fix })
  }
  for (const file of files) {
    walk(syntaxOf(file), (node) => {
      for (const ban of bans) if (ban.matches(node)) report(file, node.start, ban.token, ban.instead)
    })
    const match = compilerOff.exec(file.text)
    if (match !== null) report(file, match.index, "@ts-ignore", "Make the types true instead.")
  }
  const stale = [...unused].map(({ path, token }) => {
    const fix = "Remove the exception from test/tidy.test.ts."
    return { path, line: 1, problem: `does not use ${token}, but has an exception for it`, fix }
  })
  return [...found, ...stale]
}

function isIdentifier(node: unknown, name: string): boolean {
  return isSyntaxNode(node) && node.type === "Identifier" && node["name"] === name
}

function isMember(object: string, property: string): (node: SyntaxNode) => boolean {
  return (node) =>
    node.type === "MemberExpression" && isIdentifier(node["object"], object) && isIdentifier(node["property"], property)
}
