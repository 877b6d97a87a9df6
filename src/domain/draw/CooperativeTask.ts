/**
 * Work that takes long, done a slice at a time.
 */

/** Steps in one slice. A step takes about a microsecond, so that a slice takes a few milliseconds. */
export const stepsPerSlice = 2_000

/** A computation that pauses after each step. */
export class CooperativeTask<A> {
  /** Undefined when the work is done: what it was done with is not needed any more. */
  #steps: Generator<undefined, A> | undefined
  #result: A | undefined

  constructor(steps: Generator<undefined, A>) {
    this.#steps = steps
  }

  /** Works on for one slice, unless the work is done; the result as soon as there is one. */
  work(): A | undefined {
    for (let step = 0; step < stepsPerSlice && this.#steps !== undefined; step++) {
      const { done, value } = this.#steps.next()
      if (done !== true) continue
      this.#result = value
      this.#steps = undefined
    }
    return this.#result
  }
}
