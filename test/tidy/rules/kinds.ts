/** Files that name a kind of mechanism although they are not the kind's own. */
import { declarations, type Kind, kinds } from "../../../src/domain/mechanism/Mechanism.ts"
import type { Finding } from "./Finding.ts"
import { lineAt, type TextFile, typescriptIn } from "./Tree.ts"

/** Translated words of pages, and steps that are never edited. Neither follows the code. */
const foreign = /^src\/(pages\/words\/(?!en\.json)|store\/postgres\/migrations\/)/

/** Returns the name of the folders that belong to a kind. */
export function folderOf(kind: Kind): string {
  return declarations[kind].name.replace(/^./, (first) => first.toLowerCase())
}

/** Returns the files of `src` that name the kind, without its own folders and files. */
export function filesNaming(tree: ReadonlyArray<TextFile>, kind: Kind): ReadonlyArray<string> {
  const { name, path } = declarations[kind]
  const names = new RegExp([kind, name, folderOf(kind), path.replace(/s$/, "")].join("|"))
  const own = new RegExp(`/${folderOf(kind)}/|/${name}(?:Api)?\\.ts$`)
  return sourcesIn(tree).flatMap((file) => (!own.test(file.path) && names.test(file.text) ? [file.path] : []))
}

/** Finds lists of kinds in files that are not among the `agreed` ones: two names in a row, in code or in SQL. */
export function listsOfKinds(tree: ReadonlyArray<TextFile>, agreed: ReadonlyArray<string>): ReadonlyArray<Finding> {
  const kind = `(["'])(?:${kinds.join("|")})`
  const list = new RegExp(`${kind}\\1\\s*[,|]\\s*${kind}\\2`)
  return sourcesIn(tree).flatMap((file) => {
    const match = agreed.includes(file.path) ? null : list.exec(file.text)
    if (match === null) return []
    const fix = "Derive the list from what the kinds declare (src/domain/mechanism/Mechanism.ts)."
    return [{ path: file.path, line: lineAt(file, match.index), problem: "lists kinds of mechanism", fix }]
  })
}

function sourcesIn(tree: ReadonlyArray<TextFile>): ReadonlyArray<TextFile> {
  const words = tree.filter(({ path }) => /^src\/pages\/words\/.*\.json$/.test(path))
  return [...typescriptIn(tree, "src/"), ...words].filter(({ path }) => !foreign.test(path))
}
