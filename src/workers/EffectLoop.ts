/**
 * The loop of a worker that does outside work for mechanisms. The worker asks the mechanisms for their needs, so it
 * stores nothing that a restart could lose. It polls after a signal of the engine, and now and then without one.
 */
import { Effect, Queue, type Scope } from "effect"
import type { Kind } from "../domain/mechanism/Mechanism.ts"
import { Engine } from "../engine/Engine.ts"

export interface EffectLoop {
  readonly kind: Kind
  /** Shortest pause between polls, so that many commits lead to few polls. */
  readonly spacingMillis: number
  /** Queries the mechanisms and does what they need. Returns the milliseconds after which to poll again without a signal. */
  readonly poll: Effect.Effect<number>
}

/**
 * Starts the loop in the surrounding scope; it polls at once. Returns an effect that makes it poll as a signal does.
 */
export const start = Effect.fnUntraced(function* ({
  kind,
  spacingMillis,
  poll
}: EffectLoop): Effect.fn.Return<Effect.Effect<void>, never, Engine | Scope.Scope> {
  const engine = yield* Engine
  const signals = yield* Queue.sliding<void>(1)
  const signal = () => void Queue.offerUnsafe(signals, undefined)
  yield* Effect.acquireRelease(
    Effect.sync(() => engine.onEffectNeeded(kind, signal)),
    (unsubscribe) => Effect.sync(unsubscribe)
  )

  const round = Effect.gen(function* () {
    const pauseMillis = yield* poll
    yield* Effect.sleep(spacingMillis)
    yield* Effect.timeoutOption(Queue.take(signals), Math.max(0, pauseMillis - spacingMillis))
  })
  yield* Effect.forkScoped(Effect.forever(round))
  return Effect.sync(signal)
})
