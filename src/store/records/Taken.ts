/**
 * Values that must be unique. A unique index decides between concurrent writes.
 */
import { Effect } from "effect"
import type { SqlError, UniqueViolation } from "effect/sql/SqlError"

/** Fails with the given error if that constraint refuses the write. */
export const orTaken =
  <Taken>(errorOf: (constraint: string) => Taken | undefined) =>
  <A, E, R>(effect: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, E | SqlError | Taken, R> =>
    Effect.catchIf(effect, isViolation<E>, (error) => Effect.fail(errorOf(error.reason.constraint) ?? error))

const isViolation = <E>(error: E | SqlError): error is (E | SqlError) & { readonly reason: UniqueViolation } =>
  (error as SqlError)._tag === "SqlError" && (error as SqlError).reason._tag === "UniqueViolation"
