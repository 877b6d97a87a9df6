/**
 * The arrivals of new consumers, one at a time on each connection: a guest session, the entry with its token, the
 * status. This is a closed loop. An arrival counts when the response to its last step is complete.
 */
import type { Connection } from "./Connection.ts"
import { makeHistogram, record } from "./Histogram.ts"
import type { ArrivalsJob } from "./Job.ts"
import { Run } from "./Run.ts"

const tokenStart = Buffer.from('"accessToken":"')
const quote = 34

export class Arrivals extends Run {
  protected override readonly steps = [makeHistogram(), makeHistogram(), makeHistogram()]
  private readonly session: Uint8Array
  private readonly heads: ReadonlyArray<Buffer>
  private readonly tails: ReadonlyArray<Buffer>
  /** The start of the current arrival on each connection. */
  private readonly begun = new Map<Connection, number>()
  private readonly tokens = new Map<Connection, Buffer>()

  constructor(job: ArrivalsJob) {
    super(job)
    this.session = Buffer.from(job.session, "latin1")
    this.heads = [job.enter, job.status].map((template) => Buffer.from(template.head, "latin1"))
    this.tails = [job.enter, job.status].map((template) => Buffer.from(template.tail, "latin1"))
  }

  protected start(): void {
    for (const connection of this.connections) this.begin(connection, performance.now())
  }

  protected answered(connection: Connection, now: number): void {
    if (this.isMeasuring) record(this.steps[connection.step]!, now - connection.startedAt)
    if (connection.step === 0) this.keepToken(connection)
    if (connection.step === 2) {
      if (this.isMeasuring) this.count(now - this.begun.get(connection)!)
      if (!this.isStopping) this.begin(connection, now)
      return
    }
    // An arrival in progress at the end is not finished, so the end does not depend on the number of steps left.
    if (this.isStopping) return
    const head = this.heads[connection.step]!
    const tail = this.tails[connection.step]!
    const token = this.tokens.get(connection)!
    let length = head.copy(connection.scratch)
    length += token.copy(connection.scratch, length)
    length += tail.copy(connection.scratch, length)
    connection.step++
    this.send(connection, connection.scratch.subarray(0, length), now)
  }

  private begin(connection: Connection, now: number): void {
    this.begun.set(connection, now)
    connection.step = 0
    this.send(connection, this.session, now)
  }

  private keepToken(connection: Connection): void {
    const start = connection.bytes.indexOf(tokenStart, connection.bodyStart)
    if (start < 0 || start > connection.bodyEnd) throw new Error(`A session without a token: ${connection.body()}`)
    const from = start + tokenStart.length
    this.tokens.set(connection, Buffer.from(connection.bytes.subarray(from, connection.bytes.indexOf(quote, from))))
  }
}
