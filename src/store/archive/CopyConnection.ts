/**
 * A connection that can COPY. The client of all other modules cannot, so this one is `pg`'s. One statement runs at a
 * time, without a time limit.
 */
import { NodeStream } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted, type Scope, type Stream } from "effect"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient, type SqlConnection } from "effect/sql"
import { SqlError, UnknownError } from "effect/sql/SqlError"
import { finished } from "node:stream/promises"
import { Client, type QueryConfig } from "pg"
import { from as copyFrom, to as copyTo } from "pg-copy-streams"
import { ArchiveFailed, attempt } from "./ArchiveFailed.ts"

export interface CopyConnection {
  /** Runs all statements on this connection. */
  readonly sql: SqlClient.SqlClient
  /** Runs a `copy … to stdout`. The number of rows is known when the text has ended. */
  readonly copyOut: (statement: string) => {
    readonly text: Stream.Stream<Uint8Array, ArchiveFailed>
    readonly rows: () => number
  }
  /** Runs a `copy … from stdin`. */
  readonly copyIn: (statement: string) => CopyIn
}

/** A table that is being filled. */
export interface CopyIn {
  readonly write: (text: Buffer) => Effect.Effect<void, ArchiveFailed>
  /** Ends the text. Returns the number of rows. */
  readonly end: Effect.Effect<number, ArchiveFailed>
  /** Gives the copy up, so that the connection takes other statements. */
  readonly abandon: Effect.Effect<void>
}

/** Opens a connection to the database of the surrounding client. It closes with the scope. */
export const open: Effect.Effect<CopyConnection, ArchiveFailed, PgClient.PgClient | Scope.Scope> = Effect.gen(
  function* () {
    const { config } = yield* PgClient.PgClient
    const { password } = config
    const secret = Effect.isEffect(password) ? yield* password : password
    const client = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const client = new Client({
          ...optionsOf(config),
          ...(secret !== undefined && { password: Redacted.value(secret) })
        })
        // A lost connection fails the statement that runs. Without a listener it would end the process.
        client.on("error", () => undefined)
        return client
      }),
      (client) => Effect.promise(() => client.end().catch(() => undefined))
    )
    yield* attempt(() => client.connect())
    return { sql: yield* sqlOf(client), copyOut: copyOutOf(client), copyIn: copyInOf(client) }
  }
)

const optionsOf = ({ url, host, port, database, username, applicationName }: PgClient.PgPoolConfig) => ({
  ...(url !== undefined && { connectionString: Redacted.value(url) }),
  ...(host !== undefined && { host }),
  ...(port !== undefined && { port }),
  ...(database !== undefined && { database }),
  ...(username !== undefined && { user: username }),
  ...(applicationName !== undefined && { application_name: applicationName })
})

const sqlOf = (client: Client) => {
  const run = (text: string, values: ReadonlyArray<unknown>, rowMode?: "array") =>
    Effect.tryPromise({
      try: () => client.query({ text, values: [...values], ...(rowMode && { rowMode }) } as QueryConfig),
      catch: (cause) => {
        const { message } = new ArchiveFailed({ cause })
        return new SqlError({ reason: new UnknownError({ cause, message, operation: "execute" }) })
      }
    })
  const rows = (text: string, values: ReadonlyArray<unknown>) => Effect.map(run(text, values), (result) => result.rows)
  const arrays = (text: string, values: ReadonlyArray<unknown>) =>
    Effect.map(run(text, values, "array"), (result) => result.rows as unknown as ReadonlyArray<ReadonlyArray<unknown>>)
  const connection: SqlConnection.Connection = {
    execute: rows,
    executeUnprepared: rows,
    executeRaw: run,
    executeValues: arrays,
    executeValuesUnprepared: arrays,
    executeStream: () => {
      throw new Error("This connection streams by COPY only")
    }
  }
  return SqlClient.make({
    driver: "postgresql",
    acquirer: Effect.succeed(connection),
    compiler: PgClient.makeCompiler(),
    spanAttributes: [["db.system.name", "postgresql"]]
  }).pipe(Effect.provide(Reactivity.layer))
}

const copyOutOf =
  (client: Client): CopyConnection["copyOut"] =>
  (statement) => {
    const stream = client.query(copyTo(statement))
    const text = NodeStream.fromReadable({ evaluate: () => stream, onError: (cause) => new ArchiveFailed({ cause }) })
    return { text, rows: () => stream.rowCount }
  }

const copyInOf =
  (client: Client): CopyConnection["copyIn"] =>
  (statement) => {
    const stream = client.query(copyFrom(statement))
    let failure: ArchiveFailed | undefined
    stream.on("error", (cause) => (failure ??= new ArchiveFailed({ cause })))
    const failed = Effect.suspend(() => (failure === undefined ? Effect.void : Effect.fail(failure)))
    const write = (text: Buffer) =>
      Effect.callback<void, ArchiveFailed>((resume) => {
        const settle = () => resume(failed)
        // The server may refuse a row while this one waits.
        stream.once("error", settle)
        stream.write(text, () => {
          stream.off("error", settle)
          settle()
        })
      })
    const end = attempt(() => {
      stream.end()
      return finished(stream)
    })
    return {
      write: (text) => Effect.andThen(failed, write(text)),
      end: failed.pipe(Effect.andThen(end), Effect.andThen(Effect.sync(() => stream.rowCount))),
      abandon: Effect.sync(() => void stream.destroy())
    }
  }
