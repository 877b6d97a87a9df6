/**
 * R9: the time from a process's start to ready with much to restore: 1,000 queues, one of them with 100,000 waiting,
 * then with a million. In turns without and with a test clock in the organization's test mode.
 *
 *     npm run prove -- recovery --mechanisms 1000 --waiting 100000 --most 1000000 --runs 3
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { Apis } from "../e2e/support/Apis.ts"
import * as FreshDatabase from "../e2e/support/FreshDatabase.ts"
import { pause } from "../e2e/support/Processes.ts"
import { ServerUnderTest } from "../e2e/support/ServerUnderTest.ts"
import { conclude, median, options, spread } from "./Report.ts"

const { mechanisms, waiting, most, runs } = options({ mechanisms: 1_000, waiting: 100_000, most: 1_000_000, runs: 3 })

const secondsMax = { waiting: 2, most: 5 }
const violations: Array<string> = []

await using server = await ServerUnderTest.make()
if (server.database.url === undefined)
  throw new Error("This proof fills a database by SQL: set DATABASE_URL to a Postgres server.")
const { url } = server.database
await server.start()
const keys = await server.createOrganization()
using apis = new Apis(server, keys, 16)

const [queueId] = await apis.createQueues(mechanisms)
const empty = await restarts()
await fill(waiting)
const withWaiting = await restarts()
await checkFirstAndLast(waiting)
await fill(most - waiting)
const withMost = await restarts()
await checkFirstAndLast(most)

conclude(
  "recovery meets its targets",
  {
    queues: mechanisms,
    ...Object.fromEntries(
      [[0, empty] as const, [waiting, withWaiting] as const, [most, withMost] as const].flatMap(
        ([count, { millis, millisWithClock }]) => [
          [`start to ready, ${count} waiting`, spread(millis)],
          [`start to ready, ${count} waiting, test clock`, spread(millisWithClock)]
        ]
      )
    ),
    targets: `${secondsMax.waiting} s and ${secondsMax.most} s in the median, on an idle machine`
  },
  violations,
  median(withWaiting.millis) < secondsMax.waiting * 1000 && median(withMost.millis) < secondsMax.most * 1000
)

/** Kills and starts the server a few times. Returns the milliseconds from process start to ready. */
async function restarts() {
  const millis: Array<number> = []
  const millisWithClock: Array<number> = []
  for (let run = 0; run < runs; run++) {
    millis.push(await restart())
    await changeClock("PUT")
    millisWithClock.push(await restart())
    await changeClock("DELETE")
  }
  return { millis, millisWithClock }
}

async function restart(): Promise<number> {
  await server.kill()
  await pause(500)
  return server.start()
}

/** Sets the clock of the organization's test mode, or ends it. */
async function changeClock(method: "PUT" | "DELETE"): Promise<void> {
  const answer = await fetch(`${server.adminUrl}/api/test-clock`, {
    method,
    headers: { authorization: `Bearer ${keys.testSecretKey}`, "content-type": "application/json" },
    ...(method === "PUT" && { body: JSON.stringify({ frozenAt: "2033-06-01T16:00:00Z" }) })
  })
  if (!answer.ok) throw new Error(`${method} /test-clock: ${answer.status} ${await answer.text()}`)
}

/** Adds waiting consumers to the first queue, with the same records as real entries. */
async function fill(count: number): Promise<void> {
  await server.kill()
  await FreshDatabase.query(url, (sql) => sql.withTransaction(entries(sql, count)))
}

function entries(sql: SqlClient.SqlClient, count: number) {
  return Effect.gen(function* () {
    yield* sql`
      create temporary table arrivals on commit drop as
      select sequence + number as sequence, lpad(to_hex(sequence + number), 32, '0')::uuid as consumer_id,
        now()::timestamptz(3) as at
      from mechanism_heads, generate_series(1, ${count}::int) as number where mechanism_id = ${queueId}`
    yield* sql`
      insert into journal (mechanism_id, sequence, at, type, consumer_id, data)
      select ${queueId}, sequence, at, 'Entered', consumer_id, '{"isGuest": true}' from arrivals order by sequence`
    yield* sql`
      insert into places (mechanism_id, consumer_id, status, entered_at, updated_at)
      select ${queueId}, consumer_id, 'QUEUED', at, at from arrivals`
    yield* sql`update mechanism_heads set sequence = sequence + ${count}::int where mechanism_id = ${queueId}`
    yield* sql`update place_projections set sequence = sequence + ${count}::int where mechanism_id = ${queueId}`
  })
}

/** Checks the restored queue: its count of waiting consumers, and that a new consumer enters behind all of them. */
async function checkFirstAndLast(total: number): Promise<void> {
  const { counts } = await apis.live(queueId!)
  if (counts["QUEUED"] !== total) violations.push(`${counts["QUEUED"]} wait after the restart, not ${total}`)
  const guest = await apis.guest()
  const { body } = await apis.enter(queueId!, guest)
  if (body.position !== total + 1) violations.push(`the next consumer has position ${body.position}, not ${total + 1}`)
  await apis.leave(queueId!, guest)
}
