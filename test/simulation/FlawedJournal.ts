/**
 * The memory journal as a bad day has it: appends that are slow, that fail before or after they were written, and a
 * process that dies with one under way, whose outcome nobody can know.
 */
import { Clock, Effect } from "effect"
import type { Commit, Journal } from "../../src/store/journal/Journal.ts"
import { Unavailable } from "../../src/store/postgres/Unavailable.ts"
import type { Dice } from "../e2e/support/Dice.ts"

/** A process's own connection to the journal. */
export interface Connection {
  readonly journal: Journal["Service"]
  /** From here on nothing is written; what is under way may or may not be. */
  readonly cut: () => void
}

const slowShare = 0.3
/** How long an append takes at most. */
export const slowMillisMax = 40

/** A connection on which appends fail with the given probability; `onWritten` sees each commit when it is on record. */
export function connect(
  inner: Journal["Service"],
  dice: Dice,
  failureShare: number,
  onWritten: (commit: Commit, now: number) => void
): Connection {
  let isCut = false
  const fail = Effect.fail(new Unavailable({ cause: "a bad day" }))

  const append = Effect.fnUntraced(function* (commit: Commit) {
    if (isCut) return yield* fail
    if (dice.chance(slowShare)) yield* Effect.sleep(dice.between(1, slowMillisMax))
    if (isCut && dice.chance(0.5)) return yield* fail
    if (dice.chance(failureShare)) return yield* fail
    yield* inner.append(commit)
    onWritten(commit, yield* Clock.currentTimeMillis)
    if (isCut || dice.chance(failureShare)) return yield* fail
  })

  return {
    journal: { ...inner, append },
    cut: () => {
      isCut = true
    }
  }
}
