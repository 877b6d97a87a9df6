/**
 * The loop of a worker that does what mechanisms need done outside of them. The worker asks the mechanisms themselves what
 * they need, so it keeps nothing that a restart could lose. A signal of the engine says when to ask.
 */
import { Effect, Queue, type Scope } from "effect"
import type { Kind } from "../domain/mechanism/Decider.ts"
import { Engine } from "../engine/Engine.ts"

export interface EffectLoop {
  readonly kind: Kind
  /** Least time between two looks, so that many commits lead to few looks. */
  readonly spacingMillis: number
  /** Asks the mechanisms and does what they need. Returns the time after which to look again without a signal. */
  readonly look: Effect.Effect<number>
}

/**
 * Starts the loop in the surrounding scope, with a look at once. Returns an effect that makes it look as a signal does.
 */
export const start = Effect.fnUntraced(function* ({
  kind,
  spacingMillis,
  look
}: EffectLoop): Effect.fn.Return<Effect.Effect<void>, never, Engine | Scope.Scope> {
  const engine = yield* Engine
  const signals = yield* Queue.sliding<void>(1)
  const signal = () => void Queue.offerUnsafe(signals, undefined)
  yield* Effect.acquireRelease(
    Effect.sync(() => engine.onEffectNeeded(kind, signal)),
    (unsubscribe) => Effect.sync(unsubscribe)
  )

  const round = Effect.gen(function* () {
    const pauseMillis = yield* look
    yield* Effect.sleep(spacingMillis)
    yield* Effect.timeoutOption(Queue.take(signals), Math.max(0, pauseMillis - spacingMillis))
  })
  yield* Effect.forkScoped(Effect.forever(round))
  return Effect.sync(signal)
})
