/**
 * A crowd at a shop behind nginx and `usher gate`: ten times as many visitors as may be inside. The shop itself counts.
 * Before and after the crowd few visitors come, and none of them may notice anything.
 */
import { Apis } from "../../support/Apis.ts"
import { aLine, GatedShop, type Line } from "../../support/gates/GatedShop.ts"
import type { ProxyName } from "../../support/gates/Proxies.ts"
import { pause } from "../../support/Processes.ts"
import { ServerUnderTest } from "../../support/ServerUnderTest.ts"
import { RoomVisitor } from "./RoomVisitor.ts"

export interface Options {
  /** Seconds of the crowd. */
  readonly seconds: number
  readonly insideLimit: number
  readonly proxy?: ProxyName
}

export interface Figures {
  readonly arrivalsPerSecond: number
  readonly ratePerSecond: number
  quiet: { visitors: number; redirects: number }
  crowd: { visitors: number; entered: number; redirects: number; waited: number }
  /** Statuses of new visitors that are neither the shop's nor the way to the room, and errors of connections. */
  readonly others: { [status: string]: number }
  /** Page views of visitors who were inside, and those that were refused. */
  views: number
  refused: number
  /** As the shop has seen it. */
  insideMax: number
  newInTenSecondsMax: number
  /** From the first visitor of the crowd to the first who is led to the room; from the last one to a queue without a line. */
  engagedMillis: number
  disengagedMillis: number
  /** When the first visitors got what they must not, in seconds, and what the gate said. */
  readonly notes: Array<string>
  /** The longest time for which this process itself did not run. It says how slow, or frozen, the machine was. */
  pausedMillisMax: number
}

/**
 * Seconds for which a visitor looks at pages, one a second, and after which one that is not seen is outside. A gate says
 * that it has seen a visitor up to half of `idle` later, and a second more, so that a slow machine has three seconds.
 */
const stay = 18
const idle = 12

/** One of so many visitors who are led to the room waits there; the others give up. */
const patientEach = 12

const quietSeconds = 20
const pauseLookMillis = 50
const notesMax = 5
const patienceSeconds = 120

export async function siteCrowdProof({ seconds, insideLimit, proxy = "nginx" }: Options): Promise<Figures> {
  const ratePerSecond = Math.ceil((insideLimit / (stay + idle)) * 1.5)
  // Each visitor is inside for its stay, and idle until that is noticed.
  const arrivalsPerSecond = Math.ceil((10 * insideLimit) / (stay + idle))
  await using server = await ServerUnderTest.make({ settings: { TRUSTED_PROXIES: "127.0.0.0/8" } })
  await server.start()
  using apis = new Apis(server, await server.createOrganization())
  await apis.change("/organizations/me", { challenge: { mode: "off" } })
  const admissionRenewal = { idleSeconds: idle, maxSeconds: 3_600 }
  const line = await aLine(apis, { insideLimit, admitRate: ratePerSecond * 60, admissionRenewal })
  await using site = await GatedShop.make(proxy, server, line)
  const crowd = new Crowd(site, line, { arrivalsPerSecond, ratePerSecond })
  await crowd.play(seconds, insideLimit)
  crowd.figures.notes.push(...site.gate.log.split("\n").filter((one) => / (WARN|ERROR) |out of reach|again/.test(one)))
  return crowd.figures
}

class Crowd {
  readonly figures: Figures
  private readonly site: GatedShop
  private readonly line: Line
  private number = 0
  private redirectedAt = Number.NaN
  private readonly beganAt = performance.now()
  /** When the shop has seen each visitor first and last. */
  private readonly seen = new Map<string, { readonly first: number; last: number }>()

  constructor(site: GatedShop, line: Line, rates: Pick<Figures, "arrivalsPerSecond" | "ratePerSecond">) {
    this.site = site
    this.line = line
    this.figures = {
      ...rates,
      quiet: { visitors: 0, redirects: 0 },
      crowd: { visitors: 0, entered: 0, redirects: 0, waited: 0 },
      others: {},
      views: 0,
      refused: 0,
      insideMax: 0,
      newInTenSecondsMax: 0,
      engagedMillis: Number.NaN,
      disengagedMillis: Number.NaN,
      notes: [],
      pausedMillisMax: 0
    }
    site.shop.seenMax = 0
    site.shop.onRequest = ({ headers, isProtected }) => this.count(headers.cookie ?? "", isProtected)
  }

  async play(seconds: number, insideLimit: number): Promise<void> {
    const watching = this.watchPauses()
    await this.playedOut(seconds, insideLimit)
    clearInterval(watching)
    this.conclude()
  }

  private watchPauses(): NodeJS.Timeout {
    let before = performance.now()
    return setInterval(() => {
      const now = performance.now()
      this.figures.pausedMillisMax = Math.max(this.figures.pausedMillisMax, now - before - pauseLookMillis)
      before = now
    }, pauseLookMillis)
  }

