/**
 * What the store's noes are as HTTP answers on the Admin API.
 */
import { Effect } from "effect"
import { toText } from "../../domain/Time.ts"
import type { EngineError } from "../../engine/Engine.ts"
import type { RecordNotFound } from "../../store/RecordNotFound.ts"
import { NotFound, ServiceUnavailable, type ValidationError } from "../Errors.ts"
import { issueAt } from "../Issues.ts"
import { invalidInput } from "../Validation.ts"

/** A setting that makes no sense beside another one. */
export interface Problem {
  readonly field: string
  readonly message: string
}

/** Turns a record that is not there into a 404 with its name. */
export const orNotFound = <A, E, R>(
  effect: Effect.Effect<A, E | RecordNotFound, R>
): Effect.Effect<A, Exclude<E, RecordNotFound> | NotFound, R> =>
  Effect.catchTag(effect as Effect.Effect<A, RecordNotFound, R>, "RecordNotFound", ({ record }) =>
    Effect.fail(NotFound.of(record))
  ) as Effect.Effect<A, Exclude<E, RecordNotFound> | NotFound, R>

/** Why the engine or the store may not be able to answer for now. */
type Busy = Exclude<EngineError, { readonly _tag: "MechanismNotFound" }>

/** Turns an engine or a store that cannot answer for now into a 503. */
export const orBusy = <A, E, R>(
  effect: Effect.Effect<A, E | Busy, R>
): Effect.Effect<A, Exclude<E, Busy> | ServiceUnavailable, R> =>
  Effect.catchTag(effect as Effect.Effect<A, Busy, R>, ["Unavailable", "Overloaded", "Parked"], ({ _tag }) =>
    Effect.fail(new ServiceUnavailable({ retryAfterSeconds: _tag === "Parked" ? 30 : 1 }))
  ) as Effect.Effect<A, Exclude<E, Busy> | ServiceUnavailable, R>

/** A 400 for settings that are each in range but make no sense together. */
export const problemsFound = (problems: ReadonlyArray<Problem>, settings: object): ValidationError =>
  invalidInput(
    problems.map(({ field, message }) => {
      const value = (settings as { readonly [name: string]: unknown })[field]
      const shown = typeof value === "number" && field.endsWith("At") ? toText(value) : value
      const type = field.endsWith("At") ? "date_time" : "picklist"
      return { ...issueAt({ [field]: shown }, field, { kind: "validation", type, expected: message }), message }
    })
  )
