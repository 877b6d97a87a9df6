/**
 * The actor of a mechanism in a database that is on hold. It shows the recovered state as it was at the instant of the
 * backup, and changes nothing: it takes no command, and no timed transition happens.
 */
import { Clock, Effect, Exit } from "effect"
import { Installation } from "../../store/coordination/Installation.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import * as Actor from "./Actor.ts"
import * as Time from "../../store/coordination/Time.ts"

const onHold = Exit.fail(new Unavailable({ cause: "the database is on hold after a restore" }))

/** Creates the actor of a mechanism, or a held one if the database is on hold. */
export const makeUnlessHeld = Effect.fnUntraced(function* (recovered: Actor.Recovered, options: Actor.ActorOptions) {
  const { heldAt } = yield* Installation
  if (heldAt === undefined) return yield* Actor.make(recovered, options)
  const clock: Clock.Clock = Object.create(yield* Time.serverClock, {
    currentTimeMillisUnsafe: { value: () => heldAt }
  })
  const actor = yield* Effect.provideService(Actor.make(recovered, options), Clock.Clock, clock)
  return {
    ...actor,
    send: () => onHold,
    put: (_, answer) => answer(onHold),
    wake: () => undefined,
    run: Effect.never
  } satisfies Actor.Actor
})
