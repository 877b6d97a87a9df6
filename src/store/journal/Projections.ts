/**
 * The stored projections of a mechanism besides its journal: the head, the record and the places. A verification
 * compares them with a replay, and corrects them. All other code reads them through other modules.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PlaceRow } from "../../domain/mechanism/Decider.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofOrganization } from "../records/Tenancy.ts"
import type { MechanismRecord } from "./Journal.ts"

const pageMechanisms = 500

/** Places in one page of a mechanism, and in one statement that writes them. */
export const pagePlaces = 5_000

/** The mechanisms to list: those of an organization, in both modes, or one by its id. Absent: all. */
export interface Selection {
  readonly organizationId?: string | undefined
  readonly mechanismId?: string | undefined
}

/** The part of a mechanism's record that its journal determines. The time and author of the last change are not. */
export type DerivedRecord = Omit<MechanismRecord, "updatedAt" | "updatedBy">

/** The selected mechanisms. */
export interface Counted {
  /** Those whose journals are in the database, and their events. */
  readonly mechanisms: number
  readonly events: number
  /** Those whose journals `usher archive` has moved to files. */
  readonly archived: number
}

export interface StoredPlace extends PlaceRow {
  readonly consumerId: string
}

export class Projections extends Context.Service<
  Projections,
  {
    /** Runs the effect in a transaction that only reads, and sees the database as it was at one moment. */
    atOneMoment<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R>
    /** Runs the effect in a transaction. */
    together<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Unavailable, R>
    /** Counts the selected mechanisms and their events, and the mechanisms whose journals are in archives. */
    count(selection: Selection): Effect.Effect<Counted, Unavailable>
    /** Returns the ids of the next selected mechanisms after one, sorted, without those in archives. Empty at the end. */
    mechanisms(selection: Selection, afterId: string): Effect.Effect<ReadonlyArray<string>, Unavailable>
    /** Returns the sequence of the last event in the journal; 0 if there is none. */
    lastSequence(mechanismId: string): Effect.Effect<number, Unavailable>
    /** Returns the stored record of a mechanism that exists. */
    record(mechanismId: string): Effect.Effect<DerivedRecord, Unavailable>
    /** Returns the next places after a consumer's, sorted by consumer, at most {@link pagePlaces}. */
    places(mechanismId: string, afterConsumerId: string): Effect.Effect<ReadonlyArray<StoredPlace>, Unavailable>
    /** Keeps the places of a mechanism as they are until the transaction ends. */
    holdPlaces(mechanismId: string): Effect.Effect<void, Unavailable>
    /** Replaces the head's sequence and wake-up. */
    writeHead(mechanismId: string, sequence: number, wakeAt: Millis | null): Effect.Effect<void, Unavailable>
    /** Replaces the record, without the time and the author of its last change. */
    writeRecord(mechanismId: string, record: DerivedRecord): Effect.Effect<void, Unavailable>
    /** Inserts or replaces places. */
    writePlaces(mechanismId: string, places: ReadonlyArray<StoredPlace>): Effect.Effect<void, Unavailable>
    removePlaces(mechanismId: string, consumerIds: ReadonlyArray<string>): Effect.Effect<void, Unavailable>
  }
>()("usher/store/journal/Projections") {
  static readonly layer = onDatabase(Projections, (sql) => ({ ...makeReads(sql), ...makeWrites(sql) }))
}

/** Comes before every id. */
export const firstId = "00000000-0000-0000-0000-000000000000"

const makeReads = (sql: PgClient.PgClient) => {
  const together = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    orUnavailable(sql.withTransaction(effect) as Effect.Effect<A, Exclude<E, SqlError.SqlError> | SqlError.SqlError, R>)

  const atOneMoment = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    together(Effect.andThen(sql`set transaction isolation level repeatable read, read only`, effect))

  const selected = ({ organizationId, mechanismId }: Selection) =>
    sql.and([
      ...(organizationId === undefined ? [] : [ofOrganization(sql, organizationId, "m")]),
      ...(mechanismId === undefined ? [] : [sql`m.id = ${mechanismId}`]),
      sql`true`
    ])

  const count = Effect.fn("Projections.count")(function* (selection: Selection) {
    const [row] = yield* sql<Counted>`
      select count(*) filter (where a.archive_id is null)::int4 as mechanisms, count(a.archive_id)::int4 as archived,
        coalesce(sum(h.sequence) filter (where a.archive_id is null), 0)::float8 as events
      from mechanisms m left join mechanism_heads h on h.mechanism_id = m.id
      left join archived_journals a on a.mechanism_id = m.id
      where ${selected(selection)}`
    return row!
  }, orUnavailable)

  const mechanisms = Effect.fn("Projections.mechanisms")(function* (selection: Selection, afterId: string) {
    const rows = yield* sql<{ readonly id: string }>`
      select m.id from mechanisms m where ${selected(selection)} and m.id > ${afterId}
        and not exists (select from archived_journals a where a.mechanism_id = m.id)
      order by m.id limit ${pageMechanisms}`
    return rows.map(({ id }) => id)
  }, orUnavailable)

  const lastSequence = Effect.fn("Projections.lastSequence")(function* (mechanismId: string) {
    const [row] = yield* sql<{ readonly last: number }>`
      select coalesce(max(sequence), 0)::float8 as last from journal where mechanism_id = ${mechanismId}`
    return row!.last
  }, orUnavailable)

  const record = Effect.fn("Projections.record")(function* (mechanismId: string) {
    const [row] = yield* sql<RecordRow>`
      select configuration, status_override, status_override_at, status_override_by, teardown_status, archived
      from mechanisms where id = ${mechanismId}`
    return toRecord(row!)
  }, orUnavailable)

  const places = Effect.fn("Projections.places")(function* (mechanismId: string, afterConsumerId: string) {
    const rows = yield* sql<StoredRow>`
      select consumer_id, status, entered_at, updated_at, fields from places
      where mechanism_id = ${mechanismId} and consumer_id > ${afterConsumerId} order by consumer_id limit ${pagePlaces}`
    return rows.map(toPlace)
  }, orUnavailable)

  return { together, atOneMoment, count, mechanisms, lastSequence, record, places }
}

