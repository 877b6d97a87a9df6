/** A server whose series are read and compared with the conditions of the alert rules. */
import { assert } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import * as Yaml from "effect/encoding/Yaml"
import type { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { request } from "node:http"
import { organization } from "../../cli/servingProcess.ts"
import * as Usher from "../../cli/usherProcess.ts"
import { onDatabase } from "../../store/support/connections.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { firing, type Scrape, scrapeOf } from "../../support/promql/Evaluation.ts"
import * as Queue from "../../support/queueOnServer.ts"

const rulesFile = new URL("../../../src/operations/alerts.yml", import.meta.url)

/** The conditions of the rules by the alert's name. */
export const conditions: ReadonlyMap<string, string> = new Map(
  (
    Yaml.parse(readFileSync(rulesFile, "utf8")) as {
      readonly groups: ReadonlyArray<{
        readonly rules: ReadonlyArray<{ readonly alert: string; readonly expr: string }>
      }>
    }
  ).groups.flatMap(({ rules }) => rules.map(({ alert, expr }) => [alert, expr] as const))
)

export interface ScrapedServer extends Usher.Run, Queue.Setup {
  readonly databaseUrl: string
  readonly scrape: Effect.Effect<Scrape>
}

/** Creates an organization without limits, and returns its keys. */
const newKeys = (databaseUrl: string) => organization({ DATABASE_URL: databaseUrl })

/** The same server for a new organization. */
export const forAnother = (server: ScrapedServer) =>
  Effect.map(newKeys(server.databaseUrl), (keys): ScrapedServer => ({ ...server, keys }))

/** Starts a server on a migrated database: a new one, or that of another server. */
export const start = Effect.fnUntraced(function* (
  settings: Readonly<Record<string, string>> = {},
  other?: ScrapedServer
) {
  const databaseUrl = other?.databaseUrl ?? (yield* TestDatabase.migratedDatabase).url
  const ports = { CONSUMER_PORT: "0", ADMIN_PORT: "0", OPERATIONS_PORT: "0" }
  const run = yield* Usher.start(["serve"], { ...ports, DATABASE_URL: databaseUrl, ...settings })
  yield* Usher.until(() => run.stdout().includes("Admin API") || run.child.exitCode !== null)
  const [consumerUrl, adminUrl] = run.stdout().match(/https?:\/\/[\d.]+:\d+(?=\/api )/g) ?? []
  const operationsUrl = /Operations on (http:\/\/[\d.]+:\d+)/.exec(run.stderr())?.[1]
  assert.isDefined(operationsUrl, run.stderr())
  const keys = other?.keys ?? (yield* newKeys(databaseUrl))
  const scrape = Effect.promise(async () => {
    const answer = await fetch(`${operationsUrl}/metrics`).catch((error: unknown) => {
      throw new Error(`no metrics from a server that wrote:\n${run.stderr()}`, { cause: error })
    })
    return scrapeOf(await answer.text(), performance.now() / 1_000)
  })
  const server: ScrapedServer = { ...run, databaseUrl, scrape, keys, consumerUrl: consumerUrl!, adminUrl: adminUrl! }
  return server
})

/** Stops the server with a signal, and waits for its end. */
export const stop = (server: ScrapedServer, signal: NodeJS.Signals = "SIGTERM") =>
  Effect.andThen(
    Effect.sync(() => server.child.kill(signal)),
    Usher.end(server)
  )

interface Cause {
  /** The condition before: a healthy server, if the observed one was never healthy. */
  readonly healthy?: ScrapedServer
  /** Brings the cause about. */
  readonly cause?: Effect.Effect<unknown>
  /** Brings it about before each scrape, if a scrape ends it. */
  readonly each?: Effect.Effect<unknown>
  /** Which result of the condition shows the cause. Default: any. */
  readonly by?: (result: Firing) => boolean
}

/** A result of a condition. */
export type Firing = ReturnType<typeof firing>[number]

/** Checks that an alert's condition is false before its cause, and true afterwards. */
export const fires = Effect.fnUntraced(function* (alert: string, server: ScrapedServer, options: Cause = {}) {
  const { healthy = server, cause = Effect.void, each = Effect.void, by = () => true } = options
  const condition = conditions.get(alert)!
  // The start of a server keeps its event loop busy, so the condition may hold for a moment.
  const quiet = yield* healthy.scrape.pipe(
    Effect.repeat({
      until: (scrape) => firing(condition, [scrape]).length === 0,
      schedule: Schedule.spaced("500 millis")
    }),
    Effect.timeoutOrElse({
      duration: "8 minutes",
      orElse: () => Effect.die(new Error(`${alert} holds before its cause`))
    })
  )
  const scrapes = [quiet]
  yield* cause
  yield* Effect.gen(function* () {
    yield* each
    scrapes.push(yield* server.scrape)
    return firing(condition, scrapes).some(by)
  }).pipe(
    Effect.repeat({ until: (isFiring) => isFiring, schedule: Schedule.spaced("200 millis") }),
    Effect.timeout("8 minutes")
  )
})

/** A new consumer enters. Returns the status of the answer. */
export const enter = (server: ScrapedServer, queueId: string) =>
  Effect.promise(async () => {
    const url = `${server.consumerUrl}/api/queues/${queueId}/enter`
    return (await Queue.send("POST", url, await Queue.guest(server))).status
  })

/** Runs statements on the server's database. */
export const query = <A>(server: ScrapedServer, use: (sql: SqlClient.SqlClient) => Effect.Effect<A, unknown>) =>
  Effect.orDie(onDatabase(server.databaseUrl, use))

/** Keeps all others from writing a table while an effect runs. */
export const locked = <A, E>(server: ScrapedServer, table: string, during: Effect.Effect<A, E>) =>
  query(server, (sql) =>
    sql.withTransaction(Effect.andThen(sql`lock table ${sql(table)} in share row exclusive mode`, during))
  )

/** Waits until a statement of this database has waited for a lock for 400 milliseconds. */
export const statementWaits = (server: ScrapedServer) =>
  query(
    server,
    (sql) => sql`
      select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
        and clock_timestamp() - query_start > interval '400 milliseconds'`
  ).pipe(Effect.repeat({ until: (rows) => rows.length > 0, schedule: Schedule.spaced("50 millis") }))

/** Opens live streams of a mechanism on the Admin API. They close with the scope. */
export const openStreams = ({ adminUrl, keys }: ScrapedServer, queueId: string, count: number) =>
  Effect.forEach(
    Array.from({ length: count }),
    () =>
      Effect.acquireRelease(
        Effect.callback<ReturnType<typeof request>>((resume) => {
          const headers = { authorization: `Bearer ${keys["secretKey"]}` }
          const sent = request(`${adminUrl}/api/distributions/${queueId}/events`, { agent: false, headers })
          const refused = (why: unknown) => resume(Effect.die(new Error(`a stream was refused: ${String(why)}`)))
          sent.on("error", refused)
          sent.on("response", ({ statusCode }) =>
            statusCode === 200 ? resume(Effect.succeed(sent)) : refused(statusCode)
          )
          sent.end()
        }),
        (sent) => Effect.sync(() => sent.destroy())
      ),
    { concurrency: 50, discard: true }
  )
