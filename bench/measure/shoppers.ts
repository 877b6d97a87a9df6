/**
 * Measures what a shopper costs who starts a session, enters a queue, is admitted, asks once for its place and completes
 * its grant: bytes of disk by table, with its indexes, and processor time of the server and of Postgres by step. Prints
 * JSON.
 *
 *     DATABASE_URL=postgres://… npm run bench:shoppers -- 20000
 *
 * `DATABASE_URL` names a server on this machine. The script makes a database there, and drops it at the end.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { Agent, request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { mainScript } from "../programs/Usher.ts"
import * as Progress from "../report/Progress.ts"
import { freePort, run, start, untilReady } from "../setup/Processes.ts"
import { query } from "../setup/Query.ts"

const shoppers = Number(process.argv[2] ?? 20_000)
const concurrency = 32
const ticksPerSecond = 100

const given = process.env["DATABASE_URL"]
if (given === undefined) throw new Error("DATABASE_URL names no server")
const name = `usher_shoppers_${process.pid}`
const url = new URL(given)
url.pathname = `/${name}`

/** Seconds of processor time of a process, from the kernel. */
const secondsOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]!.split(" ")
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** Seconds of all live connections of the database. They stay open while the server runs. */
const secondsOfPostgres = async (): Promise<number> => {
  const rows = await query<{ pid: number }>(
    given,
    "select pid from pg_stat_activity where datname = $1 and backend_type = 'client backend'",
    [name]
  )
  const pids = new Set(readdirSync("/proc"))
  return rows.filter(({ pid }) => pids.has(`${pid}`)).reduce((sum, { pid }) => sum + secondsOf(pid), 0)
}

interface Table {
  readonly table: string
  readonly rows: number
  readonly bytes: number
}

const sizes = async (): Promise<ReadonlyArray<Table>> => {
  await query(url.href, "vacuum analyze")
  return query<Table>(
    url.href,
    `select relname as table, pg_total_relation_size(c.oid)::float8 as bytes, reltuples::float8 as rows
    from pg_class c where relkind = 'r' and relnamespace = 'public'::regnamespace`
  )
}

const agent = new Agent({ keepAlive: true, maxSockets: concurrency })

interface Call {
  readonly port: number
  readonly method?: string
  readonly path: string
  readonly headers: { readonly [name: string]: string }
  readonly body?: object
}

/** The fields of answers that the script reads. */
interface Answer {
  readonly id: string
  readonly accessToken: string
  readonly session: { readonly consumerId: string }
}

/** Sends a request, and sends it again after a 503. */
const call = async (what: Call): Promise<Answer> => {
  for (;;) {
    const { status, text } = await send(what)
    if (status < 300) return JSON.parse(text) as Answer
    if (status !== 503) throw new Error(`${what.path}: ${status} ${text}`)
    await setTimeout(500)
  }
}

const send = ({ port, method = "POST", path, headers, body }: Call) =>
  new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const described =
      text === undefined ? {} : { "content-type": "application/json", "content-length": `${Buffer.byteLength(text)}` }
    const options = {
      agent,
      port,
      host: "127.0.0.1",
      method,
      path: `/api${path}`,
      headers: { ...headers, ...described }
    }
    const sent = request(options, (response) => {
      let answer = ""
      response.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk))
      response.on("end", () => resolve({ status: response.statusCode!, text: answer }))
    })
    sent.on("error", reject)
    sent.end(text)
  })

