/** The check of a drop: everything that looks wrong with it, errors first. It reads settings alone, and changes nothing. */
import { type CheckedDrop, mechanismsOf, quoted, stillToRun } from "./CheckedDrop.ts"
import { error, type Finding, warning } from "./Finding.ts"
import { surroundingFindings } from "./Surroundings.ts"
import { termFindings } from "./Terms.ts"
import { timeFindings } from "./Times.ts"
import { unitFindings } from "./Units.ts"

/** Returns what looks wrong; nothing if the drop looks right, or if everything in it has run and is over. */
export const check = (drop: CheckedDrop): ReadonlyArray<Finding> => {
  const left = stillToRun(drop)
  if (mechanismsOf(drop).length > 0 && mechanismsOf(left).length === 0) return []
  const findings = [
    ...emptyFindings(drop),
    ...timeFindings(left),
    ...termFindings(left),
    ...unitFindings(left),
    ...surroundingFindings(left)
  ]
  return [
    ...findings.filter(({ severity }) => severity === "error"),
    ...findings.filter(({ severity }) => severity === "warning")
  ]
}

const emptyFindings = (drop: CheckedDrop): ReadonlyArray<Finding> => {
  const { experience, sequences } = drop
  if (mechanismsOf(drop).length === 0) {
    const message = "Nothing opens in this drop: it has no mechanism."
    return [error("NO_MECHANISM", message, { record: "experience", id: experience.id })]
  }
  return sequences
    .filter(({ mechanisms }) => mechanisms.length === 0)
    .map(({ id, name }) => warning("SEQUENCE_EMPTY", `${quoted(name)} has no mechanism.`, { record: "sequence", id }))
}
