/**
 * Measures the cost per append of the journal's index over time and type: commits of a thousand entries, with and
 * without the index in turns, each into a new queue. Prints JSON.
 *
 *     npm run bench:appends -- 5
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createQueues } from "../setup/CreateQueues.ts"
import { openDatabaseServer } from "../setup/Database.ts"
import { figure } from "../report/Figures.ts"
import { fill } from "../setup/Fill.ts"
import * as Progress from "../report/Progress.ts"
import { makeFixture } from "../setup/Setup.ts"

const entries = 200_000
const commit = 1_000
const rounds = Number(process.argv[2] ?? 5)

const variants = {
  "with the index":
    "create index if not exists journal_by_time_and_type on journal using brin (at, type text_bloom_ops) with (pages_per_range = 32, autosummarize = on)",
  "without it": "drop index if exists journal_by_time_and_type"
}

const workDirectory = mkdtempSync(join(tmpdir(), "usher-bench-"))
const server = await openDatabaseServer(workDirectory)
try {
  const { queueId, templateDatabase } = await makeFixture(workDirectory, server)
  const url = server.url(templateDatabase)
  const measured: { [variant: string]: Array<number> } = {}
  for (let round = 0; round <= rounds; round++) {
    for (const [variant, statement] of Object.entries(variants)) {
      const [fresh] = await createQueues(url, queueId, 1)
      await server.query(templateDatabase, statement)
      await server.checkpoint()
      const from = performance.now()
      await fill(url, "queue", fresh!, entries, commit)
      const entriesPerSecond = entries / ((performance.now() - from) / 1000)
      Progress.say(`${variant}: ${Math.round(entriesPerSecond)} entries/s${round === 0 ? " (warming up)" : ""}`)
      if (round > 0) (measured[variant] ??= []).push(entriesPerSecond)
    }
  }
  const figures = Object.fromEntries(Object.entries(measured).map(([variant, runs]) => [variant, figure(runs)]))
  process.stdout.write(`${JSON.stringify({ entriesPerSecond: figures }, undefined, 2)}\n`)
} finally {
  await server.stop()
  rmSync(workDirectory, { recursive: true, force: true })
}
