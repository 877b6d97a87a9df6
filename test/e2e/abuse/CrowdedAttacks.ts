/**
 * Attacks from several addresses on the limits of an organization, and attacks on what public reads cost. The latter are
 * made in an organization of their own, beside the shoppers of another.
 */
import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { Apis } from "../support/Apis.ts"
import { asPublic, type Attack, type Setup, summary } from "./Attacks.ts"
import { Client, paced, type Sent } from "./Clients.ts"
import type { Reading } from "./Reader.ts"

/** Sends requests at a pace from each of five addresses. */
const fromFive =
  (perSecond: number, sent: (setup: Setup, index: number) => Sent): NonNullable<Attack["run"]> =>
  async (setup, millis) => {
    const clients = Array.from(
      { length: 5 },
      (_, index) => new Client(setup.server.consumerUrl, `127.0.3.${index + 1}`, 16)
    )
    const responses = await Promise.all(
      clients.map((client) => paced(perSecond, millis, (index) => client.send(sent(setup, index))))
    )
    for (const client of clients) client.close()
    return summary(responses.flat())
  }

/**
 * Reads one path of another organization with eight connections, each as fast as it is answered. The reader has a thread
 * of its own, so that shoppers do not wait for it on the client's side.
 */
const reading =
  (make: (apis: Apis) => Promise<string>): NonNullable<Attack["prepare"]> =>
  async ({ server }) => {
    const keys = await server.createOrganization()
    const organization = ["--organization", keys.organizationId, "--plan", "growth"]
    await server.usher(["organizations", "set-plan", ...organization])
    using apis = new Apis(server, keys)
    const path = await make(apis)
    return async (_, millis) => {
      const workerData: Reading = { url: server.consumerUrl, sent: { path, headers: asPublic(keys) }, millis }
      const reader = new Worker(new URL("Reader.ts", import.meta.url), { workerData })
      const [result] = (await once(reader, "message")) as [string]
      return result
    }
  }

const create = async (apis: Apis, path: string, body: object): Promise<string> => {
  const answer = await apis.admin.send({ method: "POST", path: `/api${path}`, headers: apis.asShop, body })
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.id as string
}

const always = Object.fromEntries(
  ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].map((day) => [
    day,
    [{ from: "00:00", to: "24:00" }]
  ])
)

export const crowdedAttacks: ReadonlyArray<Attack> = [
  {
    name: "ten code requests from each of five addresses",
    run: fromFive(1, ({ keys }, index) => ({
      method: "POST",
      path: "/api/auth/otp/request",
      headers: asPublic(keys),
      body: JSON.stringify({ email: `nobody${index}@example.com` })
    }))
  },
  {
    name: "reads from five addresses, beyond the organization's limit",
    run: fromFive(60, ({ keys, queueId }) => ({ path: `/api/queues/${queueId}`, headers: asPublic(keys) }))
  },
  {
    name: "10,000 slots of another tenant on eight connections",
    prepare: reading(async (apis) => {
      const experienceId = await create(apis, "/experiences", { name: "Visits" })
      const sequenceId = await create(apis, "/sequences", { experienceId, name: "All" })
      const from = Date.now()
      const id = await create(apis, "/appointments", {
        sequenceId,
        name: "Minutes",
        timeZone: "UTC",
        slotDurationMinutes: 1,
        hours: always,
        slotsFrom: new Date(from).toISOString(),
        slotsUntil: new Date(from + 30 * 86_400_000).toISOString()
      })
      return `/api/appointments/${id}/slots`
    })
  },
  {
    name: "1,000 variants of another tenant on eight connections",
    prepare: reading(async (apis) => {
      const products: Array<{ readonly productId: string }> = []
      for (let product = 0; product < 10; product++) {
        const variants = Array.from({ length: 100 }, (_, index) => ({ sku: `P${product}-${index}`, price: "120" }))
        products.push({ productId: await create(apis, "/products", { name: `Product ${product}`, variants }) })
      }
      return `/api/experiences/${await create(apis, "/experiences", { name: "Catalogue", products })}`
    })
  }
]
