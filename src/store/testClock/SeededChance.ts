/**
 * Chance in test mode while it has a test clock. It follows from the clock's seed, so equal seeds and equal acts lead to
 * equal journals. A mechanism keeps an id of its own in each rehearsal: the instant at its beginning is the server's, and
 * the rest, of which its slots' ids and all its chance are made, follows from the seed and its settings.
 */
import { createHmac } from "node:crypto"
import type { TestClock } from "../../domain/organization/TestClock.ts"
import type { Millis } from "../../domain/values/Time.ts"

const derived = (seed: string, ...parts: ReadonlyArray<string | number>): string =>
  createHmac("sha256", seed).update(parts.join("\n")).digest("hex")

/** The part of a UUIDv7 after the instant and the version. */
const restOf = (id: string): string => id.slice(15)

/** Returns the id of a mechanism, a UUIDv7: the server's time, and a rest that follows from the seed and a key. */
export const seededId = ({ seed }: TestClock, at: Millis, key: string): string => {
  const time = at.toString(16).padStart(12, "0")
  const hex = derived(seed, "id", key)
  const variant = "89ab"[Number.parseInt(hex[0]!, 16) % 4]
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(1, 4)}-${variant}${hex.slice(4, 7)}-${hex.slice(7, 19)}`
}

/**
 * Returns 16 bytes as hex for a mechanism. `position` is the sequence of the event before, so batches of commands change
 * nothing. `draw` counts the calls of one decision.
 */
export const seededEntropy = ({ seed }: TestClock, mechanismId: string, position: number, draw: number): string =>
  derived(seed, "entropy", restOf(mechanismId), position, draw).slice(0, 32)