const makeWrites = (sql: PgClient.PgClient) => {
  const writeHead = Effect.fn("Projections.writeHead")(
    (mechanismId: string, sequence: number, wakeAt: Millis | null) =>
      Effect.asVoid(sql`
        update mechanism_heads set sequence = ${sequence}, wake_at = ${wakeAt === null ? null : new Date(wakeAt)}
        where mechanism_id = ${mechanismId}`),
    orUnavailable
  )

  const writeRecord = Effect.fn("Projections.writeRecord")(
    (mechanismId: string, { configuration, status, archived }: DerivedRecord) => {
      const { statusOverride, statusOverrideAt, statusOverrideBy, teardownStatus } = status
      const overrideAt = statusOverrideAt === null ? null : new Date(statusOverrideAt)
      return Effect.asVoid(sql`
        update mechanisms
        set configuration = ${sql.json(configuration)}, status_override = ${statusOverride},
          status_override_at = ${overrideAt}, status_override_by = ${statusOverrideBy},
          teardown_status = ${teardownStatus}, archived = ${archived}
        where id = ${mechanismId}`)
    },
    orUnavailable
  )

  const writePlaces = Effect.fn("Projections.writePlaces")(
    (mechanismId: string, places: ReadonlyArray<StoredPlace>) =>
      Effect.asVoid(sql`
        insert into places (mechanism_id, consumer_id, status, entered_at, updated_at, fields)
        select ${mechanismId}::uuid, consumer_id, status, to_timestamp(entered_at / 1000), to_timestamp(updated_at / 1000),
          nullif(fields, '{}')
        from jsonb_to_recordset(${sql.json(places.map(toStoredRow))}) as place (consumer_id uuid, status text,
          entered_at float8, updated_at float8, fields jsonb)
        on conflict (mechanism_id, consumer_id) do update
        set status = excluded.status, entered_at = excluded.entered_at, updated_at = excluded.updated_at,
          fields = excluded.fields`),
    orUnavailable
  )

  const removePlaces = Effect.fn("Projections.removePlaces")(
    (mechanismId: string, consumerIds: ReadonlyArray<string>) =>
      Effect.asVoid(sql`
        delete from places where mechanism_id = ${mechanismId} and consumer_id = any(${consumerIds}::uuid[])`),
    orUnavailable
  )

  const holdPlaces = Effect.fn("Projections.holdPlaces")(
    (mechanismId: string) =>
      Effect.asVoid(sql`select from place_projections where mechanism_id = ${mechanismId} for update`),
    orUnavailable
  )

  return { holdPlaces, writeHead, writeRecord, writePlaces, removePlaces }
}

interface RecordRow {
  readonly configuration: { readonly [name: string]: unknown }
  readonly status_override: "ended" | null
  readonly status_override_at: Date | null
  readonly status_override_by: string | null
  readonly teardown_status: "pending" | "completed" | null
  readonly archived: boolean
}

const toRecord = (row: RecordRow): DerivedRecord => ({
  configuration: row.configuration,
  status: {
    statusOverride: row.status_override,
    statusOverrideAt: row.status_override_at?.getTime() ?? null,
    statusOverrideBy: row.status_override_by,
    teardownStatus: row.teardown_status
  },
  archived: row.archived
})

interface StoredRow {
  readonly consumer_id: string
  readonly status: string
  readonly entered_at: Date
  readonly updated_at: Date
  readonly fields: PlaceRow["fields"] | null
}

const toPlace = (row: StoredRow): StoredPlace => ({
  consumerId: row.consumer_id,
  status: row.status,
  enteredAt: row.entered_at.getTime(),
  updatedAt: row.updated_at.getTime(),
  fields: row.fields ?? {}
})

const toStoredRow = ({ consumerId, status, enteredAt, updatedAt, fields }: StoredPlace) => ({
  consumer_id: consumerId,
  status,
  entered_at: enteredAt,
  updated_at: updatedAt,
  fields
})
