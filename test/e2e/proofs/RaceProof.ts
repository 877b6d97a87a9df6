/**
 * A hundred consumers race for ten units of a timed release, of a Dutch auction or of an appointment's slot. In some
 * races the server is killed, and consumers without a response retry. In the end exactly ten consumers must have a
 * unit.
 */
import { Apis, type Guest, Unexpected } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import type { HttpAnswer } from "../support/HttpConnections.ts"
import * as Processes from "../support/Processes.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"

export interface Figures {
  races: number
  kills: number
  /** Attempts without a response, or with a 503, that were repeated. */
  repeated: number
  readonly violations: Array<string>
}

const racers = 100
const units = 10
const killMillisMax = 60
const attemptsMax = 6_000

/** One kind of race. */
interface Course {
  readonly name: string
  /** Creates the mechanism. Returns its path on the Consumer API. */
  readonly create: (apis: Apis, sequenceId: string) => Promise<string>
  /** Returns the action and body of a consumer's attempt to obtain a unit. */
  readonly attempt: (apis: Apis, path: string) => Promise<{ readonly action: string; readonly body?: object }>
  /** The path of a consumer's place, and its status with a unit. */
  readonly look: string
  readonly has: string
  /** The error code for late consumers. */
  readonly refusal: string
}

const days = (count: number): string => new Date(Date.now() + count * 86_400_000).toISOString()

const courses: ReadonlyArray<Course> = [
  {
    name: "timed release",
    create: async (apis, sequenceId) =>
      `/timed-releases/${await apis.create("/timed-releases", { sequenceId, name: "race", capacity: units })}`,
    attempt: () => Promise.resolve({ action: "enter" }),
    look: "status",
    has: "ENTERED",
    refusal: "SOLD_OUT"
  },
  {
    name: "dutch auction",
    create: async (apis, sequenceId) => {
      const price = { startPrice: "100", floorPrice: "10", priceDropAmount: "1", priceDropIntervalSeconds: 3600 }
      const auction = { sequenceId, name: "race", auctionType: "dutch", quantity: units, settleAt: days(1), ...price }
      return `/auctions/${await apis.create("/auctions", auction)}`
    },
    attempt: () => Promise.resolve({ action: "bid", body: {} }),
    look: "status",
    has: "WON",
    refusal: "SOLD_OUT"
  },
  {
    name: "appointment slot",
    create: async (apis, sequenceId) => {
      const slots = { slotDurationMinutes: 60, slotsFrom: days(1), slotsUntil: days(8), maxCapacityPerSlot: units }
      return `/appointments/${await apis.create("/appointments", { sequenceId, name: "race", timeZone: "UTC", ...slots })}`
    },
    attempt: async (apis, path) => {
      const query = `startDate=${days(1).slice(0, 10)}&endDate=${days(8).slice(0, 10)}`
      const answer = await apis.consumer.send({
        method: "GET",
        path: `/api${path}/slots?${query}`,
        headers: apis.asShop
      })
      const slots = answer.body as unknown as { readonly data?: ReadonlyArray<{ readonly id: string }> }
      if (slots.data?.[0] === undefined) throw new Unexpected(`GET ${path}/slots`, answer)
      return { action: "book", body: { slotId: slots.data[0].id } }
    },
    look: "me",
    has: "BOOKED",
    refusal: "SLOT_FULL"
  }
]

/** Runs `races` races of each kind. The server is killed in every third. */
export async function raceProof(options: { readonly races: number; readonly seed: number }): Promise<Figures> {
  const dice = new Dice(options.seed)
  await using server = await ServerUnderTest.make()
  await server.start()
  using apis = new Apis(server, await server.createOrganization(), racers)
  const guests = await Promise.all(Array.from({ length: racers }, () => apis.guest()))
  const sequenceId = await apis.createSequence()
  const figures: Figures = { races: 0, kills: 0, repeated: 0, violations: [] }
  for (let race = 0; race < options.races; race++) {
    for (const course of courses) {
      const killAfterMillis = race % 3 === 2 ? dice.between(0, killMillisMax) : undefined
      await run(course, { server, apis, guests, sequenceId, killAfterMillis, figures })
    }
  }
  return figures
}

interface Race {
  readonly server: ServerUnderTest
  readonly apis: Apis
  readonly guests: ReadonlyArray<Guest>
  readonly sequenceId: string
  readonly killAfterMillis: number | undefined
  readonly figures: Figures
}

async function run(course: Course, { server, apis, guests, sequenceId, killAfterMillis, figures }: Race) {
  const path = await course.create(apis, sequenceId)
  const { action, body } = await course.attempt(apis, path)
  const attempt = (guest: Guest) =>
    insist(figures, () =>
      apis.consumer.send({
        method: "POST",
        path: `/api${path}/${action}`,
        headers: apis.as(guest),
        ...(body !== undefined && { body })
      })
    )
  const crash = async () => {
    if (killAfterMillis === undefined) return
    await Processes.pause(killAfterMillis)
    await server.kill()
    await server.start()
    figures.kills += 1
  }
  const [answers] = await Promise.all([Promise.all(guests.map(attempt)), crash()])
  const looks = await Promise.all(
    guests.map((guest) =>
      apis.consumer.send({ method: "GET", path: `/api${path}/${course.look}`, headers: apis.as(guest) })
    )
  )
  figures.races += 1
  const acknowledged = answers.filter(({ status }) => status === 200).length
  const having = looks.filter(({ body }) => body.status === course.has).length
  const late = answers.filter(({ status, body }) => status === 409 && body.code === course.refusal).length
  if (acknowledged !== units || having !== units || late !== racers - units) {
    const killed = killAfterMillis === undefined ? "" : `, killed after ${killAfterMillis} ms`
    figures.violations.push(
      `${course.name}${killed}: ${acknowledged} acknowledged, ${having} with a unit, ${late} refused as late`
    )
  }
}

/** Repeats a request until its response is not a 503. */
async function insist(figures: Figures, send: () => Promise<HttpAnswer>): Promise<HttpAnswer> {
  for (let attempt = 1; attempt < attemptsMax; attempt++) {
    const answer = await send().catch(() => undefined)
    if (answer !== undefined && answer.status !== 503) return answer
    figures.repeated += 1
    await Processes.pause(100)
  }
  return send()
}
