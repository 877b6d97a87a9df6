/**
 * Arrivals at a fixed rate that responses do not affect: a Poisson process from a seed. An arrival that finds every
 * connection busy waits for one, and its latency counts from its due time. The timer ticks every millisecond, so up to
 * a millisecond of each latency comes from the generator. A generator that spun would take a core from the measured
 * program.
 */
import { poisson } from "../../src/load/Arrivals.ts"
import type { Connection } from "./Connection.ts"
import type { OpenLoopJob } from "./Job.ts"
import { makeRequests, type Requests } from "./Requests.ts"
import { Run } from "./Run.ts"

export class OpenLoop extends Run {
  private readonly prepared: Requests
  /** The due time of each arrival, in milliseconds after the start. */
  private readonly due: Float64Array
  private readonly free: Array<Connection> = []
  private readonly isAnswered: Uint8Array
  private readonly measuredFromMilliseconds: number
  private next = 0
  private timer: NodeJS.Timeout | undefined
  private lastTick = 0

  constructor(job: OpenLoopJob) {
    super(job)
    this.due = poisson(job.perSecond, job.warmupSeconds + job.seconds, job.seed)
    this.prepared = makeRequests(job.request, job.tokens)
    if (this.prepared.count < this.due.length) {
      throw new Error(`${this.due.length} arrivals need as many tokens; there are ${this.prepared.count}`)
    }
    this.isAnswered = new Uint8Array(this.due.length)
    this.measuredFromMilliseconds = job.warmupSeconds * 1000
  }

  protected start(): void {
    this.free.push(...this.connections)
    this.lastTick = this.startedAt
    this.timer = setInterval(() => this.tick(), 1)
  }

  protected answered(connection: Connection, now: number): void {
    this.isAnswered[connection.step] = 1
    if (this.due[connection.step]! >= this.measuredFromMilliseconds) this.count(now - connection.startedAt)
    this.free.push(connection)
    if (!this.isStopping) this.sendDue(now)
  }

  /** Counts an unanswered request with the time until now. Leaving it out would flatter an overloaded server. */
  protected override settle(): void {
    clearInterval(this.timer)
    const answeredRequests = this.requests
    const now = performance.now()
    for (let index = 0; index < this.due.length; index++) {
      if (this.isAnswered[index] === 1 || this.due[index]! < this.measuredFromMilliseconds) continue
      this.count(now - this.startedAt - this.due[index]!)
    }
    this.requests = answeredRequests
    this.unsent = this.due.length - this.next
  }

  /** Sends the arrivals due since the last tick, then ends. */
  protected override end(): void {
    this.sendDue(performance.now())
    super.end()
  }

  private tick(): void {
    const now = performance.now()
    if (this.isMeasuring) this.timerLagMax = Math.max(this.timerLagMax, now - this.lastTick - 1)
    this.lastTick = now
    if (!this.isStopping) this.sendDue(now)
  }

  private sendDue(now: number): void {
    const elapsed = now - this.startedAt
    while (this.next < this.due.length && this.due[this.next]! <= elapsed) {
      // The one that has been free for longest, because servers cut connections that stay silent.
      const connection = this.free.shift()
      if (connection === undefined) return
      connection.step = this.next
      this.send(connection, this.prepared.at(this.next), this.startedAt + this.due[this.next]!)
      this.next++
    }
  }
}
