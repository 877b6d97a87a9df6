/**
 * Consumers that enter and leave at a steady pace, well below the server's capacity. The number of completed requests
 * per second shows whether throughput is the same as before, on a busy machine too.
 */
import type { Apis, Guest } from "./Apis.ts"
import { pause } from "./Processes.ts"

const workers = 8
/** The interval between the requests of a consumer. */
const betweenMillis = 40
/** The most time that a delayed consumer makes up for. */
const madeUpMillis = 200
const windowMillis = 1_000

export class Pace {
  private readonly times: Array<number> = []
  private readonly workers: ReadonlyArray<Promise<void>>
  private isStopped = false

  /** Starts the consumers, spread over the queues. */
  static async begin(apis: Apis, queueIds: ReadonlyArray<string>): Promise<Pace> {
    const guests = await Promise.all(Array.from({ length: workers }, () => apis.guest()))
    return new Pace(apis, queueIds, guests)
  }

  private constructor(apis: Apis, queueIds: ReadonlyArray<string>, guests: ReadonlyArray<Guest>) {
    this.workers = guests.map((guest, index) => this.work(apis, queueIds, index, guest))
  }

  async stop(): Promise<void> {
    this.isStopped = true
    await Promise.all(this.workers)
  }

  private async work(apis: Apis, queueIds: ReadonlyArray<string>, first: number, guest: Guest): Promise<void> {
    const actions = ["enter", "status", "leave"] as const
    for (let turn = 0, next = performance.now(); !this.isStopped; turn++) {
      const queueId = queueIds[(first + Math.floor(turn / actions.length) * workers) % queueIds.length]!
      const answer = await apis[actions[turn % actions.length]!](queueId, guest).catch(() => undefined)
      if (answer !== undefined && answer.status < 500) this.times.push(performance.now())
      next = Math.max(next + betweenMillis, performance.now() - madeUpMillis)
      await pause(Math.max(0, next - performance.now()))
    }
  }

  /** Returns the average number of requests in a window between two times. */
  perWindow(from: number, until: number): number {
    return (this.count(from, until) * windowMillis) / (until - from)
  }

  /** Returns the end of the first window after `from` with at least `least` requests. */
  firstWindow(from: number, least: number): number | undefined {
    const first = this.times.findIndex((at) => at >= from)
    if (first < 0) return undefined
    const ends = this.times.slice(first).filter((at) => at >= from + windowMillis)
    return ends.find((end) => this.count(end - windowMillis, end) >= least)
  }

  private count(from: number, until: number): number {
    return this.times.reduce((count, at) => (at > from && at <= until ? count + 1 : count), 0)
  }
}