  private async playedOut(seconds: number, insideLimit: number): Promise<void> {
    const { figures } = this
    // Half of what may be inside, and of the rate.
    const quietPerSecond = Math.min(insideLimit / (stay + idle), figures.ratePerSecond) / 2
    const quiet = () => this.come(quietSeconds, quietPerSecond, () => this.quiet())
    await quiet()
    const began = performance.now()
    await this.come(seconds, figures.arrivalsPerSecond, () => this.inCrowd())
    figures.engagedMillis = this.redirectedAt - began
    const ended = performance.now()
    await this.untilNobodyWaits()
    figures.disengagedMillis = performance.now() - ended
    await pause((stay + idle) * 1_000)
    await quiet()
  }

  /** Has visitors come in even steps. Returns after the last of them has gone. */
  private async come(seconds: number, perSecond: number, visit: () => Promise<void>): Promise<void> {
    const began = performance.now()
    const all: Array<Promise<void>> = []
    for (let index = 0; index < seconds * perSecond; index++) {
      const due = began + (index / perSecond) * 1_000
      await pause(Math.max(0, due - performance.now()))
      // A connection that breaks is neither the shop's answer nor the way to the room.
      all.push(visit().catch((error: unknown) => this.note(String(error))))
    }
    await Promise.all(all)
  }

  private second(): string {
    return ((performance.now() - this.beganAt) / 1_000).toFixed(1)
  }

  private aVisitor(): RoomVisitor {
    return new RoomVisitor(this.site, this.line, [["visitor", `${this.number++}`]])
  }

  private async quiet(): Promise<void> {
    const { quiet } = this.figures
    quiet.visitors += 1
    const visitor = this.aVisitor()
    const { status } = await visitor.visit("/checkout")
    if (status === 200) return this.stays(visitor)
    if (status === 303) quiet.redirects += 1
    else this.note(status)
  }

  private async inCrowd(): Promise<void> {
    const { crowd } = this.figures
    const visitor = this.aVisitor()
    const isPatient = crowd.visitors++ % patientEach === 0
    const first = await visitor.visit("/checkout")
    if (first.status === 303) {
      crowd.redirects += 1
      if (Number.isNaN(this.redirectedAt)) this.redirectedAt = performance.now()
      if (!isPatient) return
      const back = await visitor.waited(first)
      crowd.waited += 1
      if (back.status !== 303) return this.note(back.status)
    } else if (first.status !== 200) return this.note(first.status)
    crowd.entered += 1
    await this.stays(visitor)
  }

  /** Looks at a page a second. Nobody inside may be refused. */
  private async stays(visitor: RoomVisitor): Promise<void> {
    for (let view = 0; view < stay; view++) {
      await pause(1_000)
      this.figures.views += 1
      const { status } = await visitor.visit(`/checkout/${view}`)
      if (status === 200) continue
      if (this.figures.refused++ < notesMax)
        this.figures.notes.push(`${this.second()} s: inside, ${status} at view ${view}`)
    }
  }

  private async untilNobodyWaits(): Promise<void> {
    for (let second = 0; second < patienceSeconds; second++) {
      const answer = await fetch(`${this.site.gate.url}/health`)
      const { isReachable } = (await answer.json()) as { readonly isReachable: boolean }
      const visitor = this.aVisitor()
      if (isReachable && (await visitor.visit("/checkout")).status === 200) return this.stays(visitor)
      await pause(1_000)
    }
    throw new Error(`the queue is engaged ${patienceSeconds} s after the crowd`)
  }

  private note(status: number | string): void {
    if ((this.figures.others[status] ?? 0) < notesMax) this.figures.notes.push(`${this.second()} s: ${status}`)
    this.figures.others[status] = (this.figures.others[status] ?? 0) + 1
  }

  /** What the shop counts by a cookie of its own. */
  private count(cookie: string, isProtected: boolean): void {
    const visitor = /(?:^|; )visitor=(\d+)/.exec(cookie)?.[1]
    if (visitor === undefined || !isProtected) return
    const now = performance.now()
    const known = this.seen.get(visitor)
    if (known === undefined) this.seen.set(visitor, { first: now, last: now })
    else known.last = now
  }

  private conclude(): void {
    const { figures } = this
    const all = [...this.seen.values()]
    const steps = all.flatMap(({ first, last }) => [[first, 1] as const, [last, -1] as const])
    let inside = 0
    for (const [, step] of steps.toSorted(([a, one], [b, other]) => a - b || other - one)) {
      inside += step
      figures.insideMax = Math.max(figures.insideMax, inside)
    }
    const firsts = all.map(({ first }) => first).toSorted((a, b) => a - b)
    let from = 0
    firsts.forEach((first, index) => {
      while (firsts[from]! < first - 10_000) from++
      figures.newInTenSecondsMax = Math.max(figures.newInTenSecondsMax, index - from + 1)
    })
  }
}
