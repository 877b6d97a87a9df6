/**
 * Visitors go through the requests of a room: shell, entry by form, `state` or `live`, and on with the grant. The
 * server is killed while they arrive, and started again. Every visitor that got a place must have it, in the committed
 * order. No visitor has two places or two grants, or is admitted faster than the rate.
 */
import { randomUUID } from "node:crypto"
import { Agent } from "node:http"
import { read } from "../../invariants/Invariants.ts"
import type { Recorded } from "../../invariants/Reader.ts"
import { Apis } from "../../support/Apis.ts"
import { Dice } from "../../support/Dice.ts"
import { pause } from "../../support/Processes.ts"
import { ServerUnderTest } from "../../support/ServerUnderTest.ts"
import { type Answer, behindProxy, Browser, type Told } from "./Browser.ts"

export interface Options {
  readonly visitors: number
  readonly seed: number
  /** Admissions a minute. */
  readonly admitRate: number
  /** Seconds over which the visitors arrive. */
  readonly arrivalSeconds: number
}

export interface Figures {
  /** Visitors that were told a place before the kill. */
  toldBefore: number
  places: number
  grants: number
  /** Requests that were sent again, and streams that were opened again. */
  retries: number
  inversions: number
  restartMillis: number
  readonly violations: Array<string>
}

/** The longest time for which a visitor tries. */
const patienceSeconds = 300

/** The pause before a request is sent again, and between two questions for the place. */
const pauseMillis = { least: 200, most: 1_000 } as const

const connections = 256

export async function roomsProof({ visitors, seed, admitRate, arrivalSeconds }: Options): Promise<Figures> {
  const dice = new Dice(seed)
  const figures: Figures = {
    toldBefore: 0,
    places: 0,
    grants: 0,
    retries: 0,
    inversions: 0,
    restartMillis: 0,
    violations: []
  }
  await using server = await ServerUnderTest.make({ settings: behindProxy })
  await server.start()
  using apis = new Apis(server, await server.createOrganization())
  const { experienceId, queueId } = await aRoom(apis, admitRate)
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const all = Array.from({ length: visitors }, (_, number) => {
    const browser = new Browser(server, experienceId, number, agent)
    return new Visit(browser, queueId, number % 2 === 0, dice, figures)
  })
  const visiting = Promise.all(
    all.map(async (visit) => {
      await pause(dice.between(0, arrivalSeconds * 1_000))
      await visit.run()
    })
  )
  const countTold = () => all.filter(({ isTold }) => isTold).length
  while (countTold() < visitors / 2) await pause(5)
  figures.toldBefore = countTold()
  await server.kill()
  figures.restartMillis = await server.start()
  await visiting
  await Promise.all(all.map((visit) => visit.buy(apis)))
  agent.destroy()
  check(all, await apis.history(queueId), figures)
  return figures
}

/**
 * Creates an experience with a queue and a product, so that its room leads on to a shop. The gate for bots is off: the
 * work that it asks of thousands of browsers is too much for one machine.
 */
export async function aRoom(apis: Apis, admitRate: number) {
  const body = { challenge: { mode: "off" } }
  const gate = await apis.admin.send({ method: "PUT", path: "/api/organizations/me", headers: apis.asShop, body })
  if (gate.status !== 200) throw new Error(`the gate for bots stays on: ${gate.status}`)
  const url = "https://shop.example/sneaker"
  const productId = await apis.create("/products", { name: "Sneaker", url, variants: [{ sku: "42", price: "129.00" }] })
  const experienceId = await apis.create("/experiences", { name: "Drop", products: [{ productId }] })
  const sequenceId = await apis.create("/sequences", { experienceId, name: "Everyone" })
  const [queueId] = await apis.createQueues(1, { admitRate }, sequenceId)
  return { experienceId, queueId: queueId! }
}

/** One visitor, and what it was told. */
class Visit {
  isTold = false
  grant: string | undefined
  readonly browser: Browser
  private readonly queueId: string
  private readonly streams: boolean
  private readonly dice: Dice
  private readonly figures: Figures
  private position = Infinity
  private isGranted = false
  private readonly givenUpAt = performance.now() + patienceSeconds * 1_000

  constructor(browser: Browser, queueId: string, streams: boolean, dice: Dice, figures: Figures) {
    this.browser = browser
    this.queueId = queueId
    this.streams = streams
    this.dice = dice
    this.figures = figures
  }

