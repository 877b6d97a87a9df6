/**
 * Classifies failed statements: either the store is out of reach (`Unavailable`), or the statement itself is wrong,
 * which is a defect.
 */
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { FailureCause } from "../../measures/StatementOutcomes.ts"
import { Unavailable } from "./Unavailable.ts"

/** Fails with `Unavailable` where another try may succeed. Dies where only a change of the code can help. */
export const orUnavailable = <A, E, R>(
  effect: Effect.Effect<A, E | SqlError, R>
): Effect.Effect<A, Exclude<E, SqlError> | Unavailable, R> =>
  Effect.catchTag(effect as Effect.Effect<A, SqlError, R>, "SqlError", (error) =>
    isMistake(error) ? Effect.die(error) : Effect.fail(new Unavailable({ cause: error }))
  ) as Effect.Effect<A, Exclude<E, SqlError> | Unavailable, R>

/** Causes by SQLSTATE, or by the first characters of several. The first match counts. */
const causes: ReadonlyArray<readonly [prefix: string, cause: FailureCause]> = [
  ["53100", "no_space"],
  ["25006", "read_only"],
  ["42501", "permission"],
  ["28", "permission"],
  ["53300", "connections"],
  ["57P03", "starting"],
  ["57P", "out_of_reach"],
  ["08", "out_of_reach"],
  ["57014", "too_slow"],
  ["55P03", "too_slow"]
]

/** Returns why the server made a statement fail; undefined if the statement or the content of its rows did. */
export function failureCause(error: SqlError): FailureCause | undefined {
  const code = codeOf(error)
  const known = code === undefined ? undefined : causes.find(([prefix]) => code.startsWith(prefix))
  if (known !== undefined) return known[1]
  if (error.reason._tag === "ConnectionError") return "out_of_reach"
  return isMistake(error) || isRefusal(error) ? undefined : "other"
}

/** The SQLSTATE of the server's answer; undefined if there was none. */
function codeOf({ reason }: SqlError): string | undefined {
  let cause: unknown = reason.cause
  for (; cause instanceof Error; cause = cause.cause) {
    if ("code" in cause && typeof cause.code === "string") return cause.code
  }
  return undefined
}

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

/**
 * True if the server, or the encoding of the parameters, refused the content of some row. Nothing was written then. A
 * deadlock or a serialization failure also counts: the parts of a statement of many rows succeed separately.
 */
export function isRefusal({ reason }: SqlError): boolean {
  if (refusals.has(reason._tag)) return true
  if (reason._tag !== "UnknownError") return false
  const code = (reason.cause as { readonly code?: unknown } | undefined)?.code
  return typeof code !== "string" || refusedClasses.some((prefix) => code.startsWith(prefix))
}

const refusals: ReadonlySet<string> = new Set([
  "UniqueViolation",
  "ConstraintError",
  "DeadlockError",
  "SerializationError"
])

/** SQLSTATE classes: cardinality violation (a row twice in one upsert), data exception, program limit exceeded. */
const refusedClasses = ["21", "22", "54"]
