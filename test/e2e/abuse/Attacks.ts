/** The attacks. Each is bounded, and runs together with honest shoppers at other addresses. */
import type { Socket } from "node:net"
import type { Keys, ServerUnderTest } from "../support/ServerUnderTest.ts"
import { Client, openSockets, paced, type Response } from "./Clients.ts"

export interface Setup {
  readonly server: ServerUnderTest
  readonly keys: Keys
  readonly queueId: string
}

export interface Attack {
  readonly name: string
  /** Attacks for so long. Returns what became of it, for the report. */
  readonly run?: Run
  /** Makes what the attack needs, before anything is measured. */
  readonly prepare?: (setup: Setup) => Promise<Run>
}

type Run = (setup: Setup, millis: number) => Promise<string>

const attacker = "127.0.0.2"

/** Sends requests at a pace from one address. Reports the number of each status. */
const flood =
  (
    pace: number | { readonly total: number },
    sent: (setup: Setup, index: number) => Parameters<Client["send"]>[0]
  ): Run =>
  async (setup, millis) => {
    const client = new Client(setup.server.consumerUrl, attacker, 16)
    const perSecond = typeof pace === "number" ? pace : (pace.total * 1_000) / millis
    const responses = await paced(perSecond, millis, (index) => client.send(sent(setup, index)))
    client.close()
    return summary(responses)
  }

/** Opens connections from several addresses and keeps them open. Reports how many were cut. */
const hold =
  (addresses: number, perAddress: number, text: (setup: Setup) => Promise<string>): Run =>
  async (setup, millis) => {
    const sent = await text(setup)
    const sockets: Array<Socket> = []
    for (let index = 0; index < addresses; index++) {
      sockets.push(...openSockets(setup.server.consumerUrl, `127.0.2.${index + 1}`, perAddress, sent))
      await new Promise((resume) => setTimeout(resume, 50))
    }
    await new Promise((resume) => setTimeout(resume, millis))
    const cut = sockets.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length
    for (const socket of sockets) socket.destroy()
    return `${sockets.length} connections, ${cut} of them cut`
  }

export const attacks: ReadonlyArray<Attack> = [
  {
    name: "code requests from one address",
    run: flood(20, ({ keys }, index) => ({
      method: "POST",
      path: "/api/auth/otp/request",
      headers: asPublic(keys),
      body: JSON.stringify({ email: `nobody${index}@example.com` })
    }))
  },
  {
    name: "reads from one address, beyond the organization's limit",
    run: flood({ total: 1_500 }, ({ keys, queueId }) => ({ path: `/api/queues/${queueId}`, headers: asPublic(keys) }))
  },
  {
    name: "bodies of 1 MiB with the public key",
    run: flood(5, ({ keys }) => ({
      method: "POST",
      path: "/api/auth/otp/verify",
      headers: asPublic(keys),
      body: JSON.stringify({ email: "nobody@example.com", code: "1".repeat(1_048_000) })
    }))
  },
  {
    name: "bodies of 16 KiB with many values",
    run: flood(50, ({ keys }) => ({
      method: "POST",
      path: "/api/auth/otp/verify",
      headers: asPublic(keys),
      body: `[${"{},".repeat(5_000)}{}]`
    }))
  },
  {
    name: "unknown keys from one address",
    run: flood(100, ({ queueId }, index) => ({
      path: `/api/queues/${queueId}`,
      headers: { "x-publishable-key": `pk_live_${String(index).padStart(32, "0")}` }
    }))
  },
  { name: "documents from one address", run: flood(50, () => ({ path: "/openapi.json" })) },
  { name: "silent connections", run: hold(6, 400, async () => "") },
  { name: "half a request on each connection", run: hold(6, 400, async () => "GET /api/que") },
  {
    name: "live streams of one guest",
    run: hold(2, 150, async ({ server, keys, queueId }) => {
      const client = new Client(server.consumerUrl, attacker)
      const { text } = await client.send({ method: "POST", path: "/api/auth/guest", headers: asPublic(keys) })
      client.close()
      const head = { host: "x", ...asPublic(keys), authorization: `Bearer ${JSON.parse(text).accessToken}` }
      const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
      return `GET /api/queues/${queueId}/events HTTP/1.1\r\n${lines.join("")}\r\n`
    })
  }
]

export const asPublic = (keys: Keys) => ({ "x-publishable-key": keys.publishableKey })

export function summary(responses: ReadonlyArray<Pick<Response, "status">>): string {
  const counts = new Map<number, number>()
  for (const { status } of responses) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].map(([status, count]) => `${count} × ${status === 0 ? "cut" : status}`).join(", ")
}
