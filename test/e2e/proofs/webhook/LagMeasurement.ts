/**
 * How long an event takes to a healthy endpoint under a steady load, and how long the endpoint takes to catch up after
 * it was away. Each entry is two events. The lag is from the event's own time to the arrival of its request.
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Apis, type Guest } from "../../support/Apis.ts"
import { pause } from "../../support/Processes.ts"
import { ServerUnderTest } from "../../support/ServerUnderTest.ts"

export interface Lag {
  /** Events a second that the load made, and deliveries a second that the endpoint took. */
  readonly offeredPerSecond: number
  readonly takenPerSecond: number
  /** The lags of the steady phase, in order of size. */
  readonly millis: ReadonlyArray<number>
  /** From the endpoint's return to the last event that it missed. The pause before an attempt (1 min) is part of it. */
  readonly caughtUpSeconds: number
  /** Events that arrived while the endpoint caught up. */
  readonly missedEvents: number
}

/** Events a second of the load. Each entry is two: the consumer joins, and is admitted. */
const eventsPerSecond = 500
const eventsOfEntry = 2
const tickMillis = 20
const connections = 32

/** The measurement fails if the endpoint has not caught up after this time. */
const catchUpSecondsMax = 180

/** Measures for so many seconds without, and as many with an endpoint that refuses. */
export async function measureLag(seconds: number): Promise<Lag> {
  const settings = { WEBHOOK_NETWORKS: "127.0.0.0/8", WEBHOOKS_PER_SECOND: "2000" }
  await using server = await ServerUnderTest.make({ settings })
  await server.start()
  using apis = new Apis(server, await server.createOrganization(), connections)
  using endpoint = await Endpoint.make()
  const events = ["distribution.joined", "distribution.admitted"]
  const { status } = await apis.doAsAdmin("POST", "/webhooks", { url: endpoint.url, events })
  if (status !== 201) throw new Error(`POST /webhooks returned ${status}`)
  const [queueId] = await apis.createQueues(1, { admitRate: 100_000 })
  const entries = Math.ceil((eventsPerSecond / eventsOfEntry) * seconds)
  const guests = await guestsOf(apis, 2 * entries)

  const startedAt = performance.now()
  await enterAll(apis, queueId!, guests.slice(0, entries))
  const offeredPerSecond = (eventsOfEntry * entries * 1_000) / (performance.now() - startedAt)
  await endpoint.took(eventsOfEntry * entries)
  const takenPerSecond = (endpoint.lags.length * 1_000) / (performance.now() - startedAt)
  const millis = endpoint.lags.toSorted((one, other) => one - other)

  endpoint.isAway = true
  await enterAll(apis, queueId!, guests.slice(entries))
  const missedEvents = 2 * eventsOfEntry * entries - endpoint.taken.size
  endpoint.isAway = false
  const backAt = performance.now()
  await endpoint.took(2 * eventsOfEntry * entries)
  const caughtUpSeconds = (performance.now() - backAt) / 1_000
  return { offeredPerSecond, takenPerSecond, millis, caughtUpSeconds, missedEvents }
}

/** Creates guests, several at a time. */
async function guestsOf(apis: Apis, count: number): Promise<ReadonlyArray<Guest>> {
  const guests: Array<Guest> = []
  let left = count
  const workers = Array.from({ length: connections }, async () => {
    while (left-- > 0) guests.push(await apis.guest())
  })
  await Promise.all(workers)
  return guests
}

/** Lets the guests enter at the rate of the load, without waiting for answers. */
async function enterAll(apis: Apis, queueId: string, guests: ReadonlyArray<Guest>): Promise<void> {
  const startedAt = performance.now()
  const entered: Array<Promise<unknown>> = []
  while (entered.length < guests.length) {
    const elapsedMillis = performance.now() - startedAt
    const due = Math.min(guests.length, Math.ceil((elapsedMillis / 1_000) * (eventsPerSecond / eventsOfEntry)))
    for (const guest of guests.slice(entered.length, due)) entered.push(apis.enter(queueId, guest))
    await pause(tickMillis)
  }
  await Promise.all(entered)
}

/** An endpoint that takes everything at once, or refuses everything while it is away. */
class Endpoint {
  readonly taken = new Set<string>()
  readonly lags: Array<number> = []
  isAway = false
  private readonly server: Server

  static async make(): Promise<Endpoint> {
    const endpoint = new Endpoint()
    await new Promise<void>((resolve) => endpoint.server.listen(0, "127.0.0.1", resolve))
    return endpoint
  }

  private constructor() {
    this.server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        if (this.isAway) {
          response.writeHead(503).end()
          return
        }
        const { id, timestamp } = JSON.parse(Buffer.concat(chunks).toString("utf8"))
        this.taken.add(id)
        this.lags.push(Date.now() - Date.parse(timestamp))
        response.writeHead(204).end()
      })
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/`
  }

  /** Waits until it has taken so many events. */
  async took(count: number): Promise<void> {
    const startedAt = performance.now()
    while (this.taken.size < count) {
      if (performance.now() - startedAt > catchUpSecondsMax * 1_000) {
        throw new Error(`${count - this.taken.size} of ${count} events have not arrived within ${catchUpSecondsMax} s`)
      }
      await pause(10)
    }
  }

  [Symbol.dispose](): void {
    this.server.closeAllConnections()
    this.server.close()
  }
}
