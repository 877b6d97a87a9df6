/** Limits that a run must not exceed: `p99>250ms,errors>0.1%`. */
import type { Report } from "./Report.ts"

/** A condition under which the run has failed. */
export interface Condition {
  readonly figure: "p50" | "p90" | "p99" | "p999" | "max" | "errors" | "unsent"
  /** Milliseconds, or a share from 0 to 1. */
  readonly most: number
  readonly text: string
}

export const conditionShape =
  "conditions such as `p99>250ms,errors>0.1%`; figures are p50, p90, p99, p999, max, errors and unsent"

/** Reads conditions; undefined if one has another shape. */
export function parseConditions(text: string): ReadonlyArray<Condition> | undefined {
  const conditions = text.split(",").map((part): Condition | undefined => {
    const time = /^(p50|p90|p99|p999|max)>(\d+(?:\.\d+)?)(ms|s)$/.exec(part.trim())
    if (time !== null) {
      const most = Number(time[2]) * (time[3] === "s" ? 1_000 : 1)
      return { figure: time[1] as Condition["figure"], most, text: part.trim() }
    }
    const share = /^(errors|unsent)>(\d+(?:\.\d+)?)%$/.exec(part.trim())
    if (share === null) return undefined
    return { figure: share[1] as Condition["figure"], most: Number(share[2]) / 100, text: part.trim() }
  })
  return conditions.some((condition) => condition === undefined) ? undefined : (conditions as ReadonlyArray<Condition>)
}

/** Returns the conditions that hold, with the measured values, and the proofs that failed. */
export function failuresOf(report: Report, conditions: ReadonlyArray<Condition>): ReadonlyArray<string> {
  const { latency, totals } = report
  const shares = {
    errors: totals.errors / Math.max(1, totals.requests),
    unsent: totals.unsent / Math.max(1, totals.due)
  }
  const held = conditions.flatMap(({ figure, most, text }) => {
    if (figure === "errors" || figure === "unsent") {
      return shares[figure] > most ? [`${text}: ${(shares[figure] * 100).toFixed(2)} %`] : []
    }
    const found = latency[figure]
    // Without one entry the figure is unknown, which is no success.
    return found === null || found > most ? [`${text}: ${found === null ? "no entry" : `${found.toFixed(1)} ms`}`] : []
  })
  return [...held, ...report.proofs.filter(({ holds }) => !holds).map(({ claim, detail }) => `${claim}: ${detail}`)]
}
