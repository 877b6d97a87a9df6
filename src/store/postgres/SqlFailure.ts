/**
 * Classifies failed statements: either the store is out of reach (`Unavailable`), or the statement itself is wrong,
 * which is a defect.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { Unavailable } from "./Unavailable.ts"

/** Fails with `Unavailable` where another try may succeed. Dies where only a change of the code can help. */
export const orUnavailable = <A, E, R>(
  effect: Effect.Effect<A, E | SqlError, R>
): Effect.Effect<A, Exclude<E, SqlError> | Unavailable, R> =>
  Effect.catchTag(effect as Effect.Effect<A, SqlError, R>, "SqlError", (error) =>
    isMistake(error) ? Effect.die(error) : Effect.fail(new Unavailable({ cause: error }))
  ) as Effect.Effect<A, Exclude<E, SqlError> | Unavailable, R>

const mistakes: ReadonlySet<string> = new Set([
  "SqlSyntaxError",
  "UniqueViolation",
  "ConstraintError",
  "AuthorizationError"
])

/** True for wrong statements, broken constraints and, by their code, values that do not fit (class 22). */
function isMistake({ reason }: SqlError): boolean {
  if (mistakes.has(reason._tag)) return true
  const code = (reason.cause as { readonly code?: unknown } | undefined)?.code
  return typeof code === "string" && code.startsWith("22")
}
