/** The project's files, for the tidy rules. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseAst } from "vitest/node"

/** A text file of the project. */
export interface TextFile {
  /** Relative to the project's folder, with slashes. */
  readonly path: string
  readonly text: string
}

/** A node of the syntax tree (ESTree with TypeScript). Offsets count UTF-16 units. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

/** The project's folder. */
export const root = fileURLToPath(new URL("../../..", import.meta.url))

/** Names that a checkout does not contain: installed, generated, or private files. */
const foreign = new Set([".git", ".pictures", ".usher", "node_modules", "out"])

/** Returns every text file of the project. */
export function readTree(): ReadonlyArray<TextFile> {
  return filesBelow("").map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }))
}

/** Returns the names at the top of the project, without those that a checkout does not contain. */
export function topLevel(): ReadonlyArray<string> {
  return readdirSync(root).filter((name) => !isForeign(name))
}

/** Returns the TypeScript files below a folder such as `src/`. */
export function typescriptIn(tree: ReadonlyArray<TextFile>, folder: string): ReadonlyArray<TextFile> {
  return tree.filter((file) => file.path.startsWith(folder) && /\.tsx?$/.test(file.path))
}

/** Returns the file's syntax tree. */
export function syntaxOf(file: TextFile): SyntaxNode {
  return parseAst(file.text, { lang: file.path.endsWith(".tsx") ? "tsx" : "ts" }) as unknown as SyntaxNode
}

/** Visits the node and everything below it, parents first. */
export function walk(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isSyntaxNode(child)) walk(child, visit)
  }
}

/** Returns the line of an offset, counted from 1. */
export function lineAt(file: TextFile, offset: number): number {
  return file.text.slice(0, offset).split("\n").length
}

/** True for a node of the syntax tree, as opposed to a field's plain value. */
export function isSyntaxNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value
}

function filesBelow(folder: string): ReadonlyArray<string> {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = folder === "" ? entry.name : `${folder}/${entry.name}`
    if (isForeign(entry.name)) return []
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}

function isForeign(name: string): boolean {
  return foreign.has(name) || name.endsWith(".log")
}
