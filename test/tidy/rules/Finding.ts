/** One thing that is not tidy: where it stands, what is wrong, and what to do about it. */
export interface Finding {
  readonly path: string
  /** Counted from 1. */
  readonly line: number
  readonly problem: string
  readonly fix: string
}

/** Fails, listing every finding as `file:line`, unless there is none. */
export function assertTidy(findings: ReadonlyArray<Finding>): void {
  if (findings.length === 0) return
  const lines = findings.map((finding) => `${finding.path}:${finding.line}  ${finding.problem}. ${finding.fix}`)
  throw new Error(`${findings.length} to put right:\n${lines.join("\n")}`)
}
