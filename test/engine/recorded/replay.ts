/** Journals that releases have recorded, as rows of the `journal` table, and what a replay of them leads to. */
import { Result, type Schema } from "effect"
import { createHash } from "node:crypto"
import type { Event } from "../../../src/domain/mechanism/Decider.ts"
import { actorDeciders, type Kind } from "../../../src/domain/mechanism/Mechanism.ts"
import type { AnyDecider } from "../../../src/engine/actor/Batch.ts"
import { derivedRecordOf } from "../../../src/engine/actor/Record.ts"
import * as JournalCodec from "../../../src/store/journal/JournalCodec.ts"

export type Row = readonly [type: string, at: number, consumerId: string | null, data: JournalCodec.OwnFields | null]

/** One kind's journals, as one release has recorded them. */
export interface Recording {
  readonly kind: Kind
  readonly version: string
  readonly level: number
  readonly journals: ReadonlyArray<{ readonly digest: string; readonly events: ReadonlyArray<Row> }>
}

const codecs = JournalCodec.codecs(actorDeciders)

/** Returns the events of rows. Fails at a row that cannot be read. */
export const eventsOf = (kind: Kind, rows: ReadonlyArray<Row>): ReadonlyArray<Event> =>
  rows.map(([type, at, consumerId, data]) => Result.getOrThrow(codecs(kind)!.decode({ type, at, consumerId, data })))

/** Returns the rows of events. */
export const rowsOf = (kind: Kind, events: ReadonlyArray<Event>): ReadonlyArray<Row> =>
  events.map((event) => [
    event._tag,
    event.at,
    event.consumerId ?? null,
    Result.getOrThrow(codecs(kind)!.encode(event))
  ])

/** Returns the digest of what a replay leads to: the record, the wake-up, the counts and every place. */
export const digestOf = (kind: Kind, events: ReadonlyArray<Event>): string => {
  const decider: AnyDecider = actorDeciders[kind]
  const state: unknown = decider.initial()
  const consumerIds = new Set<string>()
  for (const event of events) {
    decider.evolve(state, event)
    if (event.consumerId !== undefined) consumerIds.add(event.consumerId)
  }
  const result = {
    record: derivedRecordOf(decider, state),
    wakeAt: decider.wakeAt(state) ?? null,
    counts: decider.counts(state),
    places: [...consumerIds].toSorted().map((id) => [id, decider.place(state, id) ?? null])
  }
  return createHash("sha256")
    .update(JSON.stringify(sorted(result)))
    .digest("hex")
}

/** Returns the value with the keys of objects in order. */
const sorted = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)])
  )
}

/** Returns the schema of each type of event of a kind. */
export const casesOf = (kind: Kind): { readonly [type: string]: Schema.Codec<Event, unknown> } =>
  (
    actorDeciders[kind].event as unknown as {
      readonly cases: { readonly [type: string]: Schema.Codec<Event, unknown> }
    }
  ).cases
