/**
 * The journal in memory, with the same fences and conflicts. Use it for tests, and for trials without a database.
 * Nothing is durable, and an append never waits.
 */
import { Context, Effect, Layer, Option, Stream } from "effect"
import type { PlaceRow } from "../../domain/mechanism/Decider.ts"
import type { ActorKind, MechanismIdentity } from "../../domain/mechanism/Mechanism.ts"
import type { Millis } from "../../domain/values/Time.ts"
import {
  type Commit,
  type Creation,
  type Head,
  Journal,
  JournalConflict,
  type MechanismRecord,
  type Recorded
} from "./Journal.ts"
import { Unavailable } from "../postgres/Unavailable.ts"

/** The rows of one mechanism in `mechanisms`, `mechanism_heads`, `journal` and `places`. */
export interface Stored {
  readonly identity: MechanismIdentity<ActorKind>
  readonly createdBy: string
  record: MechanismRecord
  wakeAt: Millis | null
  epoch: number
  formatVersion: number
  readonly events: Array<Recorded>
  readonly places: Map<string, PlaceRow>
}

/** The content of the journal, by mechanism. */
export class Tables extends Context.Service<Tables, ReadonlyMap<string, Stored>>()(
  "usher/store/journal/JournalMemory/Tables"
) {}

const pageEvents = 1_000

/** An empty journal, and access to its tables. */
export const layer: Layer.Layer<Journal | Tables> = Layer.effectContext(
  Effect.sync(() => {
    const tables = new Map<string, Stored>()
    return Context.make(Journal, make(tables)).pipe(Context.add(Tables, tables))
  })
)

const make = (tables: Map<string, Stored>): Journal["Service"] => ({
  create: (creations: ReadonlyArray<Creation>) =>
    Effect.suspend(() => {
      const taken = creations.find(({ identity }) => tables.has(identity.id))
      if (taken !== undefined) return Effect.fail(new Unavailable({ cause: `${taken.identity.id} exists already` }))
      for (const { identity, createdBy, commit } of creations) {
        const { record, wakeAt } = commit
        const stored: Stored = {
          identity,
          createdBy,
          record,
          wakeAt,
          epoch: 0,
          formatVersion: 1,
          events: [],
          places: new Map()
        }
        write(stored, commit)
        tables.set(identity.id, stored)
      }
      return Effect.void
    }),
  append: (commit: Commit) =>
    Effect.suspend(() => {
      const stored = tables.get(commit.mechanismId)
      const isExpected = stored?.events.length === commit.expectedSequence && stored.epoch === (commit.epoch ?? 0)
      if (stored === undefined || !isExpected) {
        return Effect.fail(new JournalConflict({ mechanismId: commit.mechanismId }))
      }
      write(stored, commit)
      return Effect.void
    }),
  head: (mechanismId: string) =>
    Effect.sync(() => {
      const stored = tables.get(mechanismId)
      return stored === undefined ? undefined : headOf(stored)
    }),
  takeOver: (mechanismIds: ReadonlyArray<string>) =>
    Effect.sync(() =>
      mechanismIds.flatMap((id) => {
        const stored = tables.get(id)
        if (stored === undefined) return []
        stored.epoch += 1
        return [headOf(stored)]
      })
    ),
  read: (head: Head, afterSequence: number) =>
    Stream.paginate(afterSequence, (after) =>
      Effect.sync(() => {
        const upTo = Math.min(head.sequence, after + pageEvents)
        const page = tables.get(head.identity.id)?.events.slice(after, upTo) ?? []
        return page.length === 0 ? ([[], Option.none<number>()] as const) : ([[page], Option.some(upTo)] as const)
      })
    ),
  project: () => {},
  behind: Effect.succeed([]),
  unfinished: Effect.sync(() => [...tables.values()].filter(isUnfinished).map(headOf)),
  due: (at: Millis) =>
    Effect.sync(() => [...tables.values()].filter(({ wakeAt }) => wakeAt !== null && wakeAt <= at).map(headOf))
})

function write(stored: Stored, { events, places, wakeAt, record, formatVersion = 1 }: Commit) {
  stored.formatVersion = Math.max(stored.formatVersion, formatVersion)
  for (const event of events) stored.events.push({ sequence: stored.events.length + 1, event })
  for (const { consumerId, ...place } of places) stored.places.set(consumerId, place)
  stored.wakeAt = wakeAt
  if (record !== undefined) stored.record = record
}

const headOf = ({ identity, events, wakeAt, epoch, formatVersion, record }: Stored): Head => ({
  identity,
  sequence: events.length,
  epoch,
  formatVersion,
  wakeAt,
  placesSequence: events.length,
  isOver: record.archived && record.status.teardownStatus === "completed"
})

const isUnfinished = ({ record }: Stored) => record.status.teardownStatus !== "completed"
