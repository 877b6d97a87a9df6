/** The layout of the project: top-level names, tests of the domain, and unwanted words. */
import { kinds } from "../../../src/domain/mechanism/Mechanism.ts"
import type { Finding } from "./Finding.ts"
import { folderOf } from "./kinds.ts"
import { lineAt, syntaxOf, type SyntaxNode, type TextFile } from "./Tree.ts"

const agreedTopLevel = new Set([
  ".ci",
  ".gitignore",
  "CHANGELOG.md",
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

/** The character classes keep the rule from finding its own source. */
const unwanted = /\b(TOD[O]|FIXM[E]|XX[X])\b|[/]work[/]/

/** Folders of `src/domain` whose tests cover a mechanism or a record as a whole. */
const testedAsOne = new Set([...kinds.map(folderOf), "catalogue", "stock"])

/** Finds names at the top of the project that are not agreed. */
export function strayTopLevel(names: ReadonlyArray<string>): ReadonlyArray<Finding> {
  return names
    .filter((name) => !agreedTopLevel.has(name))
    .map((path) => ({ path, line: 1, problem: "is at the top level", fix: "Move it to src, test, bench or .ci." }))
}

/** Finds files in a folder of `src/domain` that contain code and have no test. */
export function untestedDomain(tree: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  return tree.flatMap((file) => {
    const [, folder, name] = /^src\/domain\/(\w+)\/(\w+)\.ts$/.exec(file.path) ?? []
    if (folder === undefined || testedAsOne.has(folder) || !runsSomething(file)) return []
    const test = `test/domain/${folder}/${name}.test.ts`
    if (tree.some(({ path }) => path === test)) return []
    return [{ path: file.path, line: 1, problem: "has no test", fix: `Write ${test}.` }]
  })
}

/** Finds words for unfinished work, and paths of one machine. */
export function unwantedWords(tree: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  return tree.flatMap((file) => {
    const match = unwanted.exec(file.text)
    if (match === null) return []
    const fix = "Finish the work, or state the fact and its reason."
    return [{ path: file.path, line: lineAt(file, match.index), problem: `contains ${match[0]}`, fix }]
  })
}

/** True for a file that contains more than types, constants and plain errors. */
function runsSomething(file: TextFile): boolean {
  const types = new Set(["ImportDeclaration", "TSInterfaceDeclaration", "TSTypeAliasDeclaration"])
  return (syntaxOf(file)["body"] as ReadonlyArray<SyntaxNode>).some((statement) => {
    const declaration = (statement["declaration"] ?? statement) as SyntaxNode
    if (declaration.type === "ClassDeclaration") {
      const { body } = declaration["body"] as SyntaxNode & { readonly body: ReadonlyArray<SyntaxNode> }
      return body.length > 0
    }
    if (declaration.type === "VariableDeclaration") {
      return !(declaration["declarations"] as ReadonlyArray<SyntaxNode>).every(({ init }) => isData(init as SyntaxNode))
    }
    return statement["exportKind"] !== "type" && !types.has(declaration.type)
  })
}

/** True for literals, arrays of them, and their schema: `Schema.Literals(["a", "b"])`. */
function isData(value: SyntaxNode): boolean {
  switch (value.type) {
    case "Literal":
      return true
    case "ArrayExpression":
      return (value["elements"] as ReadonlyArray<SyntaxNode>).every(isData)
    case "TSAsExpression":
      return isData(value["expression"] as SyntaxNode)
    case "CallExpression": {
      const { object, property } = value["callee"] as { readonly [key: string]: { readonly name?: string } | undefined }
      const isLiterals = object?.name === "Schema" && property?.name === "Literals"
      return isLiterals && (value["arguments"] as ReadonlyArray<SyntaxNode>).every(isData)
    }
    default:
      return false
  }
}
