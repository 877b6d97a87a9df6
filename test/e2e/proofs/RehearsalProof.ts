/** Plays a drop of six mechanisms over thirty days with `usher rehearse`, and compares what happened. */
import type { Dice } from "../support/Dice.ts"
import type { Nodes } from "../support/Nodes.ts"
import { main, type Keys, ServerUnderTest } from "../support/ServerUnderTest.ts"
import { askAdmin } from "../support/askAdmin.ts"
import * as Processes from "../support/Processes.ts"

const dayMillis = 86_400_000

/** How long one rehearsal may take here. */
const secondsMax = 3_600
const openAt = Date.parse("2033-06-01T16:00:00Z")

/** The instant so many days after the opening. */
const day = (days: number) => new Date(openAt + days * dayMillis).toISOString()

const hours = Object.fromEntries(
  ["monday", "tuesday", "wednesday", "thursday", "friday"].map((weekday) => [weekday, [{ from: "09:00", to: "17:00" }]])
)

/** Units of the stock. */
const pairs = 450

/** One mechanism of each kind, from the first sign-up to the last slot. With a stock three sell from it, with one more waitlist. */
const dropOf = (productId: string, stockId?: string) => ({
  name: "The coat",
  timeZone: "UTC",
  currencyCode: "EUR",
  openAt: day(-1),
  closeAt: day(29),
  products: [{ productId }],
  sequences: [
    {
      name: "Everybody",
      waitlist: { name: "Tell me", openAt: day(-1) },
      queues: [
        {
          name: "The line",
          ...(stockId === undefined ? { maxAdmissions: 300 } : { stockId }),
          lobbyOpenAt: day(-1 / 48),
          openAt: day(0),
          closeAt: day(1),
          admitRate: 60,
          recycleExpiredAdmissions: true,
          admissionExpirationSeconds: 600
        }
      ],
      draws: [
        {
          name: "The raffle",
          openAt: day(2),
          closeAt: day(8),
          drawAt: day(9),
          winnerCount: 100,
          admissionExpirationSeconds: 172_800
        }
      ]
    },
    {
      name: "Friends",
      auctions: [
        {
          name: "Number one",
          openAt: day(10),
          closeAt: day(17),
          settleAt: day(17.1),
          startPrice: "100",
          quantity: 5,
          currencyCode: "EUR",
          admissionExpirationSeconds: 172_800
        }
      ],
      timedReleases: [
        { name: "The rest", stockId, openAt: day(20), closeAt: day(21), capacity: 200, admissionExpirationSeconds: 900 }
      ],
      ...(stockId !== undefined && {
        waitlist: {
          name: "What falls back",
          stockId,
          offers: true,
          openAt: day(19),
          admissionExpirationSeconds: 7_200
        }
      }),
      appointments: [
        {
          name: "A visit",
          openAt: day(15),
          closeAt: day(28),
          slotsFrom: day(18),
          slotsUntil: day(28),
          hours,
          slotDurationMinutes: 60,
          maxCapacityPerSlot: 10
        }
      ]
    }
  ]
})

/** The report of a rehearsal as JSON, as far as it is read here. */
export interface Report {
  readonly seconds: number
  readonly unserved: number
  readonly mechanisms: ReadonlyArray<{ readonly id: string; readonly name: string; readonly people: number }>
}

/** A recorded event without the id of its mechanism, which each rehearsal has of its own. */
type Recorded = Readonly<Record<string, unknown>>

/** The journals of a rehearsal's mechanisms, in their order. */
export type Journals = ReadonlyArray<ReadonlyArray<Recorded>>

/** What was played. */
export interface Played {
  readonly report: Report
  readonly journals: Journals
}

/** The live drops: six mechanisms, and the same with a stock. */
export type Drop = "six" | "stock"

/** Live drops, on one server or on nodes. */
export class Stage {
  /** The first one is asked. */
  readonly servers: ReadonlyArray<ServerUnderTest>
  private readonly keys: Keys
  private readonly ids: Readonly<Record<Drop, string>>

  /** Starts one server, which makes the drops. */
  static async make(): Promise<Stage> {
    const server = await ServerUnderTest.make()
    await server.start()
    const keys = await server.createOrganization()
    const ids = await createDrops((...given) => askAdmin(server, keys.secretKey, ...given))
    return new Stage([server], keys, ids)
  }

  private constructor(servers: ReadonlyArray<ServerUnderTest>, keys: Keys, ids: Readonly<Record<Drop, string>>) {
    this.servers = servers
    this.keys = keys
    this.ids = ids
  }

  /** Ends the server, and starts nodes on its database. */
  async moveTo({ all }: Nodes): Promise<Stage> {
    await Promise.all(this.servers.map((server) => server.terminate()))
    await Promise.all(all.map((node) => node.start()))
    return new Stage(all, this.keys, this.ids)
  }

