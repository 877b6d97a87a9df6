/** What stands where. */
import type { Finding } from "./Finding.ts"
import { lineAt, syntaxOf, type SyntaxNode, type TextFile } from "./Tree.ts"

const agreedTopLevel = new Set([
  ".ci",
  ".gitignore",
  "LICENSE",
  "README.md",
  "bench",
  "docker-compose.yml",
  "package-lock.json",
  "package.json",
  "src",
  "test",
  "tsconfig.json"
])

/** Written so that it does not find itself. */
const unwanted = /\b(TOD[O]|FIXM[E]|XX[X])\b|[/]work[/]/

/** Folders of `src/domain` whose tests are histories of a mechanism, or records, as a whole. */
const testedAsOne = new Set(["queue", "draw", "auction", "timedRelease", "appointment", "waitlist", "catalogue"])

/** Names at the top of the project that nobody agreed on. */
export function strayTopLevel(names: ReadonlyArray<string>): ReadonlyArray<Finding> {
  return names
    .filter((name) => !agreedTopLevel.has(name))
    .map((path) => ({ path, line: 1, problem: "stands at the top level", fix: "Move it to src, test, bench or .ci." }))
}

/** Files in a folder of `src/domain` that run something and have no test of their own. */
export function untestedDomain(tree: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  return tree.flatMap((file) => {
    const [, folder, name] = /^src\/domain\/(\w+)\/(\w+)\.ts$/.exec(file.path) ?? []
    if (folder === undefined || testedAsOne.has(folder) || !runsSomething(file)) return []
    const test = `test/domain/${folder}/${name}.test.ts`
    if (tree.some(({ path }) => path === test)) return []
    return [{ path: file.path, line: 1, problem: "has no test", fix: `Write ${test}.` }]
  })
}

/** Words that say the work is not done, or that point at one machine. */
export function unwantedWords(tree: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  return tree.flatMap((file) => {
    const match = unwanted.exec(file.text)
    if (match === null) return []
    const fix = "Do it, or say in plain words what is so and why."
    return [{ path: file.path, line: lineAt(file, match.index), problem: `says ${match[0]}`, fix }]
  })
}

/** False for a file that only declares types, and errors that are nothing but their fields. */
function runsSomething(file: TextFile): boolean {
  const types = new Set(["ImportDeclaration", "TSInterfaceDeclaration", "TSTypeAliasDeclaration"])
  return (syntaxOf(file)["body"] as ReadonlyArray<SyntaxNode>).some((statement) => {
    const declaration = (statement["declaration"] ?? statement) as SyntaxNode
    if (declaration.type === "ClassDeclaration") {
      const { body } = declaration["body"] as SyntaxNode & { readonly body: ReadonlyArray<SyntaxNode> }
      return body.length > 0
    }
    return statement["exportKind"] !== "type" && !types.has(declaration.type)
  })
}
