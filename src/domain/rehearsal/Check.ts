/** The check of a drop: everything that looks wrong with it, errors first. It reads settings alone, and changes nothing. */
import { type CheckedDrop, mechanismsOf, quoted } from "./CheckedDrop.ts"
import { error, type Finding, warning } from "./Finding.ts"
import { surroundingFindings } from "./Surroundings.ts"
import { termFindings } from "./Terms.ts"
import { timeFindings } from "./Times.ts"
import { unitFindings } from "./Units.ts"

/** Returns what looks wrong; nothing if the drop looks right. */
export const check = (drop: CheckedDrop): ReadonlyArray<Finding> => {
  const findings = [
    ...emptyFindings(drop),
    ...timeFindings(drop),
    ...termFindings(drop),
    ...unitFindings(drop),
    ...surroundingFindings(drop)
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
