/**
 * The common part of the loads: connections open before the start, a warm-up, and a measured span with processor time
 * read at both ends. The end waits for the last responses, so the number of acknowledged changes is exact.
 */
import type { Histogram } from "hdr-histogram-js"
import { Connection, type ConnectionListener } from "./Connection.ts"
import { IdleConnections } from "./IdleConnections.ts"
import { makeHistogram, record, summarize } from "./Histogram.ts"
import type { Job, Outcome, ThreadSeconds } from "./Job.ts"
import { readProcessorSeconds, readThreadSeconds } from "./Processor.ts"

const openSecondsMax = 15
const drainSecondsDefault = 10
const samplesMax = 32

export abstract class Run implements ConnectionListener {
  protected readonly latencies = makeHistogram()
  protected readonly steps: ReadonlyArray<Histogram> = []
  protected isMeasuring = false
  protected isStopping = false
  protected requests = 0
  protected unsent = 0
  protected timerLagMax = 0
  protected startedAt = 0
  protected readonly connections: Array<Connection> = []
  private readonly statuses = new Float64Array(1000)
  private connectionErrors = 0
  private inFlight = 0
  private measuredFrom = 0
  private measuredUntil = 0
  private processorBefore: { readonly [name: string]: number } = {}
  private processorAfter: { readonly [name: string]: number } = {}
  private threadBefore: ThreadSeconds | undefined
  private threadAfter: ThreadSeconds | undefined
  private readonly samples: Array<string> = []
  private drained: (() => void) | undefined
  private ended: (() => void) | undefined
  private readonly job: Job
  private readonly idle: IdleConnections

  constructor(job: Job) {
    this.job = job
    this.idle = new IdleConnections(job)
  }

  /** Called when every connection is open, before the load and its clock start. */
  protected prepare(): Promise<void> {
    return Promise.resolve()
  }
  /** Starts the load. */
  protected abstract start(): void
  /** Records a response and continues. */
  protected abstract answered(connection: Connection, now: number): void
  /** Called after the drain time. */
  protected settle(): void {}

  async outcome(): Promise<Outcome> {
    await this.idle.open()
    await this.open()
    await this.prepare()
    this.startedAt = performance.now()
    const end = new Promise<void>((resolve) => (this.ended = resolve))
    // Without a warm-up the first response counts, even if a timer is late.
    const { warmupSeconds } = this.job
    if (warmupSeconds === 0) this.measure()
    const warm = setTimeout(() => this.measure(), warmupSeconds * 1000)
    const over = setTimeout(() => this.end(), (this.job.warmupSeconds + this.job.seconds) * 1000)
    this.start()
    await end
    clearTimeout(warm)
    clearTimeout(over)
    await this.drain()
    this.settle()
    for (const connection of this.connections) connection.close()
    this.idle.close()
    this.connectionErrors += this.idle.lost
    return this.summary()
  }

  onReady(): void {}

  onAnswer(connection: Connection): void {
    const now = performance.now()
    this.inFlight--
    this.statuses[connection.status]!++
    if (this.isMeasuring && this.samples.length < samplesMax && connection === this.connections[0]) {
      this.samples.push(connection.body())
    }
    this.answered(connection, now)
    if (this.isStopping && this.inFlight === 0) this.drained?.()
  }

  onLost(connection: Connection): void {
    this.connectionErrors++
    if (connection.inFlight) this.inFlight--
    // The run is invalid, so it ends now.
    if (this.startedAt > 0) this.end()
    if (this.isStopping && this.inFlight === 0) this.drained?.()
  }

  protected send(connection: Connection, request: Uint8Array, startedAt: number): void {
    this.inFlight++
    connection.send(request, startedAt)
  }

  /** Counts a response of the measured span. */
  protected count(milliseconds: number): void {
    this.requests++
    record(this.latencies, milliseconds)
  }

  /** Ends the measured span and sends nothing more. */
  protected end(): void {
    if (this.isStopping) return
    if (!this.isMeasuring) this.measure()
    this.isMeasuring = false
    this.isStopping = true
    this.measuredUntil = performance.now()
    this.processorAfter = this.readProcessor()
    this.threadAfter = this.readThread()
    this.ended?.()
  }

  private measure(): void {
    if (this.isStopping || this.isMeasuring) return
    this.processorBefore = this.readProcessor()
    this.threadBefore = this.readThread()
    this.measuredFrom = performance.now()
    this.isMeasuring = true
  }

  private readThread(): ThreadSeconds | undefined {
    const [first] = this.job.watched
    return first === undefined ? undefined : readThreadSeconds(first.processId)
  }

  private readProcessor(): { readonly [name: string]: number } {
    const own = process.cpuUsage()
    return { ...readProcessorSeconds(this.job.watched), generator: (own.user + own.system) / 1e6 }
  }

  /** Opens the connections, a hundred at a time, so that no listen backlog overflows. */
  private async open(): Promise<void> {
    const deadline = performance.now() + openSecondsMax * 1000
    while (this.connections.length < this.job.connections) {
      const burst = Math.min(100, this.job.connections - this.connections.length)
      for (let index = 0; index < burst; index++) {
        this.connections.push(new Connection(this.job, this))
      }
      while (this.connections.some((connection) => !connection.isOpen)) {
        if (this.connectionErrors > 0 || performance.now() > deadline) {
          throw new Error(`Not all of ${this.job.connections} connections to port ${this.job.port} could be opened`)
        }
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    }
  }

  private async drain(): Promise<void> {
    if (this.inFlight === 0) return
    let timer: NodeJS.Timeout | undefined
    await Promise.race([
      new Promise<void>((resolve) => (this.drained = resolve)),
      new Promise<void>(
        (resolve) => (timer = setTimeout(resolve, (this.job.drainSecondsMax ?? drainSecondsDefault) * 1000))
      )
    ])
    clearTimeout(timer)
  }

  private summary(): Outcome {
    const seconds = (this.measuredUntil - this.measuredFrom) / 1000
    const statuses: { [status: string]: number } = {}
    this.statuses.forEach((count, status) => {
      if (count > 0) statuses[status] = count
    })
    const processorSeconds: { [name: string]: number } = {}
    for (const [name, after] of Object.entries(this.processorAfter)) {
      const before = this.processorBefore[name]
      if (before !== undefined) processorSeconds[name] = after - before
    }
    return {
      requests: this.requests,
      seconds,
      perSecond: this.requests / seconds,
      latency: summarize(this.latencies),
      steps: this.steps.map(summarize),
      statuses,
      connectionErrors: this.connectionErrors,
      unanswered: this.inFlight,
      unsent: this.unsent,
      timerLagMax: Math.round(this.timerLagMax * 1000),
      processorSeconds,
      ...(this.threadBefore !== undefined &&
        this.threadAfter !== undefined && {
          mainThread: {
            running: this.threadAfter.running - this.threadBefore.running,
            waiting: this.threadAfter.waiting - this.threadBefore.waiting
          }
        }),
      samples: this.samples
    }
  }
}
