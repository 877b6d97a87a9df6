/**
 * Encoded answers, kept while what they were made of stays the same. So a public read that many callers repeat is
 * encoded once for all of them. Nothing expires by time alone: a caller that has changed something reads the change at once.
 *
 * An answer is made in one turn of the event loop, so that no two callers make the same one.
 */

/** Bytes of the kept answers of one sort. The oldest are dropped first. */
export const keptBytesMax = 67_108_864

/** The cost of an entry beside its bytes. */
const entryBytes = 1_000

interface Entry<Basis, A> {
  readonly basis: Basis
  readonly answer: A
  readonly bytes: number
}

/** Answers by the question. `Basis` is what an answer depends on beside the question. */
export class KeptAnswers<Basis, A> {
  readonly #bytesMax: number
  readonly #sizeOf: (answer: A) => number
  readonly #entries = new Map<string, Entry<Basis, A>>()
  #bytes = 0

  constructor(sizeOf: (answer: A) => number, bytesMax: number = keptBytesMax) {
    this.#sizeOf = sizeOf
    this.#bytesMax = bytesMax
  }

  /** Returns the kept answer if its basis holds still. Else makes a new one. */
  of(question: string, holds: (basis: Basis) => boolean, make: () => { readonly basis: Basis; readonly answer: A }): A {
    const known = this.#entries.get(question)
    if (known !== undefined && holds(known.basis)) return known.answer
    if (known !== undefined) this.#drop(question, known)
    const { basis, answer } = make()
    const bytes = this.#sizeOf(answer) + question.length + entryBytes
    if (bytes <= this.#bytesMax) {
      this.#entries.set(question, { basis, answer, bytes })
      this.#bytes += bytes
      for (const [oldest, entry] of this.#entries) {
        if (this.#bytes <= this.#bytesMax) break
        this.#drop(oldest, entry)
      }
    }
    return answer
  }

  get bytes(): number {
    return this.#bytes
  }

  #drop(question: string, { bytes }: Entry<Basis, A>): void {
    this.#entries.delete(question)
    this.#bytes -= bytes
  }
}
