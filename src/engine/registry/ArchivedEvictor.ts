/**
 * Evicts archived mechanisms from memory once they are over, because no caller can reach them any more. It waits a
 * second, so the last caller and the subscribers still get their last view.
 */
import { Effect } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import type { ActorSlot } from "./ActorSlot.ts"

/** How long a mechanism stays in memory after it was first seen archived. */
const stayMillis = 1_000

export class ArchivedEvictor {
  /** When each mechanism was first seen archived. */
  private readonly since = new Map<ActorSlot, Millis>()

  /** Adds a mechanism if it is archived. The registry calls this after each change of a mechanism. */
  note(slot: ActorSlot, now: Millis): void {
    if (slot.actor?.isArchived() === true && !this.since.has(slot)) this.since.set(slot, now)
  }

  /** Stops the actors that are over and have no subscribers, and calls `forget` for each of their slots. */
  evict(now: Millis, forget: (slot: ActorSlot) => void): Effect.Effect<void> {
    const left = [...this.since].flatMap(([slot, since]) =>
      since <= now - stayMillis && slot.actor?.isOver() !== false && !slot.isFollowed ? [slot] : []
    )
    return Effect.forEach(
      left,
      (slot) =>
        Effect.andThen(
          slot.stop,
          Effect.sync(() => {
            this.since.delete(slot)
            if (slot.starting === undefined) forget(slot)
          })
        ),
      { discard: true }
    )
  }
}
