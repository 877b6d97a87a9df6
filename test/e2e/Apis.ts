/**
 * Both APIs as a test uses them: one call a method, every answer as it came. Nothing is retried here.
 */
import { type Body, type HttpAnswer, HttpConnections } from "./HttpConnections.ts"
import type { Recorded } from "./Invariants.ts"
import type { Keys, ServerUnderTest } from "./ServerUnderTest.ts"

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

export class Apis {
  readonly consumer: HttpConnections
  readonly admin: HttpConnections
  private readonly keys: Keys

  constructor(server: ServerUnderTest, keys: Keys, connectionsMax = 64) {
    this.keys = keys
    this.consumer = new HttpConnections(server.consumerUrl, connectionsMax)
    this.admin = new HttpConnections(server.adminUrl, 4)
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

  async guest(): Promise<Guest> {
    const answer = await this.consumer.send({
      method: "POST",
      path: "/api/auth/guest",
      headers: { "x-publishable-key": this.keys.publishableKey }
    })
    if (answer.status >= 300) throw new Unexpected("POST /auth/guest", answer)
    const { session, accessToken } = answer.body
    return { consumerId: session!.consumerId, accessToken: accessToken! }
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
