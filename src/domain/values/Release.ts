/**
 * The release of Usher that a process runs, and the ranges in which it works with other releases. Two releases work on
 * one database at the same time if each of their ranges overlap.
 */
import { Schema } from "effect"

/** The lowest and the highest number. */
const Range = Schema.Tuple([Schema.Int, Schema.Int])
export type Range = typeof Range.Type

export const Release = Schema.Struct({
  version: Schema.String,
  /** The protocol between nodes: framing and encoding. */
  protocol: Range,
  /** The levels of events and questions. A release reads all of them, and writes the installation's level. */
  level: Range,
  /** The steps of the schema: from the oldest whose programs may run at the same time, to the newest that it knows. */
  schema: Range
})
export type Release = typeof Release.Type

/** This release. The next one raises what it changes: the upper ends first, the lower ends one release later. */
export const release: Release = { version: "1.0.0", protocol: [1, 1], level: [1, 1], schema: [1, 1] }

/** Returns what two releases have no common range of, with both ranges; undefined if they work together. */
export const conflictOf = (own: Release, other: Omit<Release, "version">): string | undefined => {
  const name = (["protocol", "level", "schema"] as const).find((name) => !overlap(own[name], other[name]))
  return name === undefined ? undefined : `${name} ${textOf(own[name])} here, ${textOf(other[name])} there`
}

const overlap = (a: Range, b: Range): boolean => a[0] <= b[1] && b[0] <= a[1]

/** Returns a range as text: `1 to 2`. */
export const textOf = ([min, max]: Range): string => (min === max ? `${min}` : `${min} to ${max}`)
