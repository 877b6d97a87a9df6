/**
 * Both APIs as a test uses them: one call a method, every answer as it came. Nothing is retried here.
 */
import { type Body, type HttpAnswer, HttpConnections } from "./HttpConnections.ts"
import type { Recorded } from "../invariants/Reader.ts"
import type { Keys } from "./ServerUnderTest.ts"

/** A guest and the token it speaks with. */
export interface Guest {
  readonly consumerId: string
  readonly accessToken: string
}

/** A consumer's place as a list shows it. */
export interface ListedPlace {
  readonly consumerId: string
  readonly status: string
  readonly enteredAt: string
  readonly updatedAt: string
  readonly [field: string]: unknown
}

/** Where the APIs are. */
interface Listener {
  readonly consumerUrl: string
  readonly adminUrl: string
}

export class Apis {
  readonly consumer: HttpConnections
  readonly admin: HttpConnections
  private readonly keys: Keys

  /** To one server, or to several nodes, which then take turns. */
  constructor(
    servers: Listener | ReadonlyArray<Listener>,
    keys: Keys,
    connectionsMax = 64,
    Connections: typeof HttpConnections = HttpConnections
  ) {
    this.keys = keys
    const all = [servers].flat()
    this.consumer = new Connections(
      all.map(({ consumerUrl }) => consumerUrl),
      connectionsMax
    )
    this.admin = new Connections(
      all.map(({ adminUrl }) => adminUrl),
      4
    )
  }

  [Symbol.dispose](): void {
    this.consumer.close()
    this.admin.close()
  }

  /** The headers of a guest's requests. */
  as(guest: Guest) {
    return { "x-publishable-key": this.keys.publishableKey, authorization: `Bearer ${guest.accessToken}` }
  }

  /** The headers of the organization's own requests. */
  get asShop() {
    return { authorization: `Bearer ${this.keys.secretKey}` }
  }

  /** The headers of whoever has no session yet. */
  get asPublic() {
    return { "x-publishable-key": this.keys.publishableKey }
  }

  async guest(): Promise<Guest> {
    const answer = await this.consumer.send({ method: "POST", path: "/api/auth/guest", headers: this.asPublic })
    if (answer.status >= 300) throw new Unexpected("POST /auth/guest", answer)
    const { session, accessToken } = answer.body
    return { consumerId: session!.consumerId, accessToken: accessToken! }
  }

  /** What a consumer does in a mechanism: `doAs(guest, "/draws/{id}/enter")`. */
  doAs(guest: Guest, path: string, body?: object): Promise<HttpAnswer> {
    const headers = this.as(guest)
    return this.consumer.send({ method: "POST", path: `/api${path}`, headers, ...(body !== undefined && { body }) })
  }

  /** What a consumer looks at. */
  seeAs(guest: Guest, path: string): Promise<HttpAnswer> {
    return this.consumer.send({ method: "GET", path: `/api${path}`, headers: this.as(guest) })
  }

  /** What the organization's server does, on the Consumer API. */
  doAsShop(path: string, body: object): Promise<HttpAnswer> {
    return this.consumer.send({ method: "POST", path: `/api${path}`, headers: this.asShop, body })
  }

  /** What an admin does. */
  doAsAdmin(method: "POST" | "DELETE", path: string, body?: object): Promise<HttpAnswer> {
    const headers = this.asShop
    return this.admin.send({ method, path: `/api${path}`, headers, ...(body !== undefined && { body }) })
  }

  enter(queueId: string, guest: Guest): Promise<HttpAnswer> {
    return this.consumer.send({ method: "POST", path: `/api/queues/${queueId}/enter`, headers: this.as(guest) })
  }

  leave(queueId: string, guest: Guest): Promise<HttpAnswer> {
    return this.consumer.send({ method: "POST", path: `/api/queues/${queueId}/leave`, headers: this.as(guest) })
  }

  status(queueId: string, guest: Guest): Promise<HttpAnswer> {
    return this.consumer.send({ method: "GET", path: `/api/queues/${queueId}/status`, headers: this.as(guest) })
  }

  /** What only the organization's server may do with a consumer's place. */
  act(queueId: string, action: "admit" | "complete" | "deny", consumerId: string): Promise<HttpAnswer> {
    const body = action === "deny" ? { consumerId, reason: "ADMIN_ACTION" } : { consumerId }
    return this.consumer.send({ method: "POST", path: `/api/queues/${queueId}/${action}`, headers: this.asShop, body })
  }

  async create(path: string, body: unknown): Promise<string> {
    const answer = await this.admin.send({ method: "POST", path: `/api${path}`, headers: this.asShop, body })
    if (answer.status !== 201) throw new Unexpected(`POST ${path}`, answer)
    return answer.body.id!
  }

  /** A sequence in an experience of its own, to put queues into. */
  async createSequence(): Promise<string> {
    const experienceId = await this.create("/experiences", { name: "Test" })
    return this.create("/sequences", { experienceId, name: "Test" })
  }

  async live(queueId: string): Promise<NonNullable<Body["live"]>> {
    const answer = await this.admin.send({
      method: "GET",
      path: `/api/distributions/${queueId}`,
      headers: this.asShop
    })
    if (answer.status !== 200) throw new Unexpected("GET /distributions", answer)
    return answer.body.live!
  }

  /** The recorded events of a mechanism, from the `after`th on. */
  async history(queueId: string, after: ReadonlyArray<Recorded> = []): Promise<ReadonlyArray<Recorded>> {
    const cursor = after.length === 0 ? undefined : cursors.get(after)
    const { items, endCursor } = await this.list(`/distributions/${queueId}/history`, cursor)
    const recorded = [...after, ...items.map(toRecorded)]
    const newest = endCursor ?? cursor
    if (newest !== undefined) cursors.set(recorded, newest)
    return recorded
  }

  async places(queueId: string): Promise<ReadonlyArray<ListedPlace>> {
    return (await this.list(`/distributions/${queueId}/consumers`, undefined))
      .items as unknown as ReadonlyArray<ListedPlace>
  }

  private async list(path: string, cursor: string | undefined) {
    const items: Array<Item> = []
    let after = cursor
    for (;;) {
      const query = new URLSearchParams({ first: "100", ...(after === undefined ? {} : { after }) })
      const answer = await this.admin.send({ method: "GET", path: `/api${path}?${query}`, headers: this.asShop })
      if (answer.status !== 200) throw new Unexpected(`GET ${path}`, answer)
      const { data = [], pageInfo } = answer.body
      items.push(...data)
      const endCursor = pageInfo?.endCursor ?? undefined
      if (endCursor === undefined || data.length === 0) return { items, endCursor: after }
      after = endCursor
    }
  }
}

/** Where a history that was read so far ends. */
const cursors = new WeakMap<ReadonlyArray<Recorded>, string>()

type Item = NonNullable<Body["data"]>[number]

const toRecorded = ({ sequence, type, at, consumerId, data }: Item): Recorded => ({
  sequence: Number(sequence),
  type: String(type),
  at: Date.parse(String(at)),
  ...(typeof consumerId === "string" ? { consumerId } : {}),
  data: (data ?? {}) as Recorded["data"]
})

/** An answer that the test cannot go on with. */
export class Unexpected extends Error {
  readonly status: number

  constructor(what: string, answer: HttpAnswer) {
    super(`${what} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
    this.status = answer.status
  }
}
