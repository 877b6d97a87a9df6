/** People, shops and staff that work on one stock at the same time. They repeat what got no answer. */
import { randomUUID } from "node:crypto"
import type { Kind } from "../../../src/domain/mechanism/Mechanism.ts"
import { type Apis, Unexpected } from "../support/Apis.ts"
import type { Dice } from "../support/Dice.ts"
import type { HttpAnswer } from "../support/HttpConnections.ts"
import { pause } from "../support/Processes.ts"

/** A stock, and the mechanisms that sell from it. */
export interface Stage {
  readonly stockId: string
  readonly variantId: string
  readonly kinds: { readonly [mechanismId: string]: Kind }
}

/** Grants are short, so that units come back. */
const admissionExpirationSeconds = 5

const pollMillis = 40
const pollsMax = 25
/** Orders that may be cancelled. */
const recentMax = 40

const pathOf = { queue: "queues", timed_release: "timed-releases" } as const

/** Creates a stock of so many units of one variant, and two mechanisms that sell from it. */
export async function stageOf(apis: Apis, units: number): Promise<Stage> {
  const { variantId, stockId } = await createStock(apis, units)
  const sequenceId = await apis.createSequence()
  const selling = { sequenceId, name: "Sale", stockId, admissionExpirationSeconds }
  const queue = await apis.create("/queues", { ...selling, admitRate: 60_000 })
  const release = await apis.create("/timed-releases", selling)
  return { stockId, variantId, kinds: { [queue]: "queue", [release]: "timed_release" } }
}

/** A variant is in one stock, so a creation whose answer was lost cannot be repeated: another variant takes its place. */
async function createStock(apis: Apis, units: number): Promise<Pick<Stage, "variantId" | "stockId">> {
  const productId = await apis.create("/products", { name: "Boots" })
  for (;;) {
    const variant = { productId, sku: "42", inventoryPolicy: "deny", inventoryQuantity: units }
    const variantId = await apis.create("/variants", variant)
    try {
      return { variantId, stockId: await apis.create("/stocks", { name: "Pairs", variantIds: [variantId] }) }
    } catch (error) {
      if (!(error instanceof Unexpected && error.status === 409)) throw error
    }
  }
}

export class StockLoad {
  /** What was answered, by what was done. */
  readonly done = { orders: 0, cancelled: 0, refused: 0, corrections: 0, unanswered: 0 }
  readonly unexpected: Array<string> = []
  stage: Stage | undefined
  #orders: Array<string> = []
  #isStopped = false
  #isPaused = false
  #working = 0
  readonly #apis: Apis
  readonly #dice: Dice
  readonly #workers: ReadonlyArray<Promise<void>>

  constructor(apis: Apis, dice: Dice, workers: number) {
    this.#apis = apis
    this.#dice = dice
    this.#workers = Array.from({ length: workers }, () => this.#work())
  }

  /** Waits until no request is under way. Returns a function that lets the work go on, perhaps with another stock. */
  async paused(): Promise<(stage?: Stage) => void> {
    this.#isPaused = true
    while (this.#working > 0) await pause(5)
    return (stage) => {
      if (stage !== undefined) {
        this.stage = stage
        this.#orders = []
      }
      this.#isPaused = false
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#workers)
  }

  async #work(): Promise<void> {
    while (!this.#isStopped) {
      const { stage } = this
      if (this.#isPaused || stage === undefined) {
        await pause(5)
        continue
      }
      this.#working++
      await this.#act(stage).catch((error: unknown) => this.#noteFailure(error))
      this.#working--
    }
  }

  /** A request that is not answered for minutes, on a machine with too much to do, says nothing about units. */
  #noteFailure(error: unknown): void {
    if (String(error).includes("did not succeed within")) this.done.unanswered++
    else this.unexpected.push(String(error))
  }

  #act(stage: Stage): Promise<unknown> {
    const roll = this.#dice.next()
    if (roll < 0.55) return this.#buy(stage)
    if (roll < 0.75) return this.#orderWithoutGrant(stage)
    return roll < 0.9 ? this.#cancel() : this.#correct(stage)
  }

  /** Enters a mechanism, waits for a grant for a while, and uses it, gives it up, or lets it lapse. */
  async #buy(stage: Stage): Promise<void> {
    const guest = await this.#apis.guest()
    const [id, kind] = this.#dice.pick(Object.entries(stage.kinds))
    const path = `/${pathOf[kind as keyof typeof pathOf]}/${id}`
    await this.#apis.doAs(guest, `${path}/enter`, {})
    for (let polls = 0; polls < pollsMax && !this.#isPaused; polls++) {
      const { body } = await this.#apis.seeAs(guest, `${path}/status`)
      if (body.admissionGrant === undefined) {
        await pause(pollMillis)
        continue
      }
      if (this.#dice.chance(0.1)) return
      if (this.#dice.chance(0.15)) return void (await this.#apis.doAs(guest, `${path}/leave`))
      return this.#order(stage, guest.consumerId, id)
    }
  }

  async #orderWithoutGrant(stage: Stage): Promise<void> {
    return this.#order(stage, (await this.#apis.guest()).consumerId)
  }

  async #order(stage: Stage, consumerId: string, distributionId?: string): Promise<void> {
    const items = [{ productVariantId: stage.variantId, quantity: 1, unitPrice: "9" }]
    const answer = await this.#apis.doAsAdmin("POST", "/orders", {
      consumerId,
      externalId: randomUUID(),
      items,
      ...(distributionId !== undefined && { distributionId })
    })
    this.#note(answer, "orders", [201])
    if (answer.status === 201 && stage === this.stage)
      this.#orders = [...this.#orders, answer.body.id!].slice(-recentMax)
  }

  async #cancel(): Promise<void> {
    const id = this.#orders.splice(Math.floor(this.#dice.next() * this.#orders.length), 1)[0]
    if (id === undefined) return
    this.#note(await this.#put(`/orders/${id}`, { status: "CANCELLED" }), "cancelled", [200])
  }

  /** Staff correct the number, or change the order of the mechanisms and their shares. */
  async #correct({ stockId, kinds }: Stage): Promise<void> {
    const ids = Object.keys(kinds)
    const takers = (this.#dice.chance(0.5) ? ids : ids.toReversed()).map((distributionId) => {
      const share = this.#dice.between(0, 3)
      return { distributionId, ...(share === 1 && { units: 5 }), ...(share === 2 && { upTo: 500 }) }
    })
    const by = this.#dice.between(-3, 6)
    const answer = this.#dice.chance(0.7)
      ? await this.#apis.doAsAdmin("POST", `/stocks/${stockId}/adjust`, { by, reason: "COUNTED" })
      : await this.#put(`/stocks/${stockId}`, { takers })
    this.#note(answer, "corrections", [200])
  }

  #put(path: string, body: object): Promise<HttpAnswer> {
    return this.#apis.admin.send({ method: "PUT", path: `/api${path}`, headers: this.#apis.asShop, body })
  }

  #note(
    { status, body }: HttpAnswer,
    what: "orders" | "cancelled" | "corrections",
    expected: ReadonlyArray<number>
  ): void {
    if (expected.includes(status)) this.done[what]++
    else if (status === 409) this.done.refused++
    else this.unexpected.push(`${what}: ${status} ${JSON.stringify(body)}`)
  }
}
