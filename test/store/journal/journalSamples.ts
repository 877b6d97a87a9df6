/** Mechanisms, events and rows that tests of the journal write and read. */
import { Context, Effect, Schema, Stream } from "effect"
import { randomUUID } from "node:crypto"
import type { PlaceRow } from "../../../src/domain/mechanism/Decider.ts"
import type { MechanismIdentity } from "../../../src/domain/mechanism/Mechanism.ts"
import { Timestamp } from "../../../src/domain/values/Time.ts"
import {
  type Commit,
  type Creation,
  type Head,
  Journal,
  type MechanismRecord
} from "../../../src/store/journal/Journal.ts"
import * as JournalCodec from "../../../src/store/journal/JournalCodec.ts"

/** A mechanism's rows in tables other than `journal`. */
export class Rows extends Context.Service<
  Rows,
  {
    places(mechanismId: string): Effect.Effect<ReadonlyMap<string, PlaceRow>>
    record(mechanismId: string): Effect.Effect<MechanismRecord | undefined>
  }
>()("usher/test/store/Rows") {}

/** A small mechanism's events: some without own fields, one with a plain field, and one with a transformed field. */
export const TestEvent = Schema.TaggedUnion({
  Configured: {
    at: Schema.Finite,
    by: Schema.String,
    configuration: Schema.Struct({ name: Schema.String, openAt: Timestamp })
  },
  Entered: {
    at: Schema.Finite,
    consumerId: Schema.String,
    note: Schema.optionalKey(Schema.String)
  },
  Left: { at: Schema.Finite, consumerId: Schema.String },
  Closed: { at: Schema.Finite }
})
export type TestEvent = typeof TestEvent.Type

export const codecs = JournalCodec.codecs({ queue: { event: TestEvent } })

export const tenant = { organizationId: randomUUID(), mode: "live" } as const
export const experienceId = randomUUID()
export const sequenceId = randomUUID()

export const start = Date.UTC(2026, 10, 21, 18)

export const configured: TestEvent = {
  _tag: "Configured",
  at: start,
  by: "an admin",
  configuration: { name: "a drop", openAt: start + 1_234 }
}

export const record: MechanismRecord = {
  configuration: { name: "a drop" },
  status: {
    statusOverride: null,
    statusOverrideAt: null,
    statusOverrideBy: null,
    teardownStatus: null
  },
  archived: false,
  updatedAt: start,
  updatedBy: "an admin"
}

export const identity = (): MechanismIdentity => ({
  id: randomUUID(),
  kind: "queue",
  experienceId,
  sequenceId,
  ...tenant
})

export const creation = (of: MechanismIdentity = identity()): Creation => ({
  identity: of,
  createdBy: "a founder",
  commit: {
    mechanismId: of.id,
    kind: "queue",
    expectedSequence: 0,
    events: [configured],
    places: [],
    wakeAt: null,
    record
  }
})

/** Creates a mechanism. Its journal is at sequence 1. */
export const created = Effect.gen(function* () {
  const journal = yield* Journal
  const { id } = yield* Effect.tap(Effect.succeed(identity()), (of) => journal.create([creation(of)]))
  return id
})

/** A commit in which consumers enter, each with its place. */
export const entries = (
  mechanismId: string,
  expectedSequence: number,
  consumers: ReadonlyArray<string>,
  rest: Partial<Commit> = {}
): Commit => ({
  mechanismId,
  kind: "queue",
  expectedSequence,
  events: consumers.map((consumerId, index) => ({
    _tag: "Entered",
    at: start + expectedSequence + index,
    consumerId
  })),
  places: consumers.map((consumerId, index) => place(consumerId, "QUEUED", start + expectedSequence + index)),
  wakeAt: null,
  ...rest
})

export const place = (consumerId: string, status: string, at: number, fields: PlaceRow["fields"] = {}) => ({
  consumerId,
  status,
  enteredAt: at,
  updatedAt: at,
  fields
})

export const ids = (count: number) => Array.from({ length: count }, () => randomUUID() as string)

/** Reads all events of a mechanism. */
export const eventsOf = Effect.fnUntraced(function* (mechanismId: string, after = 0) {
  const journal = yield* Journal
  const head = (yield* journal.head(mechanismId)) as Head
  return (yield* Stream.runCollect(journal.read(head, after))).flat()
})

export const sequenceOf = Effect.fnUntraced(function* (mechanismId: string) {
  return (yield* (yield* Journal).head(mechanismId))?.sequence
})
