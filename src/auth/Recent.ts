/**
 * A bounded memory of what was used lately: at least the last `capacity` entries, at most twice as many. Two maps; when
 * the young one is full it becomes the old one and the old one is dropped. An entry used again moves to the young one.
 * No list to maintain, no clean-up pass.
 */
export class Recent<A> {
  readonly #capacity: number
  #young = new Map<string, A>()
  #old = new Map<string, A>()

  constructor(capacity: number) {
    this.#capacity = capacity
  }

  get(key: string): A | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, value: A): void {
    if (this.#young.size >= this.#capacity) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }
}
