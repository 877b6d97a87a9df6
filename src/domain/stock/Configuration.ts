/** The settings of a stock. */
import { Schema } from "effect"
import type { SettingProblem } from "../experience/ExperienceWindow.ts"
import { unitsMax } from "../mechanism/Allocation.ts"
import { count, experienceWindow, name } from "../mechanism/Configuring.ts"
import { Id } from "../values/Ids.ts"
import { Timestamp } from "../values/Time.ts"

/** The most mechanisms that sell from one stock. */
export const takersMax = 100

/** The most variants that are sold as one. */
export const variantsMax = 1_000

/** A mechanism that gets units, and how many. Without `units` and `upTo` it gets what remains. */
export const Taker = Schema.Struct({
  distributionId: Id,
  /** A fixed share, reserved while the mechanism is open. */
  units: Schema.optionalKey(count(unitsMax)),
  /** The most units that it gets as people wait for them. */
  upTo: Schema.optionalKey(count(unitsMax)),
  /** Absent: from the beginning. */
  from: Schema.optionalKey(Timestamp)
})
export type Taker = typeof Taker.Type

export const Configuration = Schema.Struct({
  name,
  /** The variants that the units are of. They are sold as one. */
  variantIds: Schema.Array(Id).check(Schema.isMinLength(1), Schema.isMaxLength(variantsMax)),
  /** The first in the list gets free units first. */
  takers: Schema.Array(Taker).check(Schema.isMaxLength(takersMax)),
  /** Units of cancelled orders are free again. */
  returnsCancelled: Schema.Boolean,
  /** With this many units or fewer that are not sold, the stock is low. Absent: it never is. */
  lowAt: Schema.optionalKey(count(unitsMax)),
  experienceWindow
})
export type Configuration = typeof Configuration.Type

/** Returns the contradictions between settings that are valid by themselves. */
export const configurationProblems = ({
  takers,
  variantIds
}: Configuration): ReadonlyArray<SettingProblem<"takers" | "variantIds">> => {
  const names = new Set(takers.map(({ distributionId }) => distributionId))
  const problems: Array<SettingProblem<"takers" | "variantIds">> = []
  if (new Set(variantIds).size < variantIds.length) {
    problems.push({ field: "variantIds", message: "a variant is in the list once" })
  }
  if (names.size < takers.length) problems.push({ field: "takers", message: "a mechanism is in the list once" })
  if (takers.some(({ units, upTo }) => units !== undefined && upTo !== undefined)) {
    problems.push({ field: "takers", message: "a taker has units or upTo, not both" })
  }
  return problems
}

/** The configuration before the first `Configured` event. */
export const unconfigured: Configuration = { name: "", variantIds: [], takers: [], returnsCancelled: true }
