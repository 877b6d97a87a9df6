/** Plays a drop of six mechanisms over thirty days with `usher rehearse`, and compares what happened. */
import { main, type Keys, ServerUnderTest } from "../support/ServerUnderTest.ts"
import * as Processes from "../support/Processes.ts"

const dayMillis = 86_400_000
const openAt = Date.parse("2033-06-01T16:00:00Z")

/** The instant so many days after the opening. */
const day = (days: number) => new Date(openAt + days * dayMillis).toISOString()

const hours = Object.fromEntries(
  ["monday", "tuesday", "wednesday", "thursday", "friday"].map((weekday) => [weekday, [{ from: "09:00", to: "17:00" }]])
)

/** One mechanism of each kind, from the first sign-up to the last slot. */
const drop = {
  name: "The coat",
  timeZone: "UTC",
  currencyCode: "EUR",
  openAt: day(-1),
  closeAt: day(29),
  sequences: [
    {
      name: "Everybody",
      waitlist: { name: "Tell me", openAt: day(-1), closeAt: day(0) },
      queues: [
        {
          name: "The line",
          lobbyOpenAt: day(-1 / 48),
          openAt: day(0),
          closeAt: day(1),
          admitRate: 60,
          maxAdmissions: 300,
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
        { name: "The rest", openAt: day(20), closeAt: day(21), capacity: 200, admissionExpirationSeconds: 900 }
      ],
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
}

/** The report of a rehearsal as JSON, as far as it is read here. */
export interface Report {
  readonly seconds: number
  readonly mechanisms: ReadonlyArray<{ readonly id: string; readonly name: string; readonly people: number }>
}

/** A server with a live drop. */
export class Stage {
  readonly server: ServerUnderTest
  private readonly keys: Keys
  private readonly experienceId: string

  static async make(settings: NodeJS.ProcessEnv = {}): Promise<Stage> {
    const server = await ServerUnderTest.make({ settings })
    await server.start()
    const keys = await server.createOrganization()
    const { id } = await ask(server, keys.secretKey, "POST", "/experiences", drop)
    return new Stage(server, keys, id)
  }

  private constructor(server: ServerUnderTest, keys: Keys, experienceId: string) {
    this.server = server
    this.keys = keys
    this.experienceId = experienceId
  }

  /** Plays the drop to its end. Fails unless it exits with success. */
  async rehearse(people: number, seed: number, environment: NodeJS.ProcessEnv = {}): Promise<Report> {
    const { adminUrl, consumerUrl } = this.server
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
    const printed = await Processes.run([main, "rehearse", this.experienceId, ...flags], {
      ...process.env,
      LIVE_SECRET_KEY: this.keys.secretKey,
      SECRET_KEY: this.keys.testSecretKey,
      ...environment
    })
    return JSON.parse(printed)
  }

  /** Asks the Admin API as the shop's server, in test mode. */
  ask(method: string, path: string, body?: object) {
    return ask(this.server, this.keys.testSecretKey, method, path, body)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]()
  }
}

const ask = async (server: ServerUnderTest, key: string, method: string, path: string, body?: object) => {
  const response = await fetch(`${server.adminUrl}/api${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) })
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}
