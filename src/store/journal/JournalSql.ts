/**
 * The journal in Postgres.
 *
 * Appends of all actors are written together (`GroupCommit`) over their own connection, so that reads never delay a
 * write. Each statement is its own transaction, and is answered when its commit is on disk. No code here may turn
 * `synchronous_commit` off. All other statements use the shared pool, and the caller's transaction if there is one.
 */
import { PgClient, PgPool } from "@effect/sql-pg"
import { Effect, Layer, Option, Result, Scope, Stream } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Failpoint } from "./Failpoint.ts"
import * as GroupCommit from "./GroupCommit.ts"
import { type Commit, type Creation, type Head, Journal, type JournalConflict } from "./Journal.ts"
import { Measures } from "../../measures/Measures.ts"
import { OwnCommits } from "./OwnCommits.ts"
import { Traces } from "../../measures/Traces.ts"
import { measured } from "./MeasuredStatement.ts"
import { inSpan, inSpans } from "./TracedAppends.ts"
import { Unavailable } from "../postgres/Unavailable.ts"
import { decodePage, encodeCommit, type EncodedCommit, type EventCodecs, type StoredRow } from "./JournalCodec.ts"
import { PlaceWriters } from "./CurrentPlaces.ts"
import * as Heads from "./JournalHeads.ts"
import * as PlaceProjector from "./PlaceProjector.ts"
import * as Statements from "./JournalStatements.ts"
import { isRefusal, orUnavailable } from "../postgres/SqlFailure.ts"

export interface Options extends Partial<GroupCommit.Limits> {
  /** The codec of each kind's events. */
  readonly codecs: EventCodecs
  /** Events in one page of a read. Default 20,000 */
  readonly pageEvents?: number
}

const defaults: GroupCommit.Limits & { readonly pageEvents: number } = {
  appendTimeoutMillis: 5_000,
  // About a second of the database's work.
  waitingEventsMax: 100_000,
  statementCommitsMax: 1_000,
  // A larger statement has no higher throughput, and all commits behind it wait longer.
  statementEventsMax: 10_000,
  pageEvents: 20_000
}

/** The journal over the given client's database. */
export const layer = (options: Options): Layer.Layer<Journal, SqlError, PgClient.PgClient> =>
  Layer.effect(Journal, make({ ...defaults, ...options }))

/** Places that may wait to be written. Only a writer that does not get on comes near. */
const placesWaitingMax = 1_000_000

const tooManyPlaces = Effect.fail(new Unavailable({ cause: new Error("Too many places wait to be written") }))

const make = Effect.fnUntraced(function* (options: Options & typeof defaults) {
  const sql = yield* PgClient.PgClient
  const projector = yield* makeProjector
  const write = yield* makeWrite(options, projector)

  /** Encodes a commit. A commit that could not be read back fails here, before it can affect others. */
  const encode = (commit: Commit) => {
    const encoded = encodeCommit(options.codecs, commit)
    return Result.isSuccess(encoded)
      ? Effect.succeed(encoded.success)
      : Effect.fail(new Unavailable({ cause: new Error(encoded.failure) }))
  }

  const append = inSpans(yield* Traces, (commit) =>
    projector.waiting().rows < placesWaitingMax ? Effect.flatMap(encode(commit), write) : tooManyPlaces
  )

  const create = Effect.fn("Journal.create")(function* (creations: ReadonlyArray<Creation>) {
    if (creations.length === 0) return
    const encoded = yield* Effect.forEach(creations, ({ commit }) => encode(commit))
    yield* sql.unsafe(Statements.create, Statements.createParameters(creations, encoded))
  }, orUnavailable)

  const heads = (statement: string, parameters: ReadonlyArray<unknown>) =>
    Effect.map(sql.unsafe(statement, parameters).values, (rows) =>
      (rows as unknown as ReadonlyArray<Heads.HeadRow>).map(Heads.toHead)
    )

  const head = Effect.fn("Journal.head")(
    (mechanismId: string) => Effect.map(heads(Heads.head, [mechanismId]), (found) => found[0]),
    orUnavailable
  )

  const takeOver = Effect.fn("Journal.takeOver")(
    (mechanismIds: ReadonlyArray<string>) =>
      mechanismIds.length === 0 ? Effect.succeed([]) : heads(Heads.takeOver, [mechanismIds]),
    orUnavailable
  )

  const due = Effect.fn("Journal.due")((at: number) => heads(Heads.due, [new Date(at)]), orUnavailable)

  const readPage = Effect.fnUntraced(function* (head: Head, after: number) {
    const upTo = Math.min(head.sequence, after + options.pageEvents)
    const rows = yield* sql.unsafe(Statements.page, Statements.pageParameters(head.identity.id, after, upTo)).values
    const page = decodePage(options.codecs, head, { after, upTo }, rows as unknown as ReadonlyArray<StoredRow>)
    return Result.isSuccess(page) ? page.success : yield* Effect.die(page.failure)
  }, orUnavailable)

  const read = (head: Head, afterSequence: number) =>
    Stream.paginate(afterSequence, (after) =>
      after >= head.sequence
        ? Effect.succeed([[], Option.none<number>()] as const)
        : Effect.map(readPage(head, after), (page) => [[page], Option.some(after + page.length)] as const)
    )

  return {
    append,
    create,
    head,
    takeOver,
    read,
    project: projector.add,
    unfinished: heads(Heads.unfinished, []).pipe(orUnavailable),
    behind: heads(Heads.behind, []).pipe(orUnavailable),
    due
  }
})

