/**
 * Removes an archived consumer from its mechanisms, each through its actor. The caller archives the consumer first,
 * so that it cannot enter again. If the work is interrupted, the remaining places are still in the table, and
 * removing the consumer again continues.
 */
import { Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Kind } from "../../domain/mechanism/Mechanism.ts"
import type { MechanismName } from "../../store/mechanism/Mechanisms.ts"
import { Places } from "../../store/mechanism/Places.ts"
import { Engine, type EngineError } from "../Engine.ts"
import { unlessGone } from "./NamedMechanisms.ts"
import type { Parked } from "../registry/Registry.ts"

/** Mechanisms that a consumer is removed from at the same time. */
const concurrency = 8

/**
 * Removes the consumer from every mechanism in which it waits, takes part or holds a grant. A parked mechanism does
 * not stop the removal from the others; the call then fails with `Parked` at the end.
 */
export const removeConsumer = Effect.fn("removeConsumer")(function* (tenant: Tenant, by: string, consumerId: string) {
  const places = yield* Places
  const visited: Array<string> = []
  let parked: Parked | undefined
  for (;;) {
    const mechanisms = yield* places.unfinished(tenant, consumerId, visited)
    if (mechanisms.length === 0) break
    yield* Effect.forEach(
      mechanisms,
      (mechanism) =>
        Effect.catchTag(remove(tenant, by, consumerId, mechanism), "Parked", (error) =>
          Effect.sync(() => void (parked = error))
        ),
      { concurrency, discard: true }
    )
    visited.push(...mechanisms.map(({ id }) => id))
  }
  if (parked !== undefined) yield* Effect.fail(parked)
})

/** Removes the consumer from one mechanism. Changes nothing if the consumer is not in it or its work is over. */
const remove = Effect.fnUntraced(function* (
  tenant: Tenant,
  by: string,
  consumerId: string,
  { id, kind }: MechanismName
): Effect.fn.Return<void, Exclude<EngineError, { readonly _tag: "MechanismNotFound" }>, Engine> {
  const engine = yield* Engine
  const mechanism = { kind, id, tenant, includesArchived: true } as const
  yield* unlessGone(engine.send<Kind>(mechanism, { _tag: "Remove", consumerId, by }))
})
