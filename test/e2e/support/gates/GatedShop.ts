// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/** A shop behind a proxy, `usher gate` beside the proxy, and the queue in front of the checkout. */
import { request } from "node:http"
import { text } from "node:stream/consumers"
import type { Apis } from "../Apis.ts"
import type { ServerUnderTest } from "../ServerUnderTest.ts"
import { GateProcess } from "./GateProcess.ts"
import { Proxy, type ProxyName, type WeaknessName } from "./Proxies.ts"
import { SampleShop } from "./SampleShop.ts"

export interface Line {
  readonly experienceId: string
  readonly queueId: string
  readonly gate: { readonly id: string; readonly key: string }
}

/** Creates a queue in front of a site, and the gate whose rules name it. */
export const aLine = async (apis: Apis, queueSettings: object = {}): Promise<Line> => {
  const experienceId = await apis.create("/experiences", { name: "Checkout" })
  const sequenceId = await apis.create("/sequences", { experienceId, name: "Everyone" })
  const settings = {
    admitRate: 6_000,
    standby: true,
    insideLimit: 1,
    admissionRenewal: { idleSeconds: 3_600, maxSeconds: 7_200 },
    ...queueSettings
  }
  const [queueId] = await apis.createQueues(1, settings, sequenceId)
  const then = { queueId: queueId! }
  const partner = { pathPrefix: "/checkout", header: { name: "x-partner", value: "right" } }
  const rules = [
    { name: "Health", when: { path: "/checkout/health" }, then: "pass" },
    { name: "Partner", when: partner, then: "pass" },
    { name: "Checkout", when: { pathPrefix: "/checkout" }, then },
    { name: "Order", when: { path: "/order", methods: ["POST"] }, then },
    { name: "Open", when: { pathPrefix: "/open" }, then, failMode: "open" }
  ]
  const created = await apis.createRecord("/gates", { name: "Shop", hosts: ["shop.example"], rules })
  return { experienceId, queueId: queueId!, gate: created as unknown as Line["gate"] }
}

/** Has a gate's key ask for a visitor, as another machine of the same shop does. */
export const passed = async (apis: Apis, { queueId, gate }: Line) => {
  const headers = { authorization: `Bearer ${gate.key}` }
  const { body } = await apis.consumer.send({ method: "POST", path: `/api/queues/${queueId}/pass`, headers, body: {} })
  return body
}

/** The name of the gate's cookie. */
export const cookieOf = ({ experienceId }: Line): string => `__Host-usher-grant-${experienceId}`

export interface Visited {
  readonly status: number
  readonly text: string
  readonly location: string | undefined
  readonly headers: NodeJS.Dict<string | Array<string>>
  readonly cookies: ReadonlyArray<string>
  readonly millis: number
}

export interface Visit {
  readonly cookie?: string
  readonly accept?: string
  readonly form?: string
  readonly body?: string
  readonly method?: string
}

export class GatedShop {
  readonly shop: SampleShop
  readonly gate: GateProcess
  readonly proxy: Proxy

  static async make(name: ProxyName, usher: ServerUnderTest, line: Line, weakness?: WeaknessName): Promise<GatedShop> {
    const shop = await SampleShop.make()
    const gate = await GateProcess.make(usher.consumerUrl, line.gate)
    return new GatedShop(shop, gate, await Proxy.make(name, { shop: shop.url, gate: gate.url, weakness }))
  }

  private constructor(shop: SampleShop, gate: GateProcess, proxy: Proxy) {
    this.shop = shop
    this.gate = gate
    this.proxy = proxy
  }

  /** Visits a page of the shop as a browser does. */
  async visit(path: string, { cookie, accept = "text/html", form, body = form, method }: Visit = {}): Promise<Visited> {
    const began = performance.now()
    const formType = form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }
    const length = body === undefined ? {} : { "content-length": Buffer.byteLength(body) }
    const headers = { host: "shop.example", accept, ...(cookie !== undefined && { cookie }), ...formType, ...length }
    const answer = await new Promise<import("node:http").IncomingMessage>((answered, failed) => {
      const options = { method: method ?? (body === undefined ? "GET" : "POST"), agent: false as const, headers }
      request(new URL(path, this.proxy.url), options, answered).on("error", failed).end(body)
    })
    return {
      status: answer.statusCode!,
      text: await text(answer),
      location: answer.headers.location,
      headers: answer.headers,
      cookies: answer.headers["set-cookie"] ?? [],
      millis: performance.now() - began
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.proxy[Symbol.asyncDispose]()
    await this.gate[Symbol.asyncDispose]()
    await this.shop[Symbol.asyncDispose]()
  }
}
