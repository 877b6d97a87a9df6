/**
 * The subscriptions of this process to mechanisms on any node. A local actor delivers its changes itself. The changes
 * of a mechanism on another node are forwarded while this process has a subscriber.
 */
import { Effect, Fiber, type Scope, Stream } from "effect"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { Subscribers } from "./LiveStreams.ts"
import type { ActorSlot } from "../registry/ActorSlot.ts"
import type { ShardOwnership } from "../registry/ShardOwnership.ts"

/** Time between checks of whether a watched mechanism has moved, and before a new subscription. */
const checkMillis = 250

const notRunning = Effect.fail(new Unavailable({ cause: "the mechanism does not run" }))

/** Makes the subscriptions. Their fibers live in the surrounding scope. */
export const make = Effect.fnUntraced(function* ({ owns, elsewhere }: ShardOwnership) {
  const scope: Scope.Scope = yield* Effect.scope
  const forkWithServices = Effect.runForkWith(yield* Effect.context<never>())
  const fork = (loop: Effect.Effect<void>): Fiber.Fiber<void> => Fiber.runIn(forkWithServices(loop), scope)

  /**
   * Forwards changes to the slot while the mechanism runs on another node. A new subscription first makes the slot
   * read the current state.
   */
  const forwarded = (slot: ActorSlot): Effect.Effect<never> => {
    if (elsewhere === undefined) return Effect.never
    const forwarding = Effect.suspend(() => {
      let isFirst = true
      const whileElsewhere = Stream.takeWhile(elsewhere.follow(slot.id), () => !owns(slot.id))
      return Stream.runForEach(whileElsewhere, (change) =>
        Effect.sync(() => {
          if (isFirst) slot.rebuilt()
          isFirst = false
          slot.changed(change)
        })
      )
    })
    const forwardOnce = Effect.suspend(() => (owns(slot.id) ? Effect.void : Effect.exit(forwarding)))
    return Effect.forever(Effect.andThen(forwardOnce, Effect.sleep(checkMillis)))
  }

  return {
    /** Returns the subscribers to places in a mechanism. */
    subscribers: (slot: ActorSlot): Subscribers =>
      (slot.subscribers ??= new Subscribers({
        viewMany: (consumerIds) =>
          Effect.suspend(() =>
            elsewhere === undefined || owns(slot.id)
              ? (slot.actor?.viewMany(consumerIds) ?? notRunning)
              : elsewhere.viewMany(slot.id, consumerIds)
          ),
        fork: (loop) => void fork(Effect.raceFirst(loop, forwarded(slot)))
      })),

    /** Calls `onChange` when the mechanism itself has changed or was rebuilt. Returns an unsubscribe function. */
    watch: (slot: ActorSlot, onChange: () => void): (() => void) => {
      const unwatch = slot.watch(onChange)
      const forwarder = elsewhere === undefined ? undefined : fork(forwarded(slot))
      return () => {
        unwatch()
        forwarder?.interruptUnsafe()
      }
    }
  }
})
