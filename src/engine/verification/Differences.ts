/** The differences between a mechanism's replayed journal and its stored projections. */
import { isDeepStrictEqual } from "node:util"
import { type Millis, toText } from "../../domain/values/Time.ts"
import type { DerivedRecord, StoredPlace } from "../../store/journal/Projections.ts"

/** One value that differs. */
export interface Difference {
  /**
   * The place of a difference: `head`, `record` or `place` and the consumer's id, and the field. `journal` if events
   * are unusable.
   */
  readonly what: string
  /** The value that the journal leads to, as JSON. Null for a place that should not exist. */
  readonly expected: unknown
  /** The stored value, as JSON. Null for a place that does not exist. */
  readonly stored: unknown
}

/** Differences of one mechanism that are kept. The rest is counted. */
const keptMax = 100

/** Collects the differences of one mechanism. */
export class Differences {
  readonly kept: Array<Difference> = []
  count = 0

  note(what: string, expected: unknown, stored: unknown): void {
    this.count += 1
    if (this.kept.length < keptMax) this.kept.push({ what, expected, stored })
  }

  /** Notes each field that differs. Returns whether any does. */
  compare(what: string, expected: Fields, stored: Fields): boolean {
    const before = this.count
    for (const name of new Set([...Object.keys(expected), ...Object.keys(stored)])) {
      const [wanted = null, found = null] = [expected[name], stored[name]]
      if (!isDeepStrictEqual(wanted, found)) this.note(`${what}: ${name}`, wanted, found)
    }
    return this.count > before
  }
}

/** Named values as JSON has them. */
interface Fields {
  readonly [name: string]: unknown
}

export const headFields = (head: { readonly sequence: number; readonly wakeAt: Millis | null }): Fields => ({
  sequence: head.sequence,
  wakeAt: textOf(head.wakeAt)
})

export const recordFields = ({ configuration, status, archived }: DerivedRecord): Fields => ({
  ...named("configuration", configuration),
  ...status,
  statusOverrideAt: textOf(status.statusOverrideAt),
  archived
})

export const placeFields = ({ status, enteredAt, updatedAt, fields }: StoredPlace): Fields => ({
  status,
  enteredAt: textOf(enteredAt),
  updatedAt: textOf(updatedAt),
  ...named("fields", fields)
})

const textOf = (at: Millis | null): string | null => (at === null ? null : toText(at))

/** The values of an object as JSON stores them, with the object's name before theirs. */
const named = (prefix: string, values: object): Fields => {
  const named: { [name: string]: unknown } = {}
  for (const [name, value] of Object.entries(JSON.parse(JSON.stringify(values)) as Fields)) {
    named[`${prefix}.${name}`] = value
  }
  return named
}
