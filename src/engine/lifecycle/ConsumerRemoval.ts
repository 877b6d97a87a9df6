/**
 * Takes an archived consumer out of the mechanisms it is in, each through its actor. It is to be archived first, so that
 * it cannot enter again. Cut off in the middle, what is left are places that the table still shows, and removing the
 * consumer again goes on.
 */
import { Effect } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Kind } from "../../domain/mechanism/Decider.ts"
import type { MechanismName } from "../../store/mechanism/Mechanisms.ts"
import { Places } from "../../store/mechanism/Places.ts"
import { Engine, type EngineError } from "../Engine.ts"
import type { Parked } from "../registry/Registry.ts"

/** Mechanisms that a consumer is taken out of at the same time. */
const concurrency = 8

/**
 * Takes the consumer out of every mechanism in which it waits, takes part or holds something. A mechanism that is parked
 * does not keep it in the others; the removal then fails when they are done.
 */
export const removeConsumer = Effect.fn("removeConsumer")(function* (tenant: Tenant, by: string, consumerId: string) {
  const places = yield* Places
  const asked: Array<string> = []
  let parked: Parked | undefined
  for (;;) {
    const mechanisms = yield* places.standing(tenant, consumerId, asked)
    if (mechanisms.length === 0) break
    yield* Effect.forEach(
      mechanisms,
      (mechanism) =>
        Effect.catchTag(remove(tenant, by, consumerId, mechanism), "Parked", (error) =>
          Effect.sync(() => void (parked = error))
        ),
      { concurrency, discard: true }
    )
    asked.push(...mechanisms.map(({ id }) => id))
  }
  if (parked !== undefined) yield* Effect.fail(parked)
})

/** Takes the consumer out of one mechanism; one that it is not in, or whose work is over, stays as it is. */
const remove = Effect.fnUntraced(function* (
  tenant: Tenant,
  by: string,
  consumerId: string,
  { id, kind }: MechanismName
): Effect.fn.Return<void, Exclude<EngineError, { readonly _tag: "MechanismNotFound" }>, Engine> {
  const engine = yield* Engine
  const mechanism = { kind, id, tenant, includesArchived: true } as const
  yield* engine.send<Kind>(mechanism, { _tag: "Remove", consumerId, by }).pipe(
    Effect.catch((error) => {
      switch (error._tag) {
        case "MechanismNotFound":
          return Effect.void
        case "Unavailable":
        case "Overloaded":
        case "Parked":
          return Effect.fail(error)
        default:
          return Effect.die(error)
      }
    })
  )
})