  /** Goes through the room, until it has the grant. */
  async run(): Promise<void> {
    const { browser, queueId } = this
    const shell = await this.again(() => browser.get(""))
    if (!shell.text.includes("Join the queue")) this.note(`was not let in by the shell: ${shell.status}`)
    const attempt = randomUUID()
    const entered = await this.again(() => browser.post("enter", { at: queueId, attempt }))
    if (entered.status !== 200) throw new Error(`an entry returned ${entered.status}`)
    this.hear(toldBy(entered.text))
    while (!this.isGranted) {
      if (this.streams) {
        await browser.follow(queueId, (state) => this.hear(state)).catch(() => {})
        if (!this.isGranted) this.figures.retries += 1
      }
      const { text } = await this.again(() => browser.get("/state"))
      const { places } = JSON.parse(text) as { readonly places: ReadonlyArray<Told> }
      this.hear(places.find(({ id }) => id === queueId))
      if (!this.isGranted) await pause(this.dice.between(pauseMillis.least, pauseMillis.most))
    }
    const place = await this.again(() => browser.get("/place"))
    this.grant = /name="usher_grant" value="([^"]+)"/.exec(place.text)?.[1]
    if (this.grant === undefined) this.note("has no grant to go on with")
  }

  /** Completes the purchase, as the shop does. */
  async buy(apis: Apis): Promise<void> {
    const { browser, grant, queueId } = this
    const body = { consumerId: browser.consumerId, token: grant, redemptionId: randomUUID() }
    const answer = await this.again(() => apis.doAsShop(`/queues/${queueId}/complete`, body))
    if (answer.status >= 300) this.note(`cannot buy: ${answer.status} ${answer.body.code}`)
  }

  /** Takes what is told of the place. Returns whether it is granted. */
  private hear(state: Told | undefined): boolean {
    const { status = "no place", position } = state ?? {}
    if (status === "GRANTED") this.isGranted = true
    else if (status !== "QUEUED") this.note(`was told: ${status}`)
    else if (this.isGranted) this.note("waits after its admission")
    if (position !== undefined && position > this.position) this.note(`moved back from ${this.position} to ${position}`)
    this.position = position ?? this.position
    this.isTold = true
    return this.isGranted
  }

  /** Repeats a request until it is answered, as the page's script does. */
  private async again<A extends Pick<Answer, "status">>(send: () => Promise<A>): Promise<A> {
    for (;;) {
      const answer = await send().catch(() => undefined)
      if (answer !== undefined && answer.status < 500 && answer.status !== 429) return answer
      if (performance.now() > this.givenUpAt) throw new Error(`no answer within ${patienceSeconds} s`)
      this.figures.retries += 1
      await pause(this.dice.between(pauseMillis.least, pauseMillis.most))
    }
  }

  private note(what: string): void {
    this.figures.violations.push(`visitor ${this.browser.consumerId} ${what}`)
  }
}

/** The place that a part of the page shows. */
const toldBy = (html: string): Told | undefined => {
  const status = /data-kind="queue"[^>]*data-status="(\w+)"/.exec(html)?.[1]
  const position = /data-text="position">([\d,]+)</.exec(html)?.[1]
  if (status === undefined) return undefined
  return { status, ...(position !== undefined && { position: Number(position.replaceAll(",", "")) }) }
}

/** Compares what visitors were told with the journal. */
function check(all: ReadonlyArray<Visit>, history: ReadonlyArray<Recorded>, figures: Figures): void {
  const { violations, inversions, grants } = read(history)
  const entries = Map.groupBy(
    history.filter(({ type }) => type === "Entered"),
    ({ consumerId }) => consumerId
  )
  for (const { browser } of all) {
    const places = entries.get(browser.consumerId)?.length ?? 0
    if (places !== 1) figures.violations.push(`visitor ${browser.consumerId} has ${places} places`)
  }
  if (entries.size !== all.length)
    figures.violations.push(`${entries.size} consumers entered of ${all.length} visitors`)
  const names = new Set(all.map(({ grant }) => grant && jtiOf(grant)))
  if (names.size !== all.length) figures.violations.push(`${names.size} different grants of ${all.length}`)
  figures.places = entries.size
  figures.grants = grants
  figures.inversions = inversions
  figures.violations.push(...violations)
}

const jtiOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString()).jti as string
