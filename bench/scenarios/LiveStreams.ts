/** P5: live streams: the memory of a stream, and the delay until it receives a move of the line. */
import { type Bench, closedLoop, describe, inTurns, type Measured, notRun, withProgram } from "../Bench.ts"
import { atMost, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import type { RequestTemplate, TokenRange } from "../load/Job.ts"
import { readResidentBytes } from "../load/Processor.ts"
import { enterRequest, eventsRequest, leaveRequest } from "../programs/Program.ts"
import { type Inspectable, usher } from "../programs/Usher.ts"

/** Moves of the line per second, at irregular times. This is more often than a stream receives positions. */
const movesPerSecond = 4

export async function liveStreams(bench: Bench): Promise<ScenarioResult> {
  const streams = bench.arguments.quick ? 1_000 : 10_000
  const program = usher(bench.setup)
  const figures = await inTurns(bench, "P5", [program], () =>
    withProgram(program, 0, (running) => measureStreams(bench, running, streams))
  )
  const targets = [
    atMost("position received within 1,500 ms (p99)", figures["usher"]?.["latencyP99Milliseconds"]?.median, 1_500),
    atMost("≤ 30 KiB a stream", figures["usher"]?.["kibibytesPerStream"]?.median, 30)
  ]
  return scenarioResult({
    title: `P5  ${streams.toLocaleString("en")} live streams of one queue, whose line moves ${movesPerSecond} times a second`,
    figures,
    targets,
    notRun: notRun([program]),
    notes: [
      "Latency, for each stream and each move: from the due time of a departure at the head until the stream receives a position that includes it.",
      "Memory per stream: resident memory with all streams open, after their last event, less resident memory before the streams opened, divided by the number of streams; both after a garbage collection. Uncollected: the same before that collection, with the garbage of opening the streams."
    ]
  })
}

/** Moves the line of so many streams. */
export async function measureStreams(bench: Bench, running: Inspectable, streams: number): Promise<Measured> {
  const { fixture } = bench.setup
  const seconds = Math.max(5, bench.spans.measured)
  const movers = bench.tokens.range(movesPerSecond * seconds * 2 + 20)
  const waiting = bench.tokens.range(streams, movers.count)
  await sendAll(bench, running, enterRequest(fixture), movers)
  await sendAll(bench, running, enterRequest(fixture), waiting)
  // A collection removes the garbage of the entries, so that the streams cannot reuse its memory.
  await running.heapBytes()
  const before = readResidentBytes(running.processId)
  const perStream = (bytes = Number.NaN) => (bytes - (before ?? Number.NaN)) / 1024 / streams
  const memory: { [figure: string]: number } = {}
  const outcome = await bench.generator.run(
    {
      mode: "streams",
      host: "127.0.0.1",
      port: running.port,
      connections: streams,
      warmupSeconds: bench.spans.warmup,
      seconds,
      watched: running.watched,
      request: eventsRequest(fixture),
      tokens: waiting,
      move: leaveRequest(fixture),
      movers,
      movesPerSecond,
      seed: 5
    },
    [200],
    async () => {
      memory["uncollectedKibibytesPerStream"] = perStream(readResidentBytes(running.processId))
      await running.heapBytes()
      memory["kibibytesPerStream"] = perStream(readResidentBytes(running.processId))
    }
  )
  const { latencyP99Milliseconds = Number.NaN, ...rest } = describe(outcome, running, "event")
  return { latencyP99Milliseconds, ...rest, ...memory }
}

/** Sends the request once for each token. */
const sendAll = (bench: Bench, running: Inspectable, request: RequestTemplate, tokens: TokenRange) =>
  bench.generator.run(closedLoop({ port: running.port, connections: 16, seconds: 120, request, tokens }))
