/**
 * P17: the journal alone. Commits of entries into one queue, each after the answer of the one before, as the queue's actor
 * sends them. Nothing else runs: no HTTP, no actor, no rules.
 */
import { type Bench, inTurns, type Measured } from "../Bench.ts"
import { type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { createQueues } from "../setup/CreateQueues.ts"
import { fill } from "../setup/Fill.ts"

const database = "bench_journal"

/** Few enough that their places are written after the last commit. */
const entries = 100_000
const quickEntries = 20_000

const withoutIndex = "drop index if exists journal_by_time_and_type"
const variants = [
  { name: "usher, commits of 128", commit: 128 },
  { name: "usher, commits of 1,000", commit: 1_000 },
  { name: "usher, 1,000 without the index", commit: 1_000, prepare: withoutIndex }
] as const

export async function journalAlone(bench: Bench): Promise<ScenarioResult> {
  return scenarioResult({
    title: "P17  The journal alone: commits of entries into one queue, one after another",
    figures: await inTurns(bench, "P17", variants, (variant) => appendEntries(bench, variant)),
    targets: [],
    notes: [
      "Wall time from the first append to the answer of the last. Compare it with the commit before, in turns (bench/METHOD.md).",
      "The index is the journal's BRIN index over time and type."
    ]
  })
}

/** Appends entries to a new queue of a new database. */
async function appendEntries(
  bench: Bench,
  { commit, prepare }: { readonly commit: number; readonly prepare?: string }
): Promise<Measured> {
  const { database: server, fixture } = bench.setup
  const count = bench.arguments.quick ? quickEntries : entries
  await server.create(database, fixture.templateDatabase)
  try {
    if (prepare !== undefined) await server.query(database, prepare)
    const url = server.url(database)
    const [warm, measured] = (await createQueues(url, fixture.queueId, 2)) as [string, string]
    await fill(url, "queue", warm, quickEntries, commit)
    await server.checkpoint()
    const { appendSeconds } = await fill(url, "queue", measured, count, commit)
    const stored = "select count(*)::int4 as number from journal where mechanism_id = $1 and type = 'Entered'"
    const found = await server.number(database, stored, [measured])
    if (found !== count) throw new Error(`${count} entries were appended and ${found} are in the journal`)
    return { entriesPerSecond: count / appendSeconds }
  } finally {
    await server.drop(database)
  }
}
