/**
 * The database in which lists are measured: one organization, filled by `usher seed --large` and with the records of
 * MoreRecords.ts. A table in the database stores their ids, so that a later run can use it again.
 */
import { randomBytes } from "node:crypto"
import { spawn } from "node:child_process"
import { run } from "../setup/Processes.ts"
import { mainScript } from "../programs/Usher.ts"
import * as Progress from "../report/Progress.ts"
import { type Made, makeMoreRecords } from "./MoreRecords.ts"
import { query } from "../setup/Query.ts"

export interface Setup extends Made {
  readonly url: string
  readonly secretKey: string
  readonly consumers: number
}

/** Practically no rate limits for the measured organization. */
const settings = {
  rateLimits: { adminApiPerMinute: 1_000_000_000, analyticsQueriesPerMinute: 1_000_000_000 }
}

/** Creates a database on the server at `DATABASE_URL`. Returns its URL and a function that drops it. */
export async function newDatabase(): Promise<{ readonly url: string; readonly drop: () => Promise<void> }> {
  const server = process.env["DATABASE_URL"]
  if (server === undefined) throw new Error("Set DATABASE_URL to a Postgres server, or name a database with --database")
  const name = `usher_lists_${randomBytes(4).toString("hex")}`
  const url = new URL(server)
  url.pathname = `/${name}`
  await query(server, `create database ${name}`)
  return { url: url.href, drop: () => query(server, `drop database ${name} with (force)`).then(() => undefined) }
}

/** Fills the database at `url`, unless an earlier run filled it. */
export async function makeSetup(url: string, consumers: number): Promise<Setup> {
  const [known] = await query<{ present: boolean }>(url, "select to_regclass('bench_lists') is not null as present")
  if (known!.present) {
    const [kept] = await query<{ setup: Omit<Setup, "url"> }>(url, "select setup from bench_lists")
    return { ...kept!.setup, url }
  }
  await run(process.execPath, [mainScript, "migrate"], { DATABASE_URL: url })
  const create = ["organizations", "create", "--name", "Lists", "--plan", "enterprise", "--json"]
  const made = JSON.parse(await run(process.execPath, [mainScript, ...create], { DATABASE_URL: url })) as {
    readonly organizationId: string
    readonly testSecretKey: string
  }
  await query(url, "update organizations set settings = $1::jsonb where id = $2", [
    JSON.stringify(settings),
    made.organizationId
  ])
  await seed(url, made.organizationId, consumers)
  const { organizationId, testSecretKey: secretKey } = made
  const setup = { secretKey, consumers, ...(await makeMoreRecords(url, organizationId, secretKey)) }
  await query(url, "create table bench_lists (setup jsonb not null)")
  await query(url, "insert into bench_lists values ($1)", [JSON.stringify(setup)])
  return { ...setup, url }
}

/** Runs `usher seed`, which prints its own progress. */
function seed(url: string, organizationId: string, consumers: number): Promise<void> {
  Progress.say(`usher seed --large ${consumers}`)
  const child = spawn(
    process.execPath,
    [mainScript, "seed", "--organization", organizationId, "--large", `${consumers}`],
    { stdio: ["ignore", "inherit", "inherit"], env: { ...process.env, DATABASE_URL: url } }
  )
  return new Promise((resolve, reject) => {
    child.on("error", reject)
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`the seed ended with ${String(code)}`))))
  })
}
