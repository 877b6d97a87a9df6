/**
 * Mechanisms that are archived: they are let go of once they are over, so that memory does not fill with what nobody can
 * reach. Not at once: the last caller, and whoever follows one, may still be told.
 */
import { Effect } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import type { ActorSlot } from "./ActorSlot.ts"

/** For how long a mechanism stays after it was found archived. */
const stayMillis = 1_000

export class ArchivedEvictor {
  /** Since when each is known to be archived. */
  private readonly since = new Map<ActorSlot, Millis>()

  /** Looks whether a mechanism is archived, after a change of it. */
  note(seat: ActorSlot, now: Millis): void {
    if (seat.actor?.isArchived() === true && !this.since.has(seat)) this.since.set(seat, now)
  }

  /** Ends the actors of those that are over and followed by nobody; `forget` is told of each. */
  evict(now: Millis, forget: (seat: ActorSlot) => void): Effect.Effect<void> {
    const left = [...this.since].flatMap(([seat, since]) =>
      since <= now - stayMillis && seat.actor?.isOver() !== false && !seat.isFollowed ? [seat] : []
    )
    return Effect.forEach(
      left,
      (seat) =>
        Effect.andThen(
          seat.stop,
          Effect.sync(() => {
            this.since.delete(seat)
            if (seat.starting === undefined) forget(seat)
          })
        ),
      { discard: true }
    )
  }
}
