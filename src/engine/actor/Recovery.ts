/**
 * Rebuilds a mechanism's state by replaying its journal.
 */
import { Effect, Stream } from "effect"
import { deciders } from "../../domain/mechanism/Mechanism.ts"
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

  const decider: AnyDecider = deciders[identity.kind]
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
