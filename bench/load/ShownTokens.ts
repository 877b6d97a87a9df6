/**
 * The tokens of a run, each shown to the server before the run, on the connection that uses it then. Several processes
 * that share a port cache tokens each for itself, and a connection stays with one of them.
 */
import type { Connection } from "./Connection.ts"
import type { ClosedLoopJob, TokenRange } from "./Job.ts"
import { makeRequests, type Requests } from "./Requests.ts"

export class ShownTokens {
  isShowing = false
  private readonly requests: Requests
  private readonly seconds: number
  private until = 0
  private count = 0
  private active = 0
  private readonly byConnection = new Map<Connection, Array<number>>()
  private readonly done = Promise.withResolvers<void>()

  constructor({ request, seconds }: NonNullable<ClosedLoopJob["shownFirst"]>, tokens: TokenRange) {
    this.requests = makeRequests(request, tokens)
    this.seconds = seconds
  }

  /** Shows tokens on all connections until there is none left, or the time is over. */
  async show(connections: ReadonlyArray<Connection>): Promise<void> {
    this.isShowing = true
    this.until = performance.now() + this.seconds * 1000
    this.active = connections.length
    for (const connection of connections) {
      this.byConnection.set(connection, [])
      this.advance(connection)
    }
    await this.done.promise
    this.isShowing = false
  }

  answered(connection: Connection): void {
    if (connection.status === 200) return this.advance(connection)
    this.done.reject(new Error(`A token was shown and refused with ${connection.status}: ${connection.body()}`))
  }

  lost(): void {
    this.done.reject(new Error("A connection broke while tokens were shown"))
  }

  /** Returns the index of the connection's next token; undefined if it has shown no more. */
  next(connection: Connection): number | undefined {
    return this.byConnection.get(connection)![connection.step++]
  }

  private advance(connection: Connection): void {
    if (this.count < this.requests.count && performance.now() < this.until) {
      this.byConnection.get(connection)!.push(this.count)
      return connection.send(this.requests.at(this.count++), 0)
    }
    this.active--
    if (this.active === 0) this.done.resolve()
  }
}
