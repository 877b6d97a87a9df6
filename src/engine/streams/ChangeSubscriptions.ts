/**
 * Those who follow mechanisms from this process, wherever these live: what changes here is told by the actor itself, what
 * changes in another process is relayed by it for as long as somebody here follows.
 */
import { Effect, Fiber, type Scope, Stream } from "effect"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { Subscribers } from "./LiveStreams.ts"
import type { ActorSlot } from "../registry/ActorSlot.ts"
import type { ShardOwnership } from "../registry/ShardOwnership.ts"

/** Between looks at whether a followed mechanism still lives where it did, and before following it again. */
const whereaboutsMillis = 250

const notRunning = Effect.fail(new Unavailable({ cause: "the mechanism does not run" }))

/** Ways to follow, whose fibers live in the surrounding scope. */
export const make = Effect.fnUntraced(function* ({ owns, elsewhere }: ShardOwnership) {
  const scope: Scope.Scope = yield* Effect.scope
  const forkWithServices = Effect.runForkWith(yield* Effect.context<never>())
  const fork = (loop: Effect.Effect<void>): Fiber.Fiber<void> => Fiber.runIn(forkWithServices(loop), scope)

  /** Tells the seat what changes while the mechanism lives elsewhere; whoever follows anew is first told how it stands. */
  const forwarded = (seat: ActorSlot): Effect.Effect<never> => {
    if (elsewhere === undefined) return Effect.never
    const forwarding = Effect.suspend(() => {
      let isFirst = true
      const whileElsewhere = Stream.takeWhile(elsewhere.follow(seat.id), () => !owns(seat.id))
      return Stream.runForEach(whileElsewhere, (change) =>
        Effect.sync(() => {
          if (isFirst) seat.rebuilt()
          isFirst = false
          seat.changed(change)
        })
      )
    })
    const look = Effect.suspend(() => (owns(seat.id) ? Effect.void : Effect.exit(forwarding)))
    return Effect.forever(Effect.andThen(look, Effect.sleep(whereaboutsMillis)))
  }

  return {
    /** Those who follow their places in a mechanism. */
    subscribers: (seat: ActorSlot): Subscribers =>
      (seat.subscribers ??= new Subscribers({
        viewMany: (consumerIds) =>
          Effect.suspend(() =>
            elsewhere === undefined || owns(seat.id)
              ? (seat.actor?.viewMany(consumerIds) ?? notRunning)
              : elsewhere.viewMany(seat.id, consumerIds)
          ),
        fork: (loop) => void fork(Effect.raceFirst(loop, forwarded(seat)))
      })),

    /** Calls `onChange` when the mechanism itself has changed, or was rebuilt, until the answer is called. */
    watch: (seat: ActorSlot, onChange: () => void): (() => void) => {
      const unwatch = seat.watch(onChange)
      const relaying = elsewhere === undefined ? undefined : fork(forwarded(seat))
      return () => {
        unwatch()
        relaying?.interruptUnsafe()
      }
    }
  }
})
