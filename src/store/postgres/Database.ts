/**
 * The database: an external Postgres server named by `DATABASE_URL`, or the embedded one. The layer provides a
 * connection pool to a server that has passed all checks. Otherwise it fails with the problem and the remedy.
 */
import { PgClient, PgConnection } from "@effect/sql-pg"
import { Effect, Layer, Option, Redacted, Schedule } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Measures } from "../../measures/Measures.ts"
import { Settings, StartRefused } from "../../settings/Settings.ts"
import { Availability } from "../coordination/Availability.ts"
import * as BoundedClient from "./BoundedClient.ts"
import { EmbeddedPostgres } from "./embedded/EmbeddedPostgres.ts"

/** The oldest supported Postgres version. */
const oldestVersion = 15

/**
 * Provides `PgClient` and `SqlClient`, as the settings say, and `Availability`. Closing the layer stops the embedded
 * server, if no other process uses it.
 */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { databaseUrl } = yield* Settings
    return Option.match(databaseUrl, {
      onSome: (url) => layerAt({ url }, named(url)),
      onNone: () =>
        Layer.unwrap(
          Effect.map(EmbeddedPostgres, (server) => layerAt(server, `the embedded Postgres on port ${server.port}`))
        ).pipe(Layer.provide(EmbeddedPostgres.layer))
    })
  })
).pipe(Layer.provideMerge(Availability.layer))

/**
 * Statements are short: compiling one, or starting parallel workers, takes longer than running it. A slow statement
 * is cancelled. A connection pooler in front that rejects parameters must be configured to ignore these.
 */
const startupParameters = {
  jit: "off",
  max_parallel_workers_per_gather: "0",
  statement_timeout: `${BoundedClient.statementTimeoutMillis}`
}

/** Connections are replaced after this time, so that the process moves with a server that gets another address. */
const connectionTTL = "10 minutes"

/** On a slow machine the thread is busy for seconds at a start. An answer that has come meanwhile is not late. */
const connectTimeout = "15 seconds"

/** How long the server may take to describe itself. */
const answerSeconds = 5

/** Provides a client of a server that has passed all checks. `name` is the server's name in messages. */
export const layerAt = (target: PgConnection.Config, name: string) =>
  PgClient.layerFrom(
    Effect.gen(function* () {
      const settings = yield* Settings
      const config = {
        ...target,
        applicationName: `usher ${settings.nodeName}`,
        keepAlive: "30 seconds",
        startupParameters,
        connectionTTL,
        connectTimeout
      } as const
      yield* check(config, name)
      const { database } = yield* Measures
      database.connections.max = settings.databaseConnections
      return yield* BoundedClient.make(
        { ...config, maxConnections: settings.databaseConnections, minConnections: 1 },
        yield* Availability,
        database
      ).pipe(Effect.mapError((error) => refusedAfter(name, error)))
    })
  )

/** Connects once and checks whether Usher can work with this server. */
const check = Effect.fnUntraced(
  function* (config: PgConnection.Config, name: string) {
    const connection = yield* PgConnection.make(config)
    const rows = yield* connection
      .queryValues(
        "select current_setting('server_version'), current_setting('server_encoding'), pg_is_in_recovery()::text"
      )
      .pipe(
        Effect.timeoutOrElse({
          duration: `${answerSeconds} seconds`,
          orElse: () =>
            Effect.fail(refused(name, "it takes connections, but it does not answer. Check its state.", true))
        })
      )
    const [version, encoding, standby] = rows[0] as [string, string, string]
    const problem = unsuitability({ version, encoding, standby: standby === "true" })
    if (problem !== undefined) return yield* refused(name, problem)
  },
  Effect.scoped,
  // A server that is starting says so, and is worth waiting for.
  Effect.retry({ while: isStarting, schedule: Schedule.max([Schedule.spaced("200 millis"), Schedule.recurs(150)]) }),
  (effect, _config, name) => Effect.catchTag(effect, "SqlError", (error) => Effect.fail(refusedAfter(name, error)))
)

/**
 * Returns why a server of this description cannot be used, or undefined if it can. `version` is the server's own
 * text: `15.4 (…)`.
 */
export const unsuitability = (server: {
  readonly version: string
  readonly encoding: string
  readonly standby: boolean
}): string | undefined => {
  if (Number.parseInt(server.version) < oldestVersion) {
    return `it is Postgres ${server.version}, and Usher needs ${oldestVersion} or newer. Upgrade it, or name another server.`
  }
  if (server.encoding !== "UTF8") {
    return `the database's encoding is ${server.encoding}, and Usher needs UTF8. Make one with: create database usher encoding 'UTF8' template template0`
  }
  if (server.standby) return "it is a read-only standby. Name the primary server."
  return undefined
}

const refused = (name: string, problem: string, isTransient = false) =>
  new StartRefused({ message: `Cannot use ${name}: ${problem}`, isTransient })

/** What is wrong, and the remedy for the operator, by the code of the server or of the socket. */
const problems: Readonly<Record<string, (message: string) => string>> = {
  ECONNREFUSED: () => "nothing listens there. Start the server, or correct host and port.",
  ENOTFOUND: () => "the host's name is unknown. Correct the host.",
  EAI_AGAIN: () => "the host's name is unknown. Correct the host.",
  "3D000": () => "the server has no such database. Create it, or correct the database's name.",
  "28P01": (message) => `the server rejects this user (${message}). Correct user and password.`,
  "28000": (message) => `the server rejects this user (${message}). Correct user and password.`
}

/** Refuses the server after a failure. One with a known remedy stays until somebody applies it. */
const refusedAfter = (name: string, error: SqlError) => {
  const { code, message } = causeOf(error)
  const known = code === undefined ? undefined : problems[code]
  if (known !== undefined) return refused(name, known(message))
  const problem = `${message}. Check that the server is up, and that host, port and options are right.`
  return refused(name, problem, BoundedClient.isTransient(error))
}

function isStarting(error: SqlError | StartRefused) {
  return error._tag === "SqlError" && causeOf(error).code === "57P03"
}

/** Returns the innermost cause: the report of the server or the socket, with its code if it has one. */
const causeOf = (error: SqlError): { readonly code?: string; readonly message: string } => {
  let cause: unknown = error
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause
  return cause as { readonly code?: string; readonly message: string }
}

/** Returns the server's name for messages: every part of the URL except its secrets. */
const named = (redacted: Redacted.Redacted): string => {
  const url = new URL(Redacted.value(redacted))
  const host = url.searchParams.get("host") ?? (url.hostname === "" ? "localhost" : url.hostname)
  const port = url.searchParams.get("port") ?? (url.port === "" ? "5432" : url.port)
  return `the server in DATABASE_URL (${host}, port ${port}, database "${url.pathname.slice(1)}")`
}
