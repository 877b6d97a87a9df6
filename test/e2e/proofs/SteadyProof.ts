/**
 * Runs a server under the same load for any time: guests enter, read, bid, book, buy and leave, streams open and close,
 * and mechanisms of every kind are created, ended and archived. The proof samples the server's memory after garbage
 * collections. It must not grow.
 */
import { Effect } from "effect"
import { heapBytes } from "../../../bench/setup/Inspector.ts"
import { openStream } from "../../http/support/eventStream.ts"
import { Apis, type Guest } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import { Ledger } from "../load/Ledger.ts"
import { type Guests, Load } from "../load/Load.ts"
import * as Mechanisms from "../load/Mechanisms.ts"
import { freePort, pause } from "../support/Processes.ts"
import { main, ServerUnderTest } from "../support/ServerUnderTest.ts"
import { type Loaded, pathOf } from "../load/Visits.ts"

/** One measurement of the memory. */
export interface Sample {
  /** Seconds since the load began. */
  readonly seconds: number
  /** Heap and buffers after garbage collections. */
  readonly heapBytes: number
}

export interface Figures {
  readonly samples: ReadonlyArray<Sample>
  requests: number
  streams: number
  created: number
  archived: number
  readonly violations: Array<string>
}

export interface Options {
  /** The duration of the load. */
  readonly seconds: number
  /** Seconds between samples. */
  readonly sampleSeconds: number
  readonly seed: number
  /** Guests that visit at the same time. Default: 8. */
  readonly workers?: number
  readonly onSample?: (sample: Sample, figures: Figures) => void
}

/** The development of the memory over the samples. */
export interface Course {
  /** Medians of the second and of the last quarter; the first quarter is the warm-up. */
  readonly secondQuarter: number
  readonly lastQuarter: number
  /** The slope of a line through all samples except the first quarter, in bytes per minute. */
  readonly bytesPerMinute: number
  readonly isFlat: boolean
}

/** The largest growth from the second to the last quarter, as a share of the second. */
export const growthShareMax = 0.05

const restMillisMax = 100
const subscribers = 10
const subscriptionMillisMax = 4_000
const guestsAtOnce = 300
/** The share of guests that a new guest replaces. */
const replacedShare = 0.02

/** The interval of new brief mechanisms, and the number of intervals between new lasting ones. */
const renewalMillis = 2_000
const renewalsPerLasting = 10
/** The time for which mechanisms are in use, and the time from then until they are archived. */
const briefMillis = 6_000
const lastingMillis = 30_000
const leftAloneMillis = 10_000

export async function steadyProof(options: Options): Promise<Figures> {
  const { seconds, sampleSeconds, seed, workers = 8, onSample } = options
  const dice = new Dice(seed)
  const inspectorPort = await freePort()
  await using server = await ServerUnderTest.make()
  await server.start([`--inspect-port=${inspectorPort}`, main, "serve"])
  using apis = new Apis(server, await server.createOrganization(), workers + subscribers)
  const samples: Array<Sample> = []
  const figures: Figures = { samples, requests: 0, streams: 0, created: 0, archived: 0, violations: [] }
  const ledger = new Ledger()
  const guests = await Pool.make(apis, dice)
  const stock = new Stock(apis, dice, ledger, figures)
  await stock.renew()
  const load = new Load(apis, ledger, dice, workers, { restMillisMax, guests })
  load.mechanisms = stock.inUse

  const begun = performance.now()
  const isOver = () => performance.now() - begun >= seconds * 1000 || figures.violations.length > 0
  const noteFailure = (error: unknown) => void figures.violations.push(String(error))
  const renewing = (async () => {
    for (; !isOver(); await pause(renewalMillis)) {
      await stock.renew()
      load.mechanisms = stock.inUse
      await stock.archive()
    }
  })().catch(noteFailure)
  const subscriptions = Array.from({ length: subscribers }, async () => {
    while (!isOver()) {
      const opened = await subscribe(server, apis, guests, stock, dice)
      figures.streams += opened
    }
  }).map((loop) => loop.catch(noteFailure))

  while (!isOver() && server.isRunning) {
    await pause(sampleSeconds * 1000)
    const sample = {
      seconds: (performance.now() - begun) / 1000,
      heapBytes: await heapBytes(server.processId, inspectorPort)
    }
    samples.push(sample)
    figures.requests = ledger.reads + ledger.writes
    onSample?.(sample, figures)
  }
  await Promise.all([renewing, ...subscriptions])
  await load.stop()
  figures.violations.push(...ledger.unexpected)
  if (!server.isRunning) figures.violations.push(`the server has exited:\n${server.log}`)
  return figures
}

/** Returns the development of the memory. */
export function courseOf(samples: ReadonlyArray<Sample>): Course {
  const quarter = Math.floor(samples.length / 4)
  const secondQuarter = median(samples.slice(quarter, 2 * quarter))
  const lastQuarter = median(samples.slice(-quarter))
  return {
    secondQuarter,
    lastQuarter,
    bytesPerMinute: slope(samples.slice(quarter)) * 60,
    isFlat: lastQuarter <= secondQuarter * (1 + growthShareMax)
  }
}

