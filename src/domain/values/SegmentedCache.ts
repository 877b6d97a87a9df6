/**
 * A bounded cache of recently used entries: at least the last `capacity`, at most twice as many. It has two maps. When
 * the young map is full it becomes the old map, and the former old map is dropped. Reading an entry moves it to the
 * young map. There is no list to maintain and no clean-up pass.
 *
 * With a TTL, an entry that is not used for that time is dropped on the next access, after twice that time at the
 * latest.
 */
import type { Millis } from "./Time.ts"

/** How long an unused entry is kept, and the clock. */
export interface Ttl {
  readonly afterMillis: number
  readonly now: () => Millis
}

/**
 * Effect's `Cache` does not fit: callers read and write synchronously and store only some results, and a hit costs about
 * 1 µs there and 0.1 µs here.
 */
export class SegmentedCache<A> {
  readonly #capacity: number
  readonly #ttl: Ttl | undefined
  #young = new Map<string, A>()
  #old = new Map<string, A>()
  /** When the young map was created. */
  #createdAt: Millis

  constructor(capacity: number, ttl?: Ttl) {
    this.#capacity = capacity
    this.#ttl = ttl
    this.#createdAt = ttl?.now() ?? 0
  }

  get(key: string): A | undefined {
    this.#dropExpired()
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  has(key: string): boolean {
    return this.get(key) !== undefined
  }

  set(key: string, value: A): void {
    this.#dropExpired()
    if (this.#young.size >= this.#capacity) this.#rotate()
    this.#young.set(key, value)
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  #rotate(): void {
    this.#old = this.#young
    this.#young = new Map()
    this.#createdAt = this.#ttl?.now() ?? 0
  }

  #dropExpired(): void {
    if (this.#ttl === undefined) return
    const { afterMillis, now } = this.#ttl
    const age = now() - this.#createdAt
    if (age < afterMillis) return
    this.#rotate()
    if (age >= 2 * afterMillis) this.#rotate()
  }
}
