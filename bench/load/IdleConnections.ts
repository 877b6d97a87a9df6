/**
 * Connections that are open during a run and rarely used: each asks for the server's health once in ten seconds. Their
 * responses are not counted.
 */
import { Connection, type ConnectionListener } from "./Connection.ts"
import type { Job } from "./Job.ts"

const request = Buffer.from("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
const intervalMillis = 10_000
const turnMillis = 100
const openedAtOnce = 100

export class IdleConnections implements ConnectionListener {
  /** The number of connections that failed or were closed by the server. */
  lost = 0
  private readonly job: Job
  private readonly connections: Array<Connection> = []
  private timer: NodeJS.Timeout | undefined

  constructor(job: Job) {
    this.job = job
  }

  /** Opens the connections. Each sends its first request at once. Resolves when all have had a response. */
  async open(): Promise<void> {
    const { idleConnections: count = 0 } = this.job
    while (this.connections.length < count) {
      const burst = Math.min(openedAtOnce, count - this.connections.length)
      for (let opened = 0; opened < burst; opened++) this.connections.push(new Connection(this.job, this))
      while (this.connections.some(({ isOpen, inFlight }) => !isOpen || inFlight)) {
        if (this.lost > 0) throw new Error(`Not all of ${count} idle connections could be opened`)
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    }
    if (count > 0) this.keepAlive()
  }

  close(): void {
    clearInterval(this.timer)
    for (const connection of this.connections) connection.close()
  }

  onReady(connection: Connection): void {
    connection.send(request, 0)
  }

  onAnswer(): void {}

  onLost(): void {
    this.lost++
  }

  /** Lets a part of the connections send a request in each turn. */
  private keepAlive(): void {
    const perTurn = Math.ceil((this.connections.length * turnMillis) / intervalMillis)
    let next = 0
    this.timer = setInterval(() => {
      for (let sent = 0; sent < perTurn; sent++) {
        const connection = this.connections[next++ % this.connections.length]!
        if (connection.isOpen && !connection.inFlight) connection.send(request, 0)
      }
    }, turnMillis)
  }
}
