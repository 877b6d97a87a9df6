/**
 * The mechanisms that a load uses, of every kind and renewed again and again, and the comparison of what clients were told
 * of them with what is on record: nothing acknowledged is lost, nothing unrecorded was ever seen, and the invariants hold.
 */
import type { Apis } from "../support/Apis.ts"
import type { Dice } from "../support/Dice.ts"
import { DrawProofs } from "./DrawProofs.ts"
import { type Kind, projectionErrors, read } from "../invariants/Invariants.ts"
import type { Recorded } from "../invariants/Reader.ts"
import type { Ledger } from "./Ledger.ts"
import * as Mechanisms from "./Mechanisms.ts"
import type { Loaded } from "./Visits.ts"

/** What the comparison found. */
export interface Findings {
  /** Writes that were answered. */
  acknowledged: number
  /** Answered writes and seen states that are not on record. */
  lost: number
  reads: number
  events: number
  /** Grants of queues, and everywhere what corresponds to one: wins, units, bookings. */
  readonly grants: { readonly [K in Kind]: number }
  /** Draws that were drawn, their proofs recomputed. */
  draws: number
  inversions: number
  /** Every broken invariant and every unexpected answer, in words. */
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

/** What was given out, by kind, in words; for printing. */
export const grantFigures = ({ grants, draws }: Findings): { readonly [what: string]: number } => ({
  "grants of queues": grants.queue,
  "wins of draws": grants.draw,
  "draws drawn, proofs recomputed": draws,
  "units won in auctions": grants.auction,
  "units of timed releases": grants.timed_release,
  bookings: grants.appointment
})

/** What was told and what is on record, in words; for printing. */
export const recordFigures = ({
  acknowledged,
  lost,
  reads,
  events
}: Findings): { readonly [what: string]: number } => ({
  "acknowledged writes": acknowledged,
  lost,
  "reads held against the record": reads,
  "events on record": events
})

/** Brief mechanisms are in use for so many rounds. */
const briefRounds = 2

export class Ground {
  private readonly histories = new Map<string, ReadonlyArray<Recorded>>()
  private readonly proofs: DrawProofs
  private readonly all: Array<Loaded> = []
  private readonly apis: Apis
  private lasting: ReadonlyArray<Loaded> = []
  private brief: Array<ReadonlyArray<Loaded>> = []

  /** With the mechanisms of a beginning. */
  static async make(apis: Apis, dice: Dice): Promise<Ground> {
    const ground = new Ground(apis)
    await ground.renewLasting()
    await ground.addBrief(dice)
    return ground
  }

  private constructor(apis: Apis) {
    this.apis = apis
    this.proofs = new DrawProofs(apis)
  }

  /** Those in use. */
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

  /** What was told against what is on record now, for the mechanisms in use. */
  async check(ledger: Ledger, findings: Findings): Promise<void> {
    const { apis, histories, proofs } = this
    for (const { id, kind } of this.mechanisms) {
      const before = await apis.history(id, histories.get(id))
      const places = await apis.places(id)
      const history = await apis.history(id, before)
      histories.set(id, history)
      const missing = ledger.missing(id, history)
      findings.lost += missing.length
      const problems = [
        ...missing.map((event) => `told but not on record: ${event}`),
        ...projectionErrors(history, before.length, places, kind),
        ...read(history, kind).violations,
        ...(kind === "draw" ? await proofs.check(id, history) : [])
      ]
      findings.violations.push(...problems.map((problem) => `${kind} ${id}: ${problem}`))
    }
    findings.acknowledged = ledger.writes
    findings.reads = ledger.reads
  }

  /** The same once more for all mechanisms, read afresh: what was once on record is still there, unchanged. */
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
      const problems = [...missing.map((event) => `told but not on record: ${event}`), ...reading.violations]
      const changed = histories.get(id)?.findIndex((event, index) => !isSame(event, history[index])) ?? -1
      if (changed >= 0) problems.push(`event ${changed + 1} is not what it was`)
      if (kind === "draw") problems.push(...(await proofs.check(id, history)))
      findings.violations.push(...problems.map((problem) => `${kind} ${id}, at the end: ${problem}`))
    }
    findings.draws = proofs.drawn
    findings.acknowledged = ledger.writes
    findings.reads = ledger.reads
    findings.violations.push(...ledger.unexpected)
    if (ledger.overtaken > 0) findings.violations.push(`${ledger.overtaken} positions grew`)
  }
}

/** A seed is shown only when the draw has been drawn. */
const isSame = (a: Recorded, b: Recorded | undefined): boolean =>
  a.type === "SeedDrawn" ? b?.type === a.type && b.at === a.at : JSON.stringify(a) === JSON.stringify(b)
