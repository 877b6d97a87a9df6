/** Receivers of webhooks that fail, hang, redirect and answer slowly. They keep what arrived, and when. */
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { verifyWebhook } from "../../../../src/delivery/webhook/verifyWebhook.ts"
import type { Dice } from "../../support/Dice.ts"

/** How a receiver behaves. Only the first arrival of an entry fails, hangs or is redirected. */
export const behaviours = ["steady", "failing", "hanging", "redirecting", "slow"] as const
export type Behaviour = (typeof behaviours)[number]

/** The arrivals of one event at one receiver. Orders count all requests and answers of all receivers. */
export interface Arrival {
  readonly lane: string
  readonly sequence: number
  readonly body: string
  readonly firstOrder: number
  /** When it was first accepted; undefined until then. */
  acceptedOrder: number | undefined
  count: number
}

/** The shares of entries that fail, hang or are redirected at the receivers that do so. */
const failingShare = 0.1
const hangingShare = 0.02
const slowMillisMax = 300

export class Receivers {
  readonly arrivals = new Map<Behaviour, Map<string, Arrival>>(behaviours.map((one) => [one, new Map()]))
  readonly violations: Array<string> = []
  readonly secrets = new Map<Behaviour, string>()
  requests = 0
  refused = 0
  private order = 0
  private readonly server: Server
  private readonly dice: Dice

  static async make(dice: Dice): Promise<Receivers> {
    const receivers = new Receivers(dice)
    await new Promise<void>((resolve) => receivers.server.listen(0, "127.0.0.1", resolve))
    return receivers
  }

  private constructor(dice: Dice) {
    this.dice = dice
    this.server = createServer((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk))
      request.on("end", () => {
        const behaviour = request.url!.slice(1) as Behaviour
        if (!behaviours.includes(behaviour)) return this.trap(request.url!, response)
        this.take(behaviour, request.headers, Buffer.concat(chunks).toString("utf8"), response)
      })
    })
  }

  url(behaviour: Behaviour): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/${behaviour}`
  }

  [Symbol.dispose](): void {
    this.server.closeAllConnections()
    this.server.close()
  }

  /** Only a redirect leads here, and the sender must follow none. */
  private trap(url: string, response: ServerResponse): void {
    this.violations.push(`a redirect to ${url} was followed`)
    response.writeHead(204).end()
  }

  private take(behaviour: Behaviour, headers: IncomingHttpHeaders, body: string, response: ServerResponse): void {
    this.requests += 1
    if (!verifyWebhook(headers, body, this.secrets.get(behaviour)!, Date.now())) {
      this.violations.push(`a request to ${behaviour} is not signed: ${body}`)
    }
    const { id, type, sequence, data } = JSON.parse(body)
    const known = this.arrivals.get(behaviour)!
    const former = known.get(id)
    if (former !== undefined && former.body !== body) this.violations.push(`${id} arrived with another body`)
    const lane = `${data.distribution_id} ${data.consumer_id}`
    const arrival = former ?? { lane, sequence, body, firstOrder: ++this.order, acceptedOrder: undefined, count: 0 }
    known.set(id, arrival)
    arrival.count += 1
    this.answer(behaviour, arrival.count === 1 && type === "distribution.joined", response, () => {
      arrival.acceptedOrder ??= ++this.order
    })
  }

  private answer(behaviour: Behaviour, mayRefuse: boolean, response: ServerResponse, accepted: () => void): void {
    if (mayRefuse && this.refuses(behaviour, response)) {
      this.refused += 1
      return
    }
    const accept = () => {
      accepted()
      response.writeHead(204).end()
    }
    if (behaviour === "slow") setTimeout(accept, this.dice.between(0, slowMillisMax))
    else accept()
  }

  /** Refuses a share of the requests in the receiver's way. */
  private refuses(behaviour: Behaviour, response: ServerResponse): boolean {
    if (behaviour === "hanging") return this.dice.chance(hangingShare)
    if (behaviour !== "failing" && behaviour !== "redirecting") return false
    if (!this.dice.chance(failingShare)) return false
    if (behaviour === "failing") response.writeHead(500).end("no")
    else response.writeHead(307, { location: "/followed" }).end()
    return true
  }
}
