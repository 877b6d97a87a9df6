/**
 * The order of the folders of `src`. An import points left, and files never import each other in a circle.
 *
 *     settings, measures, client ← domain ← store ← engine, auth, delivery, beacon ← http, workers, load ← pages ← cli, main
 *
 * Folders of one ring do not import each other. Code that two of them need belongs to a ring on their left; code that
 * connects them belongs to a ring on their right.
 */
import { posix } from "node:path"
import type { Finding } from "./Finding.ts"
import { isSyntaxNode, lineAt, syntaxOf, type SyntaxNode, type TextFile, walk } from "./Tree.ts"

const rings: ReadonlyArray<ReadonlyArray<string>> = [
  ["settings", "measures", "client"],
  ["domain"],
  ["store"],
  ["engine", "auth", "delivery", "beacon"],
  ["http", "workers", "load"],
  ["pages"],
  ["cli"],
  ["main.ts"]
]

/**
 * Parts of `effect` that perform effects, and so are banned from the pure ring. Data types and `Schema` are allowed.
 */
const acting = new Set(
  "Clock Config Console Context Deferred Effect Fiber Layer ManagedRuntime PubSub Queue Random Ref Runtime Schedule Scope Stream".split(
    " "
  )
)

/** The imports from Node in the domain: hashing and checking signatures is arithmetic, without a clock or any other effect. */
const arithmetic: ReadonlyArray<{ readonly path: string; readonly names: ReadonlyArray<string> }> = [
  { path: "src/domain/values/Digest.ts", names: ["createHash", "hash"] },
  { path: "src/domain/values/Signatures.ts", names: ["createHmac", "createPublicKey", "timingSafeEqual", "verify"] }
]

/** Finds imports that point right, sideways or out of `src`, and files in a folder that has no ring. */
export function importsPointingRight(files: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  return files.flatMap((file) => {
    const from = partOf(file.path)
    if (ringOf(from) === undefined) {
      const fix = "Move it into a ring, or give its folder one in test/tidy/rules/imports.ts and src/ARCHITECTURE.md."
      return [{ path: file.path, line: 1, problem: `src/${from} is in no ring`, fix }]
    }
    return importsOf(file).flatMap(({ source, line }) => {
      if (!source.startsWith(".")) return []
      const to = partOf(posix.join(posix.dirname(file.path), source))
      if (to === from || isLeftOf(to, from)) return []
      const fix = "Imports only point left: move what is shared to the left, or hand it in from the right."
      return [{ path: file.path, line, problem: `${from} imports ${to} (${source})`, fix }]
    })
  })
}

/** Finds files that import each other in a circle, including imports of types. Reports each circle once. */
export function importCycles(files: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  const known = new Set(files.map(({ path }) => path))
  const targets = new Map(
    files.map((file) => [
      file.path,
      importsOf(file)
        .filter(({ source }) => source.startsWith("."))
        .map(({ source, line }) => ({ path: posix.join(posix.dirname(file.path), source), line }))
        .filter(({ path }) => known.has(path))
    ])
  )
  const found: Array<Finding> = []
  const done = new Set<string>()
  const visit = (path: string, way: ReadonlyArray<string>): void => {
    for (const target of targets.get(path)!) {
      const start = way.indexOf(target.path)
      if (start !== -1) {
        const circle = [...way.slice(start), target.path].join(" → ")
        const fix = "Move what both need into a file of its own."
        found.push({ path, line: target.line, problem: `imports in a circle: ${circle}`, fix })
      } else if (!done.has(target.path)) visit(target.path, [...way, target.path])
    }
    done.add(path)
  }
  for (const { path } of files) if (!done.has(path)) visit(path, [path])
  return found
}

/**
 * Finds imports of `src/domain` that reach beyond pure data: the runtime of Effect, its SQL and HTTP, Node,
 * libraries.
 */
export function impureImports(files: ReadonlyArray<TextFile>): ReadonlyArray<Finding> {
  return files
    .filter((file) => file.path.startsWith("src/domain/"))
    .flatMap((file) =>
      importsOf(file).flatMap(({ source, names, line }) => {
        const { path } = file
        if (source.startsWith(".")) return []
        const allowed = source === "node:crypto" ? arithmetic.find((one) => one.path === path)?.names : undefined
        if (names.length > 0 && names.every((name) => allowed?.includes(name) === true)) return []
        const module = source.startsWith("effect/") ? source.slice("effect/".length) : undefined
        const isPure = module === undefined ? source === "effect" : /^[A-Z]/.test(module) && !acting.has(module)
        const impure = isPure ? names.filter((name) => acting.has(name)) : [source]
        const fix = "A mechanism only decides: let its caller bring the clock, dice and I/O in as arguments."
        return impure.map((name) => ({ path, line, problem: `domain imports ${name}`, fix }))
      })
    )
}

/** Returns `domain` for `src/domain/queue/Queue.ts`, `main.ts` for `src/main.ts`, and the path itself outside `src`. */
function partOf(path: string): string {
  return path.startsWith("src/") ? path.split("/")[1]! : path
}

function ringOf(part: string): number | undefined {
  const ring = rings.findIndex((parts) => parts.includes(part))
  return ring === -1 ? undefined : ring
}

function isLeftOf(part: string, other: string): boolean {
  const ring = ringOf(part)
  const otherRing = ringOf(other)
  return ring !== undefined && otherRing !== undefined && ring < otherRing
}

/** Returns every module that a file names in an import, a re-export or a call of `import`. */
function importsOf(file: TextFile) {
  const found: Array<{ readonly source: string; readonly names: ReadonlyArray<string>; readonly line: number }> = []
  walk(syntaxOf(file), (node) => {
    const isImport = ["ImportDeclaration", "ImportExpression", "ExportAllDeclaration", "ExportNamedDeclaration"]
    if (!isImport.includes(node.type) || !isSyntaxNode(node["source"])) return
    const specifiers = node["importKind"] === "type" ? [] : ((node["specifiers"] ?? []) as ReadonlyArray<SyntaxNode>)
    const names = specifiers
      .filter((specifier) => specifier["importKind"] !== "type" && isSyntaxNode(specifier["imported"]))
      .map((specifier) => String((specifier["imported"] as SyntaxNode)["name"]))
    found.push({ source: String(node["source"]["value"]), names, line: lineAt(file, node.start) })
  })
  return found
}
