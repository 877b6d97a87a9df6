/** P18: P1 and P5 while people have rooms and control rooms of the same queue open. */
import { type Bench, describe, inTurns, type Measured, measureEntries, withProgram } from "../Bench.ts"
import { openPages, type Pages } from "../load/Pages.ts"
import { type Inspectable, usher } from "../programs/Usher.ts"
import { atLeast, atMost, ratioInRounds, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { connections } from "./DurableEntries.ts"
import { measureStreams } from "./LiveStreams.ts"

const rooms = 1_000
const controlRooms = 20
const streams = 1_000

const without = "usher"
const open = "usher, pages open"

export async function pagesOpen(bench: Bench): Promise<ScenarioResult> {
  const { experienceId } = bench.setup.fixture
  if (experienceId === undefined) throw new Error("The pages need an experience of Usher")
  // Each visitor has an address of its own, and brings no proof of work.
  const program = usher(bench.setup, {}, { TRUSTED_PROXIES: "127.0.0.0/8" })
  const variants = [{ name: without }, { name: open }]
  const figures = await inTurns(bench, "P18", variants, async ({ name }) => {
    const isOpen = name === open
    const entries = await withProgram(program, 0, (running) =>
      withPages(bench, running, experienceId, isOpen, async () => {
        const outcome = await measureEntries(bench, running, {
          connections,
          waiting: isOpen ? rooms : 0,
          spans: bench.spans
        })
        return describe(outcome, running, "entry")
      })
    )
    const moves = await withProgram(program, 0, (running) =>
      withPages(bench, running, experienceId, isOpen, () => measureStreams(bench, running, streams))
    )
    return { ...entries, streamLatencyP99Milliseconds: moves["latencyP99Milliseconds"]! }
  })
  const of = (variant: string, figure: string) => figures[variant]?.[figure]?.median
  return scenarioResult({
    title: `P18  Entries and streams while ${rooms.toLocaleString("en")} rooms and ${controlRooms} control rooms are open`,
    figures,
    targets: [
      atLeast(
        "entries a second ≥ 0.95 × without pages",
        ratioInRounds(figures, { of: open, to: without }, "entriesPerSecond"),
        0.95
      ),
      atMost("position received within 1,500 ms (p99)", of(open, "streamLatencyP99Milliseconds"), 1_500)
    ],
    notes: [
      `The rooms are of visitors who wait in the queue of the entries, each on its stream. The control rooms are the tab Now of its experience, each on its stream. Streams of the Consumer API: ${streams.toLocaleString("en")}.`
    ]
  })
}

/** Keeps the pages open meanwhile. Fails if the server ended one. */
async function withPages(
  { setup: { fixture } }: Bench,
  running: Inspectable,
  experienceId: string,
  isOpen: boolean,
  measure: () => Promise<Measured>
): Promise<Measured> {
  const { queueId, secretKey } = fixture
  const adminPort = Number(new URL(running.adminUrl).port)
  const pages: Pages | undefined = isOpen
    ? await openPages({ consumerPort: running.port, adminPort, experienceId, queueId, secretKey, rooms, controlRooms })
    : undefined
  const measured = await measure()
  const lost = pages?.lost() ?? 0
  pages?.close()
  if (lost > 0) throw new Error(`The server ended ${lost} streams of pages`)
  return measured
}
