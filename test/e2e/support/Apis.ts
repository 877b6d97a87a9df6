/** Both APIs for tests: one method for each call. Nothing is retried. */
import { type Body, type HttpAnswer, HttpConnections } from "./HttpConnections.ts"
import type { Recorded } from "../invariants/Reader.ts"
import type { Keys } from "./ServerUnderTest.ts"

/** A guest and its access token. */
export interface Guest {
  readonly consumerId: string
  readonly accessToken: string
}

/** A consumer's place in a list. */
export interface ListedPlace {
  readonly consumerId: string
  readonly status: string
  readonly enteredAt: string
  readonly updatedAt: string
  readonly [field: string]: unknown
}

/** The base URLs of the APIs. */
interface Listener {
  readonly consumerUrl: string
  readonly adminUrl: string
}

export class Apis {
  readonly consumer: HttpConnections
  readonly admin: HttpConnections
  private readonly keys: Keys

  /** Connects to one server, or to several nodes in turns. */
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

  /** The headers of the organization's server. */
  get asShop() {
    return { authorization: `Bearer ${this.keys.secretKey}` }
  }

  /** The headers of a client without a session. */
  get asPublic() {
    return { "x-publishable-key": this.keys.publishableKey }
  }

  async guest(): Promise<Guest> {
    const answer = await this.consumer.send({ method: "POST", path: "/api/auth/guest", headers: this.asPublic })
    if (answer.status >= 300) throw new Unexpected("POST /auth/guest", answer)
    const { session, accessToken } = answer.body
    return { consumerId: session!.consumerId, accessToken: accessToken! }
  }

  /** Sends a consumer's request: `doAs(guest, "/draws/{id}/enter")`. */
  doAs(guest: Guest, path: string, body?: object): Promise<HttpAnswer> {
    const headers = this.as(guest)
    return this.consumer.send({ method: "POST", path: `/api${path}`, headers, ...(body !== undefined && { body }) })
  }

  /** Reads as a consumer. */
  seeAs(guest: Guest, path: string): Promise<HttpAnswer> {
    return this.consumer.send({ method: "GET", path: `/api${path}`, headers: this.as(guest) })
  }

  /** Sends a request of the organization's server to the Consumer API. */
  doAsShop(path: string, body: object): Promise<HttpAnswer> {
    return this.consumer.send({ method: "POST", path: `/api${path}`, headers: this.asShop, body })
  }

  /** Lets a visitor to a site pass, as its gate does. */
  pass(queueId: string, attempt: string): Promise<HttpAnswer> {
    const headers = { ...this.asShop, "idempotency-key": attempt }
    return this.consumer.send({ method: "POST", path: `/api/queues/${queueId}/pass`, headers, body: {} })
  }

  /** Sends a request to the Admin API. */
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

  /** Sends an action on a consumer's place that only the organization's server may take. */
  act(queueId: string, action: "admit" | "complete" | "deny", consumerId: string): Promise<HttpAnswer> {
    const body = action === "deny" ? { consumerId, reason: "ADMIN_ACTION" } : { consumerId }
    return this.consumer.send({ method: "POST", path: `/api/queues/${queueId}/${action}`, headers: this.asShop, body })
  }

  async create(path: string, body: unknown): Promise<string> {
    return (await this.createRecord(path, body)).id!
  }

  /** Creates a record and returns it. */
  async createRecord(path: string, body: unknown): Promise<Body> {
    const answer = await this.admin.send({ method: "POST", path: `/api${path}`, headers: this.asShop, body })
    if (answer.status !== 201) throw new Unexpected(`POST ${path}`, answer)
    return answer.body
  }

  /** Changes the settings of a record. */
  async change(path: string, settings: object): Promise<void> {
    const answer = await this.admin.send({ method: "PUT", path: `/api${path}`, headers: this.asShop, body: settings })
    if (answer.status !== 200) throw new Unexpected(`PUT ${path}`, answer)
  }

  /** Creates a sequence in a new experience. */
  async createSequence(): Promise<string> {
    const experienceId = await this.create("/experiences", { name: "Test" })
    return this.create("/sequences", { experienceId, name: "Test" })
  }

  /** Creates queues in one sequence, by default a new one. Default: they admit by hand. */
  async createQueues(count: number, settings: object = {}, sequenceId?: string): Promise<ReadonlyArray<string>> {
    const body = { sequenceId: sequenceId ?? (await this.createSequence()), name: "Line", admitRate: 0, ...settings }
    return Promise.all(Array.from({ length: count }, () => this.create("/queues", body)))
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

  /** Returns the recorded events of a mechanism. Reads only the events after those in `after`. */
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

/** The cursor at the end of each history. */
const cursors = new WeakMap<ReadonlyArray<Recorded>, string>()

type Item = NonNullable<Body["data"]>[number]

const toRecorded = ({ sequence, type, at, consumerId, data }: Item): Recorded => ({
  sequence: Number(sequence),
  type: String(type),
  at: Date.parse(String(at)),
  ...(typeof consumerId === "string" ? { consumerId } : {}),
  data: (data ?? {}) as Recorded["data"]
})

/** A response that prevents the test from continuing. */
export class Unexpected extends Error {
  readonly status: number

  constructor(what: string, answer: HttpAnswer) {
    super(`${what} returned ${answer.status}: ${JSON.stringify(answer.body)}`)
    this.status = answer.status
  }
}