/** The places of a commit that is on disk. */
const placesOf = ({ commit: { mechanismId, expectedSequence, events, places } }: EncodedCommit) => ({
  mechanismId,
  sequence: expectedSequence + events.length,
  places
})

/** Starts the writer of places, on a connection of its own. */
const makeProjector = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const { journal: measures } = yield* Measures
  // What waits is written while the journal's scope closes. A pool in that scope could not connect any more.
  const scope = yield* Effect.acquireRelease(Scope.make(), (own, exit) => Scope.close(own, exit))
  const connections = yield* Scope.provide(
    PgPool.make({ ...sql.config, multiplex: false, minConnections: 0, maxConnections: 1 }),
    scope
  )
  const failpoint = yield* Failpoint
  const write = (segment: PlaceProjector.Segment) =>
    Effect.asVoid(
      connections.use((connection) => connection.queryValues(Statements.project, Statements.projectParameters(segment)))
    )
  const projector = yield* PlaceProjector.make<SqlError>({
    ...PlaceProjector.defaults,
    isRefusal,
    write:
      failpoint === undefined
        ? write
        : (segment) =>
            Effect.andThen(failpoint("placesTaken"), Effect.andThen(write(segment), failpoint("placesWritten")))
  })
  ;(yield* PlaceWriters).set(sql.config, projector.flush)
  measures.waitingPlaces = projector.waiting
  return projector
})

/** Starts the writer. Returns the function that hands an encoded commit over to it, and counts what was not written. */
const makeWrite = Effect.fnUntraced(function* (
  options: Options & typeof defaults,
  projector: PlaceProjector.PlaceProjector
) {
  const sql = yield* PgClient.PgClient
  const { database, journal: measures } = yield* Measures
  const ownCommits = yield* OwnCommits
  // One connection writes. The second takes over when a statement was given up and does not end.
  const writers = yield* PgPool.make({
    ...sql.config,
    multiplex: false,
    minConnections: 0,
    maxConnections: 2
  })

  const group = yield* GroupCommit.make<SqlError>({
    ...options,
    isRefusal,
    write: inSpan(
      yield* Traces,
      measured(measures, database.statements, (commits) =>
        Effect.map(
          writers.use((connection) => connection.queryValues(Statements.append, Statements.appendParameters(commits))),
          (rows) => {
            ownCommits.openUnsafe()
            const written = rows[0]![0] as ReadonlyArray<number>
            for (const number of written) projector.add(placesOf(commits[number - 1]!))
            return written
          }
        )
      )
    )
  })
  measures.waiting = group.waiting

  const countLost = ({ _tag }: JournalConflict | Unavailable) =>
    Effect.sync(() => void (_tag === "JournalConflict" ? measures.conflicts++ : measures.unavailable++))
  return (commit: EncodedCommit) => Effect.tapError(group.append(commit), countLost)
})
