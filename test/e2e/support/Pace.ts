/**
 * Consumers who come and go at a steady pace, well below what the server can do: how many of their requests were done in a
 * second tells whether it is as much as before, whatever else this machine has to do.
 */
import type { Apis, Guest } from "./Apis.ts"
import { pause } from "./Processes.ts"

const workers = 8
/** Between one request of a consumer and its next. */
const betweenMillis = 40
/** By how much a consumer that was kept waiting hurries to make up for it. */
const madeUpMillis = 200
const windowMillis = 1_000

export class Pace {
  private readonly times: Array<number> = []
  private readonly workers: ReadonlyArray<Promise<void>>
  private isStopped = false

  /** Begins at once; the consumers are spread over the queues. */
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

  /** How many in a window, on average over a time. */
  perWindow(from: number, until: number): number {
    return (this.count(from, until) * windowMillis) / (until - from)
  }

  /** The end of the first window after `from` in which there were so many. */
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
