/** Words that this project does not use, because they make prose hard to read. */
import type { Finding } from "./Finding.ts"
import { lineAt, type TextFile } from "./Tree.ts"

/** Each word with what to write instead. */
const replacements: ReadonlyArray<readonly [word: RegExp, replacement: string]> = [
  [/\b[Ww]hoever\b/, "the actor's name: the caller, the operator, a consumer"],
  [/\b[Ww]hom\b/, "the actor's name: the caller, the operator, a consumer"],
  [/\banew\b/, "again"],
  [/\bas ever\b/, "as always, or nothing"]
]

/** A place where the word has to stay. */
export interface Exception {
  readonly path: string
  readonly word: string
  readonly reason: string
}

/** Banned words in code and documents, and exceptions that are no longer used. */
export function bannedWords(
  files: ReadonlyArray<TextFile>,
  exceptions: ReadonlyArray<Exception>
): ReadonlyArray<Finding> {
  const used = new Set<Exception>()
  const found = files.flatMap((file) =>
    replacements.flatMap(([word, replacement]) =>
      [...file.text.matchAll(new RegExp(word, "g"))].flatMap(({ 0: text, index }) => {
        const exception = exceptions.find(({ path, word }) => file.path.startsWith(path) && word === text)
        if (exception !== undefined) {
          used.add(exception)
          return []
        }
        const problem = `says ${text}`
        return [{ path: file.path, line: lineAt(file, index), problem, fix: `Write: ${replacement}.` }]
      })
    )
  )
  const unused = exceptions.filter((exception) => !used.has(exception))
  return [
    ...found,
    ...unused.map(({ path, word }) => {
      const problem = `does not say ${word}, but has an exception for it`
      return { path, line: 1, problem, fix: "Remove the exception." }
    })
  ]
}
