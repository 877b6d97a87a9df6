/**
 * The mechanisms of a load, of every kind and regularly renewed. Compares the responses that clients received with the
 * journal: nothing acknowledged is lost, no read shows an unrecorded state, and the invariants hold.
 */
import type { Apis } from "../support/Apis.ts"
import type { Dice } from "../support/Dice.ts"
import { DrawProofs } from "./DrawProofs.ts"
import { type Kind, projectionErrors, read } from "../invariants/Invariants.ts"
import type { Recorded } from "../invariants/Reader.ts"
import type { Ledger } from "./Ledger.ts"
import type { Load } from "./Load.ts"
import * as Mechanisms from "./Mechanisms.ts"
import type { Loaded } from "./Visits.ts"

/** The results of the comparison. */
export interface Findings {
  /** Acknowledged writes. */
  acknowledged: number
  /** Acknowledged writes and read states that are missing from the journal. */
  lost: number
  reads: number
  events: number
  /** Grants of queues, and the equivalents of other kinds: wins, units, bookings. */
  readonly grants: { readonly [K in Kind]: number }
  /** Drawn draws whose proofs were verified. */
  draws: number
  inversions: number
  /** Every broken invariant and every unexpected response, in words. */
  readonly violations: Array<string>
}

export const noFindings = (): Findings => ({
  acknowledged: 0,
  lost: 0,
  reads: 0,
  events: 0,
  grants: { queue: 0, draw: 0, auction: 0, timed_release: 0, appointment: 0, waitlist: 0 },
  draws: 0,
  inversions: 0,
  violations: []
})

/** Returns the number of grants by kind, for printing. */
export const grantFigures = ({ grants, draws }: Findings): { readonly [what: string]: number } => ({
  "grants of queues": grants.queue,
  "wins of draws": grants.draw,
  "draws drawn, proofs recomputed": draws,
  "units won in auctions": grants.auction,
  "units of timed releases": grants.timed_release,
  bookings: grants.appointment
})

/** Returns the acknowledged writes and the recorded events, for printing. */
export const recordFigures = ({
  acknowledged,
  lost,
  reads,
  events
}: Findings): { readonly [what: string]: number } => ({
  "acknowledged writes": acknowledged,
  lost,
  "reads compared with the journal": reads,
  "events in the journal": events
})

/** The number of rounds for which brief mechanisms are in use. */
const briefRounds = 2

export class Setup {
  private readonly histories = new Map<string, ReadonlyArray<Recorded>>()
  private readonly proofs: DrawProofs
  private readonly all: Array<Loaded> = []
  private readonly apis: Apis
  private lasting: ReadonlyArray<Loaded> = []
  private brief: Array<ReadonlyArray<Loaded>> = []

  /** Creates the first mechanisms. */
  static async make(apis: Apis, dice: Dice): Promise<Setup> {
    const setup = new Setup(apis)
    await setup.renewLasting()
    await setup.addBrief(dice)
    return setup
  }

  private constructor(apis: Apis) {
    this.apis = apis
    this.proofs = new DrawProofs(apis)
  }

  /** The mechanisms in use. */
  get mechanisms(): ReadonlyArray<Loaded> {
    return [...this.lasting, ...this.brief.flat()]
  }

  async renewLasting(): Promise<void> {
    this.lasting = await Mechanisms.lasting(this.apis)
    this.all.push(...this.lasting)
  }

  async addBrief(dice: Dice): Promise<void> {
    const brief = await Mechanisms.brief(this.apis, dice)
    this.brief = [...this.brief, brief].slice(-briefRounds)
    this.all.push(...brief)
  }

  /** Compares responses with the current journal, for the mechanisms in use. */
  async check(ledger: Ledger, findings: Findings): Promise<void> {
    const { apis, histories, proofs } = this
    for (const { id, kind, isRenewed } of this.mechanisms) {
      const before = await apis.history(id, histories.get(id))
      const places = await apis.places(id)
      const history = await apis.history(id, before)
      histories.set(id, history)
      const missing = ledger.missing(id, history)
      findings.lost += missing.length
      const strangers = isRenewed === true ? ledger.strangers(id, history) : 0
      const problems = [
        ...(strangers > 0 ? [`${strangers} visitors have a place of which no answer spoke`] : []),
        ...missing.map((event) => `acknowledged but not in the journal: ${event}`),
        ...projectionErrors(history, before.length, places, kind),
        ...read(history, kind).violations,
        ...(kind === "draw" ? await proofs.check(id, history) : [])
      ]
      findings.violations.push(...problems.map((problem) => `${kind} ${id}: ${problem}`))
    }
    findings.acknowledged = ledger.writes
    findings.reads = ledger.reads
  }

  /** Pauses the load, compares, and gives the load new brief mechanisms, and new lasting ones if they are due. */
  async checkUnder(load: Load, ledger: Ledger, findings: Findings, dice: Dice, isLastingDue = false): Promise<void> {
    const resume = await load.paused()
    try {
      await this.check(ledger, findings)
      if (isLastingDue) await this.renewLasting()
      await this.addBrief(dice)
    } finally {
      resume()
    }
    load.mechanisms = this.mechanisms
  }

  /**
   * Compares the responses in a ledger with another server, whose database is a copy from after they were given. Returns
   * the problems, in words.
   */
  async checkCopy(copy: Apis, ledger: Ledger): Promise<ReadonlyArray<string>> {
    const problems: Array<string> = []
    for (const { id, kind } of this.mechanisms) {
      const copied = await copy.history(id)
      const source = await this.apis.history(id)
      const changed = copied.findIndex((event, index) => !isSame(event, source[index]))
      const found = [
        ...ledger.missing(id, copied).map((event) => `acknowledged before the snapshot, and not in it: ${event}`),
        ...(changed < 0 ? [] : [`event ${changed + 1} differs from the source's`]),
        ...projectionErrors(copied, copied.length, await copy.places(id), kind),
        ...read(copied, kind).violations
      ]
      problems.push(...found.map((problem) => `${kind} ${id}, restored: ${problem}`))
    }
    return problems
  }

  /** Compares again for all mechanisms, with newly read histories: recorded events must still exist, unchanged. */
  async summarize(ledger: Ledger, findings: Findings): Promise<void> {
    const { apis, histories, proofs } = this
    findings.lost = 0
    for (const { id, kind } of this.all) {
      const history = await apis.history(id)
      const reading = read(history, kind)
      findings.events += history.length
      Object.assign(findings.grants, { [kind]: findings.grants[kind] + reading.grants })
      findings.inversions += reading.inversions
      const missing = ledger.missing(id, history)
      findings.lost += missing.length
      const problems = [
        ...missing.map((event) => `acknowledged but not in the journal: ${event}`),
        ...reading.violations
      ]
      const changed = histories.get(id)?.findIndex((event, index) => !isSame(event, history[index])) ?? -1
      if (changed >= 0) problems.push(`event ${changed + 1} has changed`)
      if (kind === "draw") problems.push(...(await proofs.check(id, history)))
      findings.violations.push(...problems.map((problem) => `${kind} ${id}, at the end: ${problem}`))
    }
    findings.draws = proofs.drawn
    findings.acknowledged = ledger.writes
    findings.reads = ledger.reads
    findings.violations.push(...ledger.unexpected)
    if (ledger.overtaken > 0) findings.violations.push(`${ledger.overtaken} positions increased`)
  }
}

/** A seed is visible only after the drawing. */
const isSame = (a: Recorded, b: Recorded | undefined): boolean =>
  a.type === "SeedDrawn" ? b?.type === a.type && b.at === a.at : JSON.stringify(a) === JSON.stringify(b)
