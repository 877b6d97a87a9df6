/** One breach of a rule: its place, the problem, and the remedy. */
export interface Finding {
  readonly path: string
  /** Counted from 1. */
  readonly line: number
  readonly problem: string
  readonly fix: string
}

/** Fails with a list of all findings as `file:line`, if there are any. */
export function assertTidy(findings: ReadonlyArray<Finding>): void {
  if (findings.length === 0) return
  const lines = findings.map((finding) => `${finding.path}:${finding.line}  ${finding.problem}. ${finding.fix}`)
  throw new Error(`${findings.length} to put right:\n${lines.join("\n")}`)
}
