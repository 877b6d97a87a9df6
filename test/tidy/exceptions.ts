/** Places where a banned word has to stay. */
import type { Exception } from "./rules/words.ts"

export const words: ReadonlyArray<Exception> = [
  { path: "src/domain/draw/proof/NotProven.ts", word: "whoever", reason: "the text of proofs is part of their format" }
]
