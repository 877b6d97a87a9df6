/** Counts the statements that write the journal, with their time and their size. */
import { Effect, Exit } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { StatementOutcomes } from "../../measures/StatementOutcomes.ts"
import { noting } from "../postgres/BoundedClient.ts"
import type { JournalMeasures } from "../../measures/JournalMeasures.ts"
import type { EncodedCommit } from "./JournalCodec.ts"
import * as Time from "../coordination/Time.ts"

/** Writes commits as one statement. Returns the numbers of those that were written. */
export type Write<E> = (commits: ReadonlyArray<EncodedCommit>) => Effect.Effect<ReadonlyArray<number>, E>

/** Returns a write that counts itself. A statement that was given up counts as failed when it ends. */
export const measured = (
  measures: JournalMeasures,
  statements: StatementOutcomes,
  write: Write<SqlError>
): Write<SqlError> => {
  const noteFailure = noting(statements)
  return (commits) =>
    Effect.flatMap(Time.serverClock, (clock) => {
      const startedAt = clock.monotonicTimeNanosUnsafe()
      return Effect.onExit(noteFailure(write(commits)), (exit) =>
        Effect.sync(() => {
          if (Exit.isSuccess(exit)) statements.written()
          measures.statements.add(Exit.isSuccess(exit) ? "written" : "failed")
          measures.statementSeconds.add(Number(clock.monotonicTimeNanosUnsafe() - startedAt) / 1e9)
          if (Exit.isSuccess(exit))
            measures.statementEvents.add(commits.reduce((sum, { data }) => sum + data.length, 0))
        })
      )
    })
}
