/** Prepares live drops on one server, each in an organization of its own, and rehearses them. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect } from "effect"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { rehearse } from "../../../../src/load/rehearsal/Rehearsal.ts"
import type { Report } from "../../../../src/load/rehearsal/Report.ts"
import { crowdOf } from "../../../../src/domain/rehearsal/Crowd.ts"
import { askAdmin } from "../../support/askAdmin.ts"
import * as Processes from "../../support/Processes.ts"
import { type Keys, ServerUnderTest } from "../../support/ServerUnderTest.ts"
import type { PreparedDrop } from "./drops.ts"

/** The settings of an organization as they should be. */
const rightOrganization = { allowedOrigins: ["https://shop.example.com"], grantMessages: "email" }

const orders = { url: "https://shop.example.com/usher", events: ["order.paid", "order.cancelled"] }

/** How many people come, if a drop does not say. */
const people = 25

/** Rehearsals at one time. */
const atOnce = 3

/** What is added to a drop before it is sent. */
interface SentDrop {
  newProducts?: ReadonlyArray<object>
  products?: ReadonlyArray<object>
  readonly sequences: readonly [{ audienceId?: string; readonly queues: readonly [{ stockId?: string }] }]
}

type Call = (method: string, path: string, body?: object) => Promise<any>

export class Stage {
  private readonly server: ServerUnderTest
  /** An endpoint that is gone. */
  private readonly gone: Server

  static async make(): Promise<Stage> {
    const gone = createServer((_, response) => response.writeHead(410).end())
    await new Promise<void>((resolve) => gone.listen(0, "127.0.0.1", resolve))
    const server = await ServerUnderTest.make({ settings: { WEBHOOK_NETWORKS: "127.0.0.0/8" } })
    await server.start()
    return new Stage(server, gone)
  }

  private constructor(server: ServerUnderTest, gone: Server) {
    this.server = server
    this.gone = gone
  }

  /** Makes the live drop and returns the report of its rehearsal. */
  async rehearse(drop: PreparedDrop, seed: number, from?: number): Promise<Report> {
    const keys = await this.server.createOrganization()
    const experienceId = await this.prepare(drop, keys)
    const { consumerUrl: url, adminUrl } = this.server
    const onStep = () => Effect.void
    const wanted = {
      experienceId,
      url,
      adminUrl,
      keys: { live: keys.secretKey, test: keys.testSecretKey },
      seed,
      from,
      onStep
    }
    const crowd = crowdOf({ people, ...drop.crowd })
    return Effect.runPromise(
      rehearse({ ...wanted, crowd, declared: [] }).pipe(Effect.provide(NodeHttpClient.layerUndici))
    )
  }

  private async prepare(drop: PreparedDrop, { secretKey }: Keys): Promise<string> {
    const call: Call = (method, path, body) => askAdmin(this.server, secretKey, method, path, body)
    await call("PUT", "/organizations/me", { ...rightOrganization, ...drop.organization })
    if (drop.webhook !== "none") await call("POST", "/webhooks", orders)
    const { id, sequences } = await this.experience(drop, call)
    if (drop.page !== undefined) await call("POST", "/experience-pages", { ...drop.page, experienceId: id })
    if (drop.webhook === "gone") await this.loseWebhook(call)
    if (drop.taker !== undefined) await listTaker(drop.taker, sequences[0].queues[0], call)
    return id
  }

  private async experience({ experience, audience, taker }: PreparedDrop, call: Call) {
    const body: SentDrop = JSON.parse(JSON.stringify(experience))
    if (audience !== undefined) {
      const { id } = await call("POST", "/audiences", { name: "Members", type: "STATIC" })
      body.sequences[0].audienceId = id
      if (audience === "full") {
        const { data } = await call("POST", "/consumers/batch", { consumers: [{ externalId: "ann" }] })
        await call("POST", `/audiences/${id}/members`, { consumerIds: [data[0].id] })
      }
    }
    if (taker !== undefined) {
      const made = await call("POST", "/products", body.newProducts?.[0])
      const stock = await call("POST", "/stocks", { name: "Coats", variantIds: [made.variants[0].id] })
      delete body.newProducts
      body.products = [{ productId: made.id }]
      body.sequences[0].queues[0].stockId = stock.id
    }
    return call("POST", "/experiences", body)
  }

  /** A webhook whose endpoint answers that it is gone is disabled. */
  private async loseWebhook(call: Call): Promise<void> {
    const { port } = this.gone.address() as AddressInfo
    const payload = { url: `http://127.0.0.1:${port}/usher`, events: ["consumer.created"] }
    const { id } = await call("POST", "/webhooks", payload)
    await call("POST", "/consumers/batch", { consumers: [{ externalId: "bob" }] })
    while ((await call("GET", `/webhooks/${id}`)).disabledReason === null) await Processes.pause(50)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.gone.close()
    await this.server[Symbol.asyncDispose]()
  }
}

/** Plays drops, a few at a time. Returns what their reports should have said and did not, in words. */
export const faultsOf = async (stage: Stage, drops: ReadonlyArray<PreparedDrop>, seed: number) => {
  const left = drops.entries()
  const faults: Array<string> = []
  const work = async () => {
    for (const [, drop] of left) faults.push(...faultOf(drop, await stage.rehearse(drop, seed)))
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return faults
}

/** A report names the mistake and nothing else. */
const faultOf = ({ mistake, finding }: PreparedDrop, { findings }: Report): ReadonlyArray<string> => {
  const said = findings.map(({ code, message }) => `${code} ${message}`)
  const isNamed = said.length === 1 && finding !== undefined && said[0]!.startsWith(`${finding.code} `)
  if (finding === undefined ? said.length === 0 : isNamed && said[0]!.includes(finding.words)) return []
  return [`${mistake}: ${said.length === 0 ? "nothing was found" : said.join(" ")}`]
}

const listTaker = async (taker: object | null, { id, stockId }: any, call: Call): Promise<void> => {
  const takers = taker === null ? [] : [{ distributionId: id, ...taker }]
  await call("PUT", `/stocks/${stockId}`, { takers })
}
