/**
 * A long computation that runs one slice at a time.
 */

/** Steps in one slice. A step takes about a microsecond, so that a slice takes a few milliseconds. */
export const stepsPerSlice = 2_000

/** A computation that pauses after each step. */
export class CooperativeTask<A> {
  /** Undefined when the work is done, so that its memory is freed. */
  #steps: Generator<undefined, A> | undefined
  #result: A | undefined

  constructor(steps: Generator<undefined, A>) {
    this.#steps = steps
  }

  /** The result; undefined while there is more work. */
  get result(): A | undefined {
    return this.#result
  }

  /** Works for one slice, unless the work is done. Returns the result, or undefined while there is more work. */
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
