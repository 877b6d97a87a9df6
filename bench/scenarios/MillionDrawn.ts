/** P6: a draw of a million entries: its duration, and its effect on other requests. */
import { type Bench, closedLoop, describe, inTurns, type Measured, withProgram } from "../Bench.ts"
import { atMost, ratios, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { enterRequest, statusRequest } from "../programs/Program.ts"
import { type Inspectable, usher } from "../programs/Usher.ts"
import { connections } from "./DurableEntries.ts"

/** The rate of the other requests: entries into a queue of the same process. */
const perSecond = 1_000

/** The load begins `leadSeconds` before the draw's time and lasts `loadSeconds` after it. */
const leadSeconds = 3
const loadSeconds = 10

/** The watch of the event loop begins this long before the draw's time. */
const watchLeadMillis = 250

const drawnSecondsMax = 300

export async function millionDrawn(bench: Bench): Promise<ScenarioResult> {
  const entries = bench.arguments.quick ? 100_000 : 1_000_000
  const drawing = `usher, drawing ${entries.toLocaleString("en")}`
  const resting = "usher, not drawing"
  const program = usher(bench.setup, { drawEntries: entries })
  const figures = await inTurns(bench, "P6", [{ name: resting }, { name: drawing }], ({ name }) =>
    withProgram(program, 0, (running) => measure(bench, running, name === drawing ? entries : undefined))
  )
  const ofDrawing = figures[drawing]!
  const targets = [
    atMost("drawn and recorded in ≤ 10 s", ofDrawing["secondsToDrawn"]?.median, 10),
    atMost("no event loop block over 50 ms", ofDrawing["eventLoopLongestWorkMilliseconds"]?.max, 50),
    atMost("no unanswered entries meanwhile", ofDrawing["unansweredEntries"]?.max, 0)
  ]
  return scenarioResult({
    title: `P6  A draw of ${entries.toLocaleString("en")} entries, with ${perSecond.toLocaleString("en")} entries a second into a queue meanwhile`,
    figures,
    ratios: ratios(figures, drawing, "latencyP99Milliseconds"),
    targets,
    notes: [
      "One in a hundred wins. Entry closes at the draw's time, so sorting the list, its digest and the drawing all happen after it.",
      "Drawn: from the draw's time until its public record shows the drawing, which happens once the last win is on disk. All recorded: until all denials are on disk too; status reads show them from the drawing on.",
      "The ratio is the entries' p99 while drawing, divided by their p99 while not drawing.",
      "Event loop: the longest delay of a 1 ms timer inside the server, from before the draw's time until everything is recorded. One figure is by the clock, which includes time without a processor. The other, work, is the processor time of the thread, garbage collections included; the target is about work."
    ]
  })
}

/** Measures one run: load on a queue, and with `entries` the draw's time in the middle of it. */
async function measure(bench: Bench, running: Inspectable, entries: number | undefined): Promise<Measured> {
  const { fixture } = bench.setup
  const tokens = bench.tokens.range(Math.ceil(perSecond * (leadSeconds + loadSeconds) * 1.1) + 100)
  // Keeps the cost of the start apart from the draw's: each consumer reads its status once, then a collection runs.
  const request = statusRequest(fixture)
  await bench.generator.run(closedLoop({ port: running.port, connections, seconds: 20, request, tokens }))
  await running.heapBytes()

  const load = bench.generator.run({
    mode: "open",
    host: "127.0.0.1",
    port: running.port,
    connections,
    warmupSeconds: leadSeconds,
    seconds: loadSeconds,
    watched: running.watched,
    request: enterRequest(fixture),
    tokens,
    perSecond,
    seed: 1
  })
  const drawAt = Date.now() + leadSeconds * 1000
  if (entries !== undefined) await setTime(bench, running, drawAt)
  await new Promise((resolve) => setTimeout(resolve, drawAt - Date.now() - watchLeadMillis))
  const endWatch = await running.watchEventLoop()
  const spans = entries === undefined ? {} : await drawn(bench, running, drawAt, entries)
  const outcome = await load
  const held = await endWatch()
  return {
    ...spans,
    eventLoopLongestMilliseconds: held.longestMilliseconds,
    eventLoopLongestWorkMilliseconds: held.longestWorkMilliseconds,
    ...describe(outcome, running, "entry"),
    latencyMaxMilliseconds: outcome.latency.max / 1000,
    unansweredEntries: outcome.unanswered
  }
}

/** Sets the draw's time and closes entry at the same time. */
async function setTime(bench: Bench, running: Inspectable, drawAt: number): Promise<void> {
  const time = new Date(drawAt).toISOString()
  const answer = await fetch(`${running.adminUrl}/api/draws/${running.drawId}`, {
    method: "PUT",
    headers: { authorization: `Bearer ${bench.setup.fixture.secretKey}`, "content-type": "application/json" },
    body: JSON.stringify({ closeAt: time, drawAt: time })
  })
  if (answer.status !== 200) throw new Error(`The draw's time could not be set: ${await answer.text()}`)
}

/** Waits for the drawing. Returns the seconds from the draw's time to the drawing and to its complete record. */
async function drawn(bench: Bench, running: Inspectable, drawAt: number, entries: number): Promise<Measured> {
  const secondsUntil = async (holds: () => Promise<boolean>) => {
    for (;;) {
      const seconds = (Date.now() - drawAt) / 1000
      if (await holds()) return seconds
      if (seconds > drawnSecondsMax) throw new Error(`The draw is not recorded after ${drawnSecondsMax} s`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const secondsToDrawn = await secondsUntil(async () => {
    const draw = await fetch(`http://127.0.0.1:${running.port}/api/draws/${running.drawId}`, {
      headers: { "x-publishable-key": bench.setup.fixture.publishableKey }
    })
    return ((await draw.json()) as { readonly drawnAt: string | null }).drawnAt !== null
  })
  // One event for each entry and one for each win or denial; six of the draw: two settings, seed, closing, list,
  // drawing.
  const secondsToAllRecorded = await secondsUntil(async () => (await running.drawSequence()) >= 2 * entries + 6)
  return { secondsToDrawn, secondsToAllRecorded }
}
