/**
 * Encodes events for the journal. Columns hold the fields that every event has. An event's own fields are JSON in
 * another column, which is null for the many events that have none.
 *
 * Both directions go through the event schema of the mechanism's kind. An event that could not be read back is never
 * written. An event that cannot be read names its mechanism and sequence, so that only this mechanism is parked.
 */
import { Result, Schema } from "effect"
import * as SchemaJITCompiler from "effect/schema/SchemaJITCompiler"
import type { Event } from "../../domain/mechanism/Decider.ts"
import type { ActorKind } from "../../domain/mechanism/Mechanism.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Commit, Head, Recorded } from "./Journal.ts"

/** The fields that only this type of event has, encoded. */
export interface OwnFields {
  readonly [name: string]: unknown
}

/** An event as a row of the `journal` table. */
export interface StoredEvent {
  readonly type: string
  readonly at: Millis
  readonly consumerId: string | null
  readonly data: OwnFields | null
}

/** A recorded event is missing, or its kind's schema does not accept it. Fatal for this mechanism alone. */
export class JournalCorrupt extends Schema.TaggedError<JournalCorrupt>()("JournalCorrupt", {
  mechanismId: Schema.String,
  sequence: Schema.Finite,
  problem: Schema.String
}) {
  override get message() {
    return `Mechanism ${this.mechanismId}, sequence ${this.sequence}: ${this.problem}`
  }
}

/** Converts the events of one kind of mechanism. */
export interface EventCodec {
  /**
   * Returns the event's own fields, or null if it has none. Fails with the problem if the event could not be read
   * back.
   */
  encode(event: Event): Result.Result<OwnFields | null, string>
  /** Returns the event of a row. Fails with the problem of the row. */
  decode(row: StoredEvent): Result.Result<Event, string>
}

/** Returns the codec of a kind; undefined if this process knows no events of that kind. */
export type EventCodecs = (kind: ActorKind) => EventCodec | undefined

/** Makes the codecs of all kinds that have an event schema, such as the `deciders` of the domain. */
export const codecs = (kinds: {
  readonly [K in ActorKind]?: { readonly event: EventSchema }
}): EventCodecs => {
  const byKind = new Map(
    (Object.keys(kinds) as Array<ActorKind>).flatMap((kind) => {
      const schema = kinds[kind]?.event
      return schema === undefined ? [] : [[kind, make(schema)] as const]
    })
  )
  return (kind) => byKind.get(kind)
}

/**
 * An event schema as the codec needs it. `_tag`, `at` (whole milliseconds) and `consumerId` (a UUID) must be plain on
 * both sides. All other fields may be transformed.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- which events there are is known only to the kind
export type EventSchema = Schema.Codec<any, unknown>

/**
 * Makes the codec of one event schema. The schema is compiled, which is about three times as fast as interpreting it.
 */
export const make = (schema: EventSchema): EventCodec => {
  SchemaJITCompiler.enable(schema.ast)
  SchemaJITCompiler.enable(Schema.flip(schema).ast)
  const encodeEvent = Schema.encodeUnknownResult(schema)
  const decodeEvent = Schema.decodeUnknownResult(schema)

  const encode: EventCodec["encode"] = (event) => {
    const encoded = encodeEvent(event)
    if (Result.isFailure(encoded)) return Result.fail(`${event._tag} is not valid: ${encoded.failure.message}`)
    const fields = encoded.success as Encoded
    if (!Number.isSafeInteger(fields.at))
      return Result.fail(`${event._tag}.at is not in whole milliseconds: ${fields.at}`)
    return Result.succeed(ownFieldsOf(fields))
  }

  const decode: EventCodec["decode"] = (row) => {
    const decoded = decodeEvent(toEncoded(row))
    return Result.isSuccess(decoded)
      ? Result.succeed(decoded.success as Event)
      : Result.fail(`${row.type} cannot be read: ${decoded.failure.message}`)
  }

  return { encode, decode }
}

/** A commit with its events' own fields encoded, ready to be written. */
export interface EncodedCommit {
  readonly commit: Commit
  /** One for each event. */
  readonly data: ReadonlyArray<OwnFields | null>
}

/** Encodes a commit. Fails with the problem if one of its events could not be read back. */
export const encodeCommit = (codecs: EventCodecs, commit: Commit): Result.Result<EncodedCommit, string> => {
  const codec = codecs(commit.kind)
  if (codec === undefined) return Result.fail(unknownKind(commit.kind))
  const data: Array<OwnFields | null> = []
  for (const event of commit.events) {
    const encoded = codec.encode(event)
    if (Result.isFailure(encoded)) return Result.fail(encoded.failure)
    data.push(encoded.success)
  }
  return Result.succeed({ commit, data })
}

/** A stored event with its distance from the sequence after which reading began. */
export type StoredRow = readonly [
  distance: number,
  at: Date,
  type: string,
  consumerId: string | null,
  data: OwnFields | null
]

/** Returns the events of `rows`. These must be all events after one sequence up to another. */
export const decodePage = (
  codecs: EventCodecs,
  { identity: { id: mechanismId, kind } }: Head,
  range: { readonly after: number; readonly upTo: number },
  rows: ReadonlyArray<StoredRow>
): Result.Result<ReadonlyArray<Recorded>, JournalCorrupt> => {
  const corrupt = (distance: number, problem: string) =>
    Result.fail(new JournalCorrupt({ mechanismId, sequence: range.after + distance, problem }))
  const codec = codecs(kind)
  if (codec === undefined) return corrupt(1, unknownKind(kind))
  const page: Array<Recorded> = []
  for (const [distance, at, type, consumerId, data] of rows) {
    if (distance !== page.length + 1) break
    const event = codec.decode({ type, at: at.getTime(), consumerId, data })
    if (Result.isFailure(event)) return corrupt(distance, event.failure)
    page.push({ sequence: range.after + distance, event: event.success })
  }
  return page.length === range.upTo - range.after
    ? Result.succeed(page)
    : corrupt(page.length + 1, "the event is missing")
}

const unknownKind = (kind: ActorKind) => `no events of the kind ${kind} are known here`

interface Encoded extends OwnFields {
  readonly _tag: string
  readonly at: unknown
}

function ownFieldsOf(encoded: Encoded): OwnFields | null {
  let own: { [name: string]: unknown } | null = null
  for (const name in encoded) {
    if (name === "_tag" || name === "at" || name === "consumerId") continue
    own ??= {}
    own[name] = encoded[name]
  }
  return own
}

function toEncoded({ type, at, consumerId, data }: StoredEvent): Encoded {
  // The common case is written out, because the compiled schema reads object literals of one shape fastest.
  if (data === null) return consumerId === null ? { _tag: type, at } : { _tag: type, at, consumerId }
  return consumerId === null ? { ...data, _tag: type, at } : { ...data, _tag: type, at, consumerId }
}
