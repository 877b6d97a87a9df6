/**
 * The turns of receivers. A turn handles some events of one receiver, one after another in the order in which they are
 * due. Turns of several receivers run at the same time, so the events of one do not wait for those of another.
 */
import { Clock, Effect, Semaphore } from "effect"
import { ReceivedEvents } from "../../store/receiver/ReceivedEvents.ts"
import type { TakenEvent } from "../../store/receiver/TakenEvents.ts"

/** Seconds after which a turn begins no further event. An attempt has to end before another process may take its event. */
const turnSeconds = 8

/** Makes the effect that runs one turn, and returns false if no receiver has an event to handle. */
export const make = Effect.fnUntraced(function* (attempt: (event: TakenEvent) => Effect.Effect<void>) {
  const events = yield* ReceivedEvents
  const oneAtATime = yield* Semaphore.make(1)
  const busy = new Set<string>()
  /** The receivers that have had a turn, until each with due events has had one. */
  const served = new Set<string>()

  const take = (except: ReadonlySet<string>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => events.take(now, [...except]))

  const next = Effect.gen(function* () {
    let taken = yield* take(new Set([...busy, ...served]))
    if (taken.length === 0 && served.size > 0) {
      served.clear()
      taken = yield* take(busy)
    }
    for (const { receiverId } of taken.slice(0, 1)) {
      busy.add(receiverId)
      served.add(receiverId)
    }
    return taken
  }).pipe(oneAtATime.withPermit)

  const handle = Effect.fnUntraced(function* (taken: ReadonlyArray<TakenEvent>) {
    const end = (yield* Clock.currentTimeMillis) + turnSeconds * 1_000
    for (const [index, event] of taken.entries()) {
      if ((yield* Clock.currentTimeMillis) >= end) return yield* events.release(taken.slice(index))
      yield* attempt(event)
    }
  })

  return Effect.gen(function* () {
    const taken = yield* next
    const [first] = taken
    if (first === undefined) return false
    yield* Effect.ensuring(
      handle(taken),
      Effect.sync(() => busy.delete(first.receiverId))
    )
    return true
  })
})