  /**
   * Plays the drop to its end, reads the journals, and ends the test clock. `meanwhile` runs next to it and gets whether
   * the rehearsal is still under way. Returns what the command said if it did not succeed.
   */
  async rehearse(
    drop: Drop,
    people: number,
    seed: number,
    meanwhile: (isPlaying: () => boolean) => Promise<void> = () => Promise.resolve()
  ): Promise<Played | string> {
    let isPlaying = true
    const playing = this.run(drop, people, seed).finally(() => (isPlaying = false))
    await Promise.all([playing.catch(() => undefined), meanwhile(() => isPlaying)])
    const report = await playing.catch((error: Error) => error.message)
    if (typeof report === "string") return report
    const journals: Array<ReadonlyArray<Recorded>> = []
    for (const { id } of report.mechanisms) journals.push(await this.journal(id))
    await this.ask("DELETE", "/test-clock")
    return { report, journals }
  }

  private async run(drop: Drop, people: number, seed: number): Promise<Report> {
    const { adminUrl, consumerUrl } = this.servers[0]!
    const flags = [
      "--url",
      consumerUrl,
      "--admin-url",
      adminUrl,
      "--people",
      `${people}`,
      "--seed",
      `${seed}`,
      "--json"
    ]
    const printed = await Processes.run(
      [main, "rehearse", this.ids[drop], ...flags],
      { ...process.env, LIVE_SECRET_KEY: this.keys.secretKey, SECRET_KEY: this.keys.testSecretKey },
      secondsMax
    )
    return JSON.parse(printed)
  }

  private async journal(id: string): Promise<ReadonlyArray<Recorded>> {
    const found: Array<Recorded> = []
    let after = ""
    for (;;) {
      const { data, pageInfo } = await this.ask("GET", `/distributions/${id}/history?first=100${after}`)
      found.push(...data)
      if (data.length < 100) return found
      after = `&after=${encodeURIComponent(pageInfo.endCursor)}`
    }
  }

  /** Asks the Admin API as the shop's server, in test mode. */
  ask(method: string, path: string, body?: object) {
    return askAdmin(this.servers[0]!, this.keys.testSecretKey, method, path, body)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.servers.toReversed()) await server[Symbol.asyncDispose]()
  }
}

/** Creates the drops, and the stock: the line sells 300 units, the release 100, and the waitlist what is left. */
const createDrops = async (
  asBrand: (method: string, path: string, body?: object) => Promise<any>
): Promise<Readonly<Record<Drop, string>>> => {
  const variants = [{ sku: "coat", price: "120", inventoryQuantity: pairs, inventoryPolicy: "deny" }]
  const product = await asBrand("POST", "/products", { name: "Coat", variants })
  const stock = await asBrand("POST", "/stocks", { name: "Coats", variantIds: [product.variants[0].id] })
  const six = await asBrand("POST", "/experiences", dropOf(product.id))
  const { id, sequences } = await asBrand("POST", "/experiences", dropOf(product.id, stock.id))
  const [everybody, friends] = sequences
  const takers = [
    { distributionId: everybody.queues[0].id, upTo: 300 },
    { distributionId: friends.timedReleases[0].id, upTo: 100, from: day(19) },
    { distributionId: friends.waitlist.id, from: day(22) }
  ]
  await asBrand("PUT", `/stocks/${stock.id}`, { takers })
  return { six: six.id, stock: id }
}

/** An event as text, without the id of its stock, which each rehearsal has of its own. */
const textOf = (event: Recorded | undefined) => JSON.stringify(event)?.replace(/"stockId":"[^"]*"/, "")

/** Returns how two sets of journals differ, in words; nothing if they are equal. */
export const differences = (one: Played, other: Played): ReadonlyArray<string> =>
  one.report.mechanisms.flatMap(({ name }, mechanism) => {
    const [events, others] = [one.journals[mechanism]!, other.journals[mechanism]!]
    const texts = others.map(textOf)
    const index = events.findIndex((event, place) => textOf(event) !== texts[place])
    if (index < 0 && events.length === others.length) return []
    const place = index < 0 ? events.length : index
    return [`${name}, event ${place}: ${JSON.stringify(events[place])}, and then ${texts[place]}`]
  })

/** Kills a server while the test clock advances, and starts it again, so often. Returns how often it did. */
export const killWhileAdvancing = async (stage: Stage, kills: number, dice: Dice, isPlaying: () => boolean) => {
  let [killed, lastNow] = [0, ""]
  while (killed < kills && isPlaying()) {
    const clock = await stage.ask("GET", "/test-clock").catch(() => undefined)
    if (clock?.status !== "ADVANCING" || clock.now === lastNow) {
      await Processes.pause(1)
      continue
    }
    lastNow = clock.now
    await Processes.pause(dice.between(0, 15))
    const server = dice.pick(stage.servers)
    await server.kill()
    await server.start()
    killed++
  }
  return killed
}
