/**
 * Measures what partitions by month would cost an append: the same commits into a database with plain tables and into
 * one whose `journal` and `places` are partitioned by range of the mechanism's id, in turns. Prints JSON: the median rate,
 * the processor time of the server and of this process for each entry, and the ratios.
 *
 *     npm run bench:partitions -- 7 12       rounds, months made ahead
 */
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Configuration } from "../../src/domain/queue/Queue.ts"
import { creationOf } from "../../src/engine/lifecycle/Creation.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { readProcessorSeconds } from "../load/Processor.ts"
import { median } from "../report/Figures.ts"
import * as Progress from "../report/Progress.ts"
import { openDatabaseServer } from "../setup/Database.ts"
import { makeFixture } from "../setup/Setup.ts"
import { consumerId } from "../setup/Tokens.ts"
import { withJournal } from "../setup/UsherStore.ts"

const rounds = Number(process.argv[2] ?? 7)
const months = Number(process.argv[3] ?? 12)

/** Entries of one run, entries of one commit, and mechanisms that commit at the same time. */
const shapes = {
  "one entry a statement": { entries: 2_000, commit: 1, mechanisms: 1 },
  "ten entries a statement": { entries: 20_000, commit: 10, mechanisms: 1 },
  "fifty mechanisms, one entry each": { entries: 20_000, commit: 1, mechanisms: 50 },
  "a thousand entries a statement": { entries: 200_000, commit: 1_000, mechanisms: 1 }
} as const
type Shape = (typeof shapes)[keyof typeof shapes]

const configuration: Configuration = {
  name: "Bench",
  timeZone: "UTC",
  supportsGuest: true,
  admitRate: 0,
  recycleExpiredAdmissions: false,
  loyaltyBiasEnabled: false,
  loyaltyHeadStartSeconds: 0
}

/** Returns a UUIDv7 of now, or the lowest one of an instant. */
const uuid7 = (at = Date.now() + 120_000, random = randomBytes(10).toString("hex")) => {
  const time = at.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-8${random.slice(4, 7)}-${random.slice(8, 20)}`
}

/** The lowest id of now, after which the rows of the fixture and those of the runs differ. */
const begun = Date.now() + 60_000

/** The lower bound of a month ahead. The first one begins now. */
const boundary = (month: number) => {
  const now = new Date()
  const at = month === 0 ? begun : Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + month)
  return `${uuid7(at, "0".repeat(20)).slice(0, 13)}-0000-0000-000000000000`
}

const partition = (table: string): string =>
  [
    `alter table ${table} rename to ${table}_before`,
    `create table ${table} (like ${table}_before including all) partition by range (mechanism_id)`,
    `alter table ${table} attach partition ${table}_before for values from (minvalue) to ('${boundary(0)}')`,
    `create table ${table}_default partition of ${table} default`,
    ...Array.from(
      { length: months },
      (_, month) =>
        `create table ${table}_${month} partition of ${table} for values from ('${boundary(month)}') to ('${boundary(month + 1)}')`
    )
  ].join(";\n")

const run = (url: string, queueId: string, { entries, commit, mechanisms }: Shape) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    const head = (yield* journal.head(queueId))!
    const ids = Array.from({ length: mechanisms }, () => uuid7())
    const now = Date.now()
    yield* journal.create(ids.map((id) => creationOf({ ...head.identity, id }, configuration, "bench", now)))
    const heads = new Map(
      yield* Effect.forEach(ids, (id) => Effect.map(journal.head(id), (found) => [id, found!] as const))
    )
    const before = processor()
    const from = performance.now()
    yield* Effect.forEach(
      ids,
      Effect.fnUntraced(function* (id) {
        const share = entries / mechanisms
        for (let entered = 0; entered < share; entered += commit) {
          const at = Date.now()
          const consumers = Array.from({ length: commit }, consumerId)
          yield* journal.append({
            mechanismId: id,
            kind: "queue",
            expectedSequence: heads.get(id)!.sequence + entered,
            events: consumers.map((consumer) => ({ _tag: "Entered", at, consumerId: consumer })),
            places: consumers.map((consumer) => ({
              consumerId: consumer,
              status: "QUEUED",
              enteredAt: at,
              updatedAt: at,
              fields: {}
            })),
            wakeAt: null
          })
        }
      }),
      { concurrency: "unbounded", discard: true }
    )
    const seconds = (performance.now() - from) / 1_000
    const used = processor()
    return {
      entriesPerSecond: entries / seconds,
      databaseMicros: ((used.database - before.database) / entries) * 1e6,
      processMicros: ((used.own - before.own) / entries) * 1e6
    }
  }).pipe((effect) => withJournal(url, effect))

const workDirectory = mkdtempSync(join(tmpdir(), "usher-bench-"))
const server = await openDatabaseServer(workDirectory)
const processor = () => ({
  database: readProcessorSeconds(server.watched)["database"] ?? Number.NaN,
  own: process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6
})
try {
  const { queueId, templateDatabase } = await makeFixture(workDirectory, server)
  await server.create("plain", templateDatabase)
  await server.create("parts", templateDatabase)
  await server.query("parts", partition("journal"))
  await server.query("parts", partition("places"))
  type Figures = { readonly entriesPerSecond: number; readonly databaseMicros: number; readonly processMicros: number }
  const measured: Record<string, Record<string, Array<Figures>>> = {}
  for (let round = 0; round <= rounds; round++) {
    for (const [shape, of] of Object.entries(shapes)) {
      // The second of two runs has a warmer machine, so the order changes.
      for (const database of round % 2 === 0 ? ["plain", "parts"] : ["parts", "plain"]) {
        await server.checkpoint()
        const figures = await run(server.url(database), queueId, of)
        Progress.say(`${shape}, ${database}: ${JSON.stringify(figures)}`)
        if (round > 0) ((measured[shape] ??= {})[database] ??= []).push(figures)
      }
    }
  }
  const result = Object.fromEntries(
    Object.entries(measured).map(([shape, { plain, parts }]) => {
      const of = (name: keyof Figures) => {
        const [one, other] = [median(plain!.map((run) => run[name])), median(parts!.map((run) => run[name]))]
        return { plain: one, partitioned: other, ratio: other / one }
      }
      return [shape, { rate: of("entriesPerSecond"), database: of("databaseMicros"), process: of("processMicros") }]
    })
  )
  process.stdout.write(`${JSON.stringify(result, undefined, 2)}\n`)
} finally {
  await server.stop()
  rmSync(workDirectory, { recursive: true, force: true })
}
