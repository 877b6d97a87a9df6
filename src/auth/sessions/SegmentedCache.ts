/**
 * A bounded memory of what was used lately: at least the last `capacity` entries, at most twice as many. Two maps; when
 * the young one is full it becomes the old one and the old one is dropped. An entry used again moves to the young one.
 * No list to maintain, no clean-up pass.
 *
 * Given a time, it also forgets what was not used for that long, twice as long at most, as soon as anything is.
 */
import type { Millis } from "../../domain/values/Time.ts"

/** For how long an entry is remembered without being used, and the clock. */
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
  readonly #lapse: Ttl | undefined
  #young = new Map<string, A>()
  #old = new Map<string, A>()
  /** When the young map was begun. */
  #begunAt: Millis

  constructor(capacity: number, lapse?: Ttl) {
    this.#capacity = capacity
    this.#lapse = lapse
    this.#begunAt = lapse?.now() ?? 0
  }

  get(key: string): A | undefined {
    this.#forgetLapsed()
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: string, value: A): void {
    this.#forgetLapsed()
    if (this.#young.size >= this.#capacity) this.#turn()
    this.#young.set(key, value)
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  #turn(): void {
    this.#old = this.#young
    this.#young = new Map()
    this.#begunAt = this.#lapse?.now() ?? 0
  }

  #forgetLapsed(): void {
    if (this.#lapse === undefined) return
    const { afterMillis, now } = this.#lapse
    const age = now() - this.#begunAt
    if (age < afterMillis) return
    this.#turn()
    if (age >= 2 * afterMillis) this.#turn()
  }
}
