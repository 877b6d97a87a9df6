/** Measures capacity: every connection sends its next request when the previous response is complete. */
import type { Connection } from "./Connection.ts"
import type { ClosedLoopJob } from "./Job.ts"
import { makeRequests, type Requests } from "./Requests.ts"
import { Run } from "./Run.ts"

export class ClosedLoop extends Run {
  private readonly prepared: Requests
  private readonly repeats: boolean
  private next = 0

  constructor(job: ClosedLoopJob) {
    super(job)
    this.prepared = makeRequests(job.request, job.tokens)
    this.repeats = job.repeatTokens
  }

  protected start(): void {
    for (const connection of this.connections) this.advance(connection, performance.now())
  }

  protected answered(connection: Connection, now: number): void {
    if (this.isMeasuring) this.count(now - connection.startedAt)
    if (!this.isStopping) this.advance(connection, now)
  }

  private advance(connection: Connection, now: number): void {
    if (this.next === this.prepared.count) {
      if (!this.repeats) return this.end()
      this.next = 0
    }
    this.send(connection, this.prepared.at(this.next++), now)
  }
}
