/**
 * Rebuilds a mechanism's state by replaying its journal.
 */
import { Effect, Stream } from "effect"
import { actorDeciders } from "../../domain/mechanism/Mechanism.ts"
import { type Head, Journal, type Recorded } from "../../store/journal/Journal.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { Recovered } from "./Actor.ts"
import type { AnyDecider } from "./Batch.ts"

/**
 * Returns the state after the journal's events, and runs `afterPage` after each page of them. An event that cannot be
 * decoded is a defect.
 */
export const recover = Effect.fnUntraced(function* (
  head: Head,
  afterPage: (events: ReadonlyArray<Recorded>) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<Recovered, Unavailable, Journal> {
  const journal = yield* Journal
  const { identity } = head

  const decider: AnyDecider = actorDeciders[identity.kind]
  const state = decider.initial()
  let sequence = 0
  let lastAt = 0
  yield* Stream.runForEach(journal.read(head, 0), (page) =>
    Effect.suspend(() => {
      for (const recorded of page) {
        decider.evolve(state, recorded.event)
        sequence = recorded.sequence
        lastAt = recorded.event.at
      }
      return afterPage(page)
    })
  )
  return { identity: { ...identity, kind: identity.kind }, state, sequence, epoch: head.epoch, lastAt }
})

/** Like `recover`, and hands over to the journal those places that are not written up to the head: each owner does so. */
export const recoverPlaces = Effect.fnUntraced(function* (
  head: Head,
  afterPage: (events: ReadonlyArray<Recorded>) => Effect.Effect<void> = () => Effect.void
): Effect.fn.Return<Recovered, Unavailable, Journal> {
  const journal = yield* Journal
  const changed = new Set<string>()
  const recovered = yield* recover(head, (page) =>
    Effect.suspend(() => {
      for (const { sequence, event } of page)
        if (sequence > head.placesSequence && event.consumerId !== undefined) changed.add(event.consumerId)
      return afterPage(page)
    })
  )
  const { sequence, state, identity } = recovered
  const decider: AnyDecider = actorDeciders[identity.kind]
  if (sequence > head.placesSequence) {
    const places = Array.from(changed, (consumerId) => ({ consumerId, ...decider.place(state, consumerId)! }))
    journal.project({ mechanismId: identity.id, sequence, places })
  }
  return recovered
})
