/** Each connection sends its next request as soon as the previous response is complete. */
import type { Connection } from "./Connection.ts"
import type { ClosedLoopJob } from "./Job.ts"
import { makeRequests, type Requests } from "./Requests.ts"
import { Run } from "./Run.ts"
import { ShownTokens } from "./ShownTokens.ts"

export class ClosedLoop extends Run {
  private readonly prepared: Requests
  private readonly repeats: boolean
  private readonly shown: ShownTokens | undefined
  private next = 0

  constructor(job: ClosedLoopJob) {
    super(job)
    this.prepared = makeRequests(job.request, job.tokens)
    this.repeats = job.repeatTokens
    if (job.shownFirst !== undefined) this.shown = new ShownTokens(job.shownFirst, job.tokens)
  }

  protected override async prepare(): Promise<void> {
    await this.shown?.show(this.connections)
  }

  override onAnswer(connection: Connection): void {
    if (this.shown?.isShowing === true) this.shown.answered(connection)
    else super.onAnswer(connection)
  }

  override onLost(connection: Connection): void {
    if (this.shown?.isShowing === true) this.shown.lost()
    else super.onLost(connection)
  }

  protected start(): void {
    for (const connection of this.connections) this.advance(connection, performance.now())
  }

  protected answered(connection: Connection, now: number): void {
    if (this.isMeasuring) this.count(now - connection.startedAt)
    if (!this.isStopping) this.advance(connection, now)
  }

  private advance(connection: Connection, now: number): void {
    const index = this.shown === undefined ? this.next++ : this.shown.next(connection)
    if (index !== undefined && index < this.prepared.count) return this.send(connection, this.prepared.at(index), now)
    if (!this.repeats) return this.end()
    this.next = 0
    this.advance(connection, now)
  }
}
