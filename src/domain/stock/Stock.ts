/**
 * The stock: how many units of a set of variants there are, and which mechanism gets them. It is decided like a mechanism
 * and has no consumers. This file declares it. Evolve contains what events change, Decide what commands lead to, Turns
 * who is next.
 *
 * Every unit is in one place at each instant: free here, with a mechanism, under way, or sold. A mechanism grants from
 * its own units and asks nobody. A worker carries what the sides say to each other, as often as needed.
 */
import { deciderOf } from "../mechanism/Declaration.ts"
import type { Decider } from "../mechanism/Decider.ts"
import type { UnitsReport } from "../mechanism/UnitProtocol.ts"
import { teardownWhen, type TimedTransition } from "../mechanism/Timed.ts"
import type { Millis } from "../values/Time.ts"
import { Configuration } from "./Configuration.ts"
import * as rules from "./Decide.ts"
import { Event } from "./Event.ts"
import { apply } from "./Evolve.ts"
import type { Command, Facts, Refusal, Reports } from "./Protocol.ts"
import { initial, isComplete, levelOf, type State } from "./State.ts"
import { givingBack, mayReturn, type Turn } from "./Turns.ts"

export { Configuration } from "./Configuration.ts"
export { Event } from "./Event.ts"
export type { Command, Facts, Refusal } from "./Protocol.ts"
export type { State } from "./State.ts"

/** Returns where the units are. */
const facts = ({ onHand, free, soldByOrders, soldByMechanisms, accounts }: State): Facts => {
  const all = [...accounts.values()]
  return {
    onHand,
    free,
    underway: all.reduce((sum, { underway }) => sum + (underway?.units ?? 0), 0),
    sold: soldByOrders + soldByMechanisms,
    accounts: [...accounts].map(([distributionId, { allocated, sold, taken, underway }]) => ({
      distributionId,
      allocated,
      sold,
      taken,
      ...(underway !== undefined && { underway })
    }))
  }
}

/** Returns the units that mechanisms are to give back to a stock with these settings and facts. */
export const asked = (
  { takers }: Configuration,
  { free, accounts }: Facts,
  { reports }: Reports,
  at: Millis
): ReadonlyArray<Turn> => {
  const underway = new Map(accounts.map((account) => [account.distributionId, account.underway?.units ?? 0]))
  return givingBack({ takers, free, reports, underwayTo: (id) => underway.get(id) ?? 0 }, at)
}

/** Returns whether units of a stock with these settings and facts may still come to a mechanism that has none free. */
export const mayReturnTo = (
  { takers }: Configuration,
  { free, underway, accounts }: Facts,
  distributionId: string,
  report: UnitsReport
): boolean => {
  const elsewhere = accounts.reduce(
    (sum, account) => sum + (account.distributionId === distributionId ? 0 : account.allocated),
    free + underway
  )
  return mayReturn({ takers }, distributionId, report, elsewhere)
}

/** Records that the level has changed. */
const levelling: TimedTransition<State, Event> = {
  dueAt: (state) =>
    state.sequence > 0 && state.closedAt === Infinity && state.level !== levelOf(state) ? state.lastAt : Infinity,
  make: (state, at) => ({ _tag: "LevelChanged", at, level: levelOf(state) })
}

export const decider: Decider<Configuration, State, Command, Event, Refusal, undefined, Facts> = deciderOf(
  {
    initial,
    apply,
    rules,
    timed: [levelling, teardownWhen<State>(isComplete)],
    views: { view: () => undefined, place: () => undefined, facts }
  },
  {
    schemas: { configuration: Configuration, event: Event },
    nonRecordEvents: [
      "UnitsLeft",
      "UnitsTaken",
      "UnitsRecalled",
      "UnitsCame",
      "SalesNoted",
      "OrderCounted",
      "OrderCancelled"
    ],
    publishedFacts: ({ onHand, adjustedFor = null, level = null }) => ({ onHand, adjustedFor, level }),
    rated: { entries: [], grants: [] }
  }
)