const median = (samples: ReadonlyArray<Sample>): number =>
  samples.map(({ heapBytes }) => heapBytes).toSorted((a, b) => a - b)[samples.length >> 1] ?? Number.NaN

/** Returns the slope of the least-squares line through the samples, in bytes per second. */
function slope(samples: ReadonlyArray<Sample>): number {
  const mean = (of: (sample: Sample) => number) => samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length
  const at = mean(({ seconds }) => seconds)
  const bytes = mean((sample) => sample.heapBytes)
  const spread = mean(({ seconds }) => (seconds - at) ** 2)
  return mean((sample) => (sample.seconds - at) * (sample.heapBytes - bytes)) / spread
}

/** A pool of guests that return. Some are replaced by new ones. */
class Pool implements Guests {
  private readonly idle: Array<Guest>
  private readonly apis: Apis
  private readonly dice: Dice

  private constructor(apis: Apis, dice: Dice, idle: Array<Guest>) {
    this.apis = apis
    this.dice = dice
    this.idle = idle
  }

  static async make(apis: Apis, dice: Dice): Promise<Pool> {
    return new Pool(apis, dice, await Promise.all(Array.from({ length: guestsAtOnce }, () => apis.guest())))
  }

  take(): Promise<Guest> {
    const [guest] = this.idle.splice(this.dice.between(0, this.idle.length - 1), 1)
    return guest === undefined ? this.apis.guest() : Promise.resolve(guest)
  }

  async giveBack(guest: Guest): Promise<void> {
    if (!this.dice.chance(replacedShare)) return void this.idle.push(guest)
    if (this.dice.chance(0.5)) await this.apis.doAs(guest, "/auth/logout")
    this.idle.push(await this.apis.guest())
  }
}

interface Kept {
  readonly mechanism: Loaded
  readonly usedUntil: number
}

/** The mechanisms in use, and unused ones that wait for their archival. */
class Stock {
  private kept: ReadonlyArray<Kept> = []
  private renewals = 0
  private readonly apis: Apis
  private readonly dice: Dice
  private readonly ledger: Ledger
  private readonly figures: Figures

  constructor(apis: Apis, dice: Dice, ledger: Ledger, figures: Figures) {
    this.apis = apis
    this.dice = dice
    this.ledger = ledger
    this.figures = figures
  }

  get inUse(): ReadonlyArray<Loaded> {
    const now = performance.now()
    return this.kept.filter(({ usedUntil }) => usedUntil > now).map(({ mechanism }) => mechanism)
  }

  async renew(): Promise<void> {
    const brief = await Mechanisms.brief(this.apis, this.dice)
    const lasting = this.renewals++ % renewalsPerLasting === 0 ? await Mechanisms.lasting(this.apis) : []
    const now = performance.now()
    const until = (mechanisms: ReadonlyArray<Loaded>, millis: number) =>
      mechanisms.map((mechanism) => ({ mechanism, usedUntil: now + millis }))
    this.kept = [...this.kept, ...until(brief, briefMillis), ...until(lasting, lastingMillis)]
    this.figures.created += brief.length + lasting.length
  }

  /** Archives mechanisms that have been unused for a while. Ends half of them first. */
  async archive(): Promise<void> {
    const before = performance.now() - leftAloneMillis
    const old = this.kept.filter(({ usedUntil }) => usedUntil < before)
    this.kept = this.kept.filter(({ usedUntil }) => usedUntil >= before)
    for (const { mechanism } of old) {
      if (this.dice.chance(0.5)) await this.apis.doAsAdmin("POST", `${pathOf(mechanism)}/end`)
      const { status, body } = await this.apis.doAsAdmin("DELETE", pathOf(mechanism))
      if (status !== 200) this.figures.violations.push(`archiving returned ${status}: ${JSON.stringify(body)}`)
      this.ledger.forget(mechanism.id)
      this.figures.archived += 1
    }
  }
}

/** Subscribes to a place, or as an admin to a mechanism, for a while. Returns the number of streams. */
async function subscribe(
  server: ServerUnderTest,
  apis: Apis,
  guests: Guests,
  stock: Stock,
  dice: Dice
): Promise<number> {
  const { inUse } = stock
  if (inUse.length === 0) {
    await pause(renewalMillis / 10)
    return 0
  }
  const mechanism = dice.pick(inUse)
  const guest = await guests.take()
  const stream = await Effect.runPromise(
    dice.chance(0.2)
      ? openStream(server.adminUrl, `/api/distributions/${mechanism.id}/events`, apis.asShop)
      : openStream(server.consumerUrl, `/api${pathOf(mechanism)}/events`, apis.as(guest))
  )
  if (stream.status !== 200) throw new Error(`a stream of a ${mechanism.kind} returned ${stream.status}`)
  await pause(dice.between(100, subscriptionMillisMax))
  await Effect.runPromise(stream.leave)
  await guests.giveBack(guest)
  return 1
}