/** Runs the step for every number, some at once. */
const forAll = async (step: (number: number) => Promise<unknown>): Promise<void> => {
  let next = 0
  const worker = async () => {
    while (next < shoppers) await step(next++)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

const work = mkdtempSync(join(tmpdir(), "usher-shoppers-"))
await query(given, `create database ${name}`)
const [consumerPort, adminPort] = [await freePort(), await freePort()]
const environment = {
  DATABASE_URL: url.href,
  REDIS_URL: "",
  HOST: "127.0.0.1",
  CONSUMER_PORT: `${consumerPort}`,
  ADMIN_PORT: `${adminPort}`
}
await run(process.execPath, [mainScript, "migrate"], environment)
const create = ["organizations", "create", "--name", "Bench", "--plan", "enterprise", "--json"]
const keys = JSON.parse(await run(process.execPath, [mainScript, ...create], environment)) as {
  readonly secretKey: string
  readonly publishableKey: string
}
const most = 1_000_000_000
const limits = { rateLimits: { consumerApiPerMinute: most, queueEntriesPerMinute: most, queueEntriesPerSecond: most } }
await query(url.href, "update organizations set settings = settings || $1::jsonb", [JSON.stringify(limits)])
const server = start({
  name: "shoppers",
  command: process.execPath,
  arguments: [mainScript, "serve"],
  environment,
  logDirectory: work
})
try {
  await untilReady(server, async () => (await fetch(`http://127.0.0.1:${adminPort}/ready`)).status === 200)
  const secret = { authorization: `Bearer ${keys.secretKey}` }
  const admin = (path: string, body: object) => call({ port: adminPort, path, headers: secret, body })
  const { id: experienceId } = await admin("/experiences", { name: "Bench" })
  const { id: sequenceId } = await admin("/sequences", { experienceId, name: "Bench" })
  const queue = await admin("/queues", { sequenceId, name: "Bench", admitRate: 0, supportsGuest: true })
  const publishable = { "x-publishable-key": keys.publishableKey }
  const sessions: Array<{ readonly id: string; readonly token: string }> = []
  const asShopper = (number: number, path: string, method = "POST") =>
    call({
      port: consumerPort,
      method,
      path: `/queues/${queue.id}${path}`,
      headers: { ...publishable, authorization: `Bearer ${sessions[number]!.token}` }
    })
  const byShop = (number: number, path: string) =>
    call({
      port: consumerPort,
      path: `/queues/${queue.id}${path}`,
      headers: secret,
      body: { consumerId: sessions[number]!.id }
    })
  const steps: { readonly [step: string]: (number: number) => Promise<unknown> } = {
    session: async (number) => {
      const { session, accessToken } = await call({ port: consumerPort, path: "/auth/guest", headers: publishable })
      sessions[number] = { id: session.consumerId, token: accessToken }
    },
    enter: (number) => asShopper(number, "/enter"),
    admission: async (number) => {
      const count = Math.min(1_000, shoppers - number)
      if (number % 1_000 === 0)
        await call({ port: adminPort, path: `/queues/${queue.id}/admit`, headers: secret, body: { count } })
    },
    status: (number) => asShopper(number, "/status", "GET"),
    complete: (number) => byShop(number, "/complete"),
    /** The same answer again: what a request costs without a look for the consumer and without a commit. */
    repetition: (number) => byShop(number, "/complete")
  }
  const before = await sizes()
  const microseconds: { [step: string]: object } = {}
  for (const [step, act] of Object.entries(steps)) {
    Progress.say(`${step} of ${shoppers}`)
    const [ofServer, ofPostgres] = [secondsOf(server.processId), await secondsOfPostgres()]
    await forAll(act)
    const each = (seconds: number) => Math.round((seconds / shoppers) * 1e6)
    microseconds[step] = {
      server: each(secondsOf(server.processId) - ofServer),
      postgres: each((await secondsOfPostgres()) - ofPostgres)
    }
  }
  const bytes = (await sizes())
    .map(({ table, rows, bytes }) => {
      const from = before.find((one) => one.table === table)
      return { table, rows: rows - Math.max(0, from?.rows ?? 0), bytes: (bytes - (from?.bytes ?? 0)) / shoppers }
    })
    .filter(({ bytes }) => bytes >= 1)
    .toSorted((a, b) => b.bytes - a.bytes)
  const total = bytes.reduce((sum, table) => sum + table.bytes, 0)
  process.stdout.write(
    `${JSON.stringify({ shoppers, bytesForEach: { total, tables: bytes }, microseconds }, undefined, 2)}\n`
  )
} finally {
  await server.stop()
  await query(given, `drop database ${name} with (force)`)
  rmSync(work, { recursive: true, force: true })
}
