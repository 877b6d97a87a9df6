/**
 * Many consumers wait in one line, each with its own stream of Server-Sent Events, while the line moves. The consumers
 * ahead of all of them leave one at a time, as a Poisson process from a seed. For each stream and each move, the
 * histogram records the delay from the intended start of the move to its event. One event may cover several moves,
 * because a position includes all earlier moves.
 */
import { connect, type Socket } from "node:net"
import { Connection } from "./Connection.ts"
import { poisson } from "../../src/load/Arrivals.ts"
import { makeHistogram, record, summarize } from "./Histogram.ts"
import type { Outcome, StreamsJob } from "./Job.ts"
import { readProcessorSeconds } from "./Processor.ts"
import { makeRequests, type Requests } from "./Requests.ts"

const openSecondsMax = 60
const drainSecondsDefault = 10
const samplesMax = 4

/** Streams that open at the same time. */
const burst = 100

/** One stream, and the number of moves it has received. */
class Stream {
  moves = 0
  private firstPosition = 0
  private rest = ""
  private isAccepted = false
  private readonly socket: Socket
  private readonly run: Streams

  constructor(run: Streams, host: string, port: number, request: Uint8Array) {
    this.run = run
    this.socket = connect({ host, port, noDelay: true })
    this.socket.setEncoding("latin1")
    this.socket.on("data", (text: string) => this.read(text))
    this.socket.on("error", () => run.lost())
    this.socket.on("close", () => run.lost())
    this.socket.write(request)
  }

  close(): void {
    this.socket.removeAllListeners("close")
    this.socket.destroy()
  }

  private read(text: string): void {
    const all = this.rest + text
    if (!this.isAccepted) {
      if (!all.includes("\r\n")) return void (this.rest = all)
      if (!all.startsWith("HTTP/1.1 200")) return this.run.refused(all)
      this.isAccepted = true
    }
    const end = all.lastIndexOf("\n\n") + 2
    this.rest = all.slice(end)
    for (const [block, position] of all.slice(0, end).matchAll(/event: state\ndata: .*?"position":(\d+).*\n\n/g)) {
      if (this.firstPosition === 0) {
        this.firstPosition = Number(position)
        this.run.opened(block)
      } else this.run.receivedUpTo(this, this.firstPosition - Number(position))
    }
  }
}

export class Streams {
  private readonly job: StreamsJob
  private readonly prepared: Requests
  private readonly moves: Requests
  /** The due time of each move, in milliseconds after the start. */
  private readonly due: Float64Array
  private readonly streams: Array<Stream> = []
  private readonly latencies = makeHistogram()
  private readonly samples: Array<string> = []
  private startedAt = 0
  private open = 0
  private events = 0
  private failure: Error | undefined

  /** Keeps all streams open after the last event, so that the bench can inspect the server. */
  private readonly held: () => Promise<void>

  constructor(job: StreamsJob, held: () => Promise<void>) {
    this.job = job
    this.held = held
    this.due = poisson(job.movesPerSecond, job.seconds, job.seed)
    this.prepared = makeRequests(job.request, job.tokens)
    this.moves = makeRequests(job.move, job.movers)
    if (this.moves.count < this.due.length) {
      throw new Error(`${this.due.length} moves need as many tokens; there are ${this.moves.count}`)
    }
  }

  async outcome(): Promise<Outcome> {
    await this.openAll()
    await pause(this.job.warmupSeconds * 1000)
    const processorBefore = this.readProcessor()
    this.startedAt = performance.now()
    await this.move()
    await this.until(() => this.streams.every(({ moves }) => moves === this.due.length), this.job.drainSecondsMax)
    const seconds = (performance.now() - this.startedAt) / 1000
    const processorAfter = this.readProcessor()
    await this.held()
    for (const stream of this.streams) stream.close()
    if (this.failure !== undefined) throw this.failure
    return {
      requests: this.events,
      seconds,
      perSecond: this.events / seconds,
      latency: summarize(this.latencies),
      steps: [],
      statuses: { 200: this.open },
      connectionErrors: 0,
      unanswered: this.streams.filter(({ moves }) => moves < this.due.length).length,
      unsent: 0,
      timerLagMax: 0,
      processorSeconds: Object.fromEntries(
        Object.entries(processorAfter).map(([name, after]) => [name, after - (processorBefore[name] ?? after)])
      ),
      samples: this.samples
    }
  }

  opened(event: string): void {
    this.open++
    if (this.samples.length < samplesMax) this.samples.push(event)
  }

  /** Records that a stream received all moves up to a number. */
  receivedUpTo(stream: Stream, moves: number): void {
    const now = performance.now()
    this.events++
    for (; stream.moves < moves; stream.moves++) record(this.latencies, now - this.startedAt - this.due[stream.moves]!)
  }

  refused(answer: string): void {
    this.failure ??= new Error(`A stream was refused: ${answer}`)
  }

  lost(): void {
    this.failure ??= new Error("A stream was cut")
  }

  private async openAll(): Promise<void> {
    const { connections, host, port } = this.job
    for (let from = 0; from < connections; from += burst) {
      const upTo = Math.min(from + burst, connections)
      for (let n = from; n < upTo; n++) this.streams.push(new Stream(this, host, port, this.prepared.at(n)))
      await this.until(() => this.open === upTo, openSecondsMax)
      if (this.failure === undefined && this.open < upTo) throw new Error(`Only ${this.open} streams could be opened`)
    }
  }

  /** Sends one move after another, each when it is due or when the previous response is complete. */
  private async move(): Promise<void> {
    let answered: (() => void) | undefined
    const connection = new Connection(this.job, {
      onReady: () => answered?.(),
      onAnswer: () => answered?.(),
      onLost: () => this.lost()
    })
    await new Promise<void>((resolve) => (answered = resolve))
    this.startedAt = performance.now()
    for (const [index, due] of this.due.entries()) {
      await pause(this.startedAt + due - performance.now())
      const answer = new Promise<void>((resolve) => (answered = resolve))
      connection.send(this.moves.at(index), performance.now())
      await answer
      if (connection.status !== 200) throw new Error(`The line could not be moved: ${connection.body()}`)
    }
    connection.close()
  }

  private readProcessor(): { readonly [name: string]: number } {
    const own = process.cpuUsage()
    return { ...readProcessorSeconds(this.job.watched), generator: (own.user + own.system) / 1e6 }
  }

  private async until(isSo: () => boolean, secondsMax = drainSecondsDefault): Promise<void> {
    const deadline = performance.now() + secondsMax * 1000
    while (!isSo() && this.failure === undefined && performance.now() < deadline) await pause(5)
  }
}

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, milliseconds)))
