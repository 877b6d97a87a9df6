/**
 * What became of the statements of this process. A probe of its own may succeed while the writes of callers fail, for
 * example on a full disk. So whether the database takes writes follows from these outcomes too.
 */
import { Counts } from "./Counts.ts"

/** Why the server, and not the content of a statement, made it fail. */
export type FailureCause =
  | "no_space"
  | "read_only"
  | "permission"
  | "connections"
  | "starting"
  | "out_of_reach"
  | "too_slow"
  | "other"

/** Each cause in words, for operators. */
const meanings: Readonly<Record<FailureCause, string>> = {
  no_space: "no space is left on its disk",
  read_only: "it is read-only",
  permission: "its user may not do that",
  connections: "it has no connection left",
  starting: "it is starting or stopping",
  out_of_reach: "it is out of reach",
  too_slow: "it is too slow",
  other: "of another fault of the server"
}

/** Failures in a row from which on the database counts as taking no writes. One alone may have a cause of its own. */
const failuresMin = 3

/** A failure counts for this long. Without further writes nothing is known afterwards. */
const rememberedMillis = 10_000

export class StatementOutcomes {
  readonly failures = new Counts(Object.keys(meanings))
  private inRow = 0
  private last: { readonly cause: FailureCause; readonly atMillis: number } | undefined

  /** Notes a write that is on disk. */
  written(): void {
    this.inRow = 0
    this.last = undefined
  }

  /** Notes a failure. A slow statement does not show that others fail. Times are those of the monotonic clock. */
  failed(cause: FailureCause, atMillis: number): void {
    this.failures.add(cause)
    if (cause === "too_slow") return
    this.inRow = this.last !== undefined && atMillis - this.last.atMillis < rememberedMillis ? this.inRow + 1 : 1
    this.last = { cause, atMillis }
  }

  /** Returns why the last writes failed; undefined if one has succeeded since, or none was tried lately. */
  problem(nowMillis: number): string | undefined {
    if (this.last === undefined || this.inRow < failuresMin) return undefined
    return nowMillis - this.last.atMillis < rememberedMillis ? `writes fail: ${meanings[this.last.cause]}` : undefined
  }
}
