/** Counts the statements that write the journal, with their time and their size. */
import { Effect, Exit } from "effect"
import type { JournalMeasures } from "../../measures/JournalMeasures.ts"
import type { EncodedCommit } from "./JournalCodec.ts"

/** Writes commits as one statement. Returns the numbers of those that were written. */
export type Write<E> = (commits: ReadonlyArray<EncodedCommit>) => Effect.Effect<ReadonlyArray<number>, E>

/** Returns a write that counts itself. A statement that was given up counts as failed when it ends. */
export const measured =
  <E>(measures: JournalMeasures, write: Write<E>): Write<E> =>
  (commits) =>
    Effect.clockWith((clock) => {
      const startedAt = clock.monotonicTimeNanosUnsafe()
      return Effect.onExit(write(commits), (exit) =>
        Effect.sync(() => {
          measures.statements.add(Exit.isSuccess(exit) ? "written" : "failed")
          measures.statementSeconds.add(Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e9)
          if (Exit.isSuccess(exit))
            measures.statementEvents.add(commits.reduce((sum, { data }) => sum + data.length, 0))
        })
      )
    })
