/**
 * Whose turn it is: who gets the free units, and who gives units back for others. It follows from the list of takers and
 * from what the mechanisms say of their units, and from nothing else.
 *
 * Free units go to people who wait, in the order of the list, and to fixed shares of mechanisms that are open. What
 * remains goes to mechanisms in which nobody waits, because people come and take units there. If units are missing, those
 * mechanisms give back what they have not sold; so do others that have more than they need. A unit that a grant holds
 * stays where it is.
 */
import type { UnitsReport } from "../mechanism/UnitProtocol.ts"
import type { Millis } from "../values/Time.ts"
import type { Taker } from "./Configuration.ts"
import type { Reports } from "./Protocol.ts"

/** So many units, for or from a mechanism. */
export interface Turn {
  readonly distributionId: string
  readonly units: number
}

/** The part of a stock that decides. */
interface Ledger extends Reports {
  readonly takers: ReadonlyArray<Taker>
  readonly free: number
  /** Returns the units under way to a mechanism. */
  readonly underwayTo: (distributionId: string) => number
}

/** A mechanism's units, and what it may have. */
interface Standing {
  readonly distributionId: string
  readonly report: UnitsReport
  /** Units that are there or under way to it. */
  readonly units: number
  /** The most units that it may have, besides those that are sold. */
  readonly room: number
  /** Units that it needs and does not have. */
  readonly missing: number
  /** Units that it would sell, although nobody waits for them. */
  readonly shelf: number
}

/** Returns who gets free units. Only one transfer is under way to a mechanism at a time. */
export const sending = (ledger: Ledger, at: Millis): ReadonlyArray<Turn> => {
  const standings = standingsOf(ledger, at)
  const units = new Map<string, number>()
  let { free } = ledger
  for (const want of ["missing", "shelf"] as const) {
    for (const standing of standings) {
      if (ledger.underwayTo(standing.distributionId) > 0) continue
      const given = Math.min(free, standing[want])
      if (given === 0) continue
      units.set(standing.distributionId, (units.get(standing.distributionId) ?? 0) + given)
      free -= given
    }
  }
  return [...units].map(([distributionId, units]) => ({ distributionId, units }))
}

/** Returns who gives units back: what it has beyond its share, and what others miss and it does not need. */
export const givingBack = (ledger: Ledger, at: Millis): ReadonlyArray<Turn> => {
  const standings = standingsOf(ledger, at)
  let missing = standings.reduce((sum, standing) => sum + standing.missing, 0) - ledger.free
  const turns: Array<Turn> = []
  for (const { distributionId, report, units, room } of standings.toReversed()) {
    const idle = report.units - report.held
    const beyond = Math.min(idle, Math.max(0, units - room))
    const isReserved = takerOf(ledger, distributionId)?.units !== undefined && report.isOpen
    const spare = isReserved ? 0 : Math.max(0, idle - report.needed - beyond)
    const asked = beyond + Math.min(spare, Math.max(0, missing - beyond))
    if (asked === 0) continue
    missing -= asked
    turns.push({ distributionId, units: asked })
  }
  return turns
}

/** Returns whether units that are elsewhere in the stock, `outside`, may still come to a mechanism. */
export const mayReturn = (
  ledger: Pick<Ledger, "takers">,
  distributionId: string,
  report: UnitsReport,
  outside: number
): boolean => {
  const room = roomOf(takerOf(ledger, distributionId), report)
  return outside > 0 && !report.isOver && room > report.units
}

/** Returns the standings in the order of the list; behind them, those of mechanisms that are not in it. */
const standingsOf = (ledger: Ledger, at: Millis): ReadonlyArray<Standing> => {
  const listed = new Set(ledger.takers.map(({ distributionId }) => distributionId))
  const others = [...ledger.reports.keys()].filter((distributionId) => !listed.has(distributionId))
  return [...listed, ...others].flatMap((distributionId) => {
    const report = ledger.reports.get(distributionId)
    return report === undefined || report === "gone" ? [] : [standingOf(ledger, distributionId, report, at)]
  })
}

const standingOf = (ledger: Ledger, distributionId: string, report: UnitsReport, at: Millis): Standing => {
  const taker = takerOf(ledger, distributionId)
  const room = roomOf(taker, report)
  const units = report.units + ledger.underwayTo(distributionId)
  const isTurn = taker !== undefined && (taker.from ?? 0) <= at && !report.isOver
  const isReserved = taker?.units !== undefined && report.isOpen
  const wanted = isReserved ? room : Math.min(room, report.held + report.needed)
  const missing = isTurn ? Math.max(0, wanted - units) : 0
  const shelf = isTurn && report.isShelf && report.isOpen ? Math.max(0, room - units - missing) : 0
  return { distributionId, report, units, room, missing, shelf }
}

/** Returns the most units that a mechanism may have, besides those that are sold. */
const roomOf = (taker: Taker | undefined, { sold }: UnitsReport): number =>
  taker === undefined ? 0 : Math.max(0, (taker.units ?? taker.upTo ?? Infinity) - sold)

const takerOf = ({ takers }: Pick<Ledger, "takers">, distributionId: string): Taker | undefined =>
  takers.find((taker) => taker.distributionId === distributionId)
