/**
 * Extends mechanisms: moves the expiry of the grants that consumers hold, and the closing if it has not passed. Each grant
 * has its own event, so places, live views and webhooks follow. A command extends a part of the grants.
 *
 * A running mechanism is extended through its actor, after what is due. A mechanism of a database on hold is extended in
 * its journal, before what became due since the backup.
 */
import { Effect } from "effect"
import type { Event } from "../../domain/mechanism/Decider.ts"
import { type Extend, extendedAtOnce, type ExtensionBy } from "../../domain/mechanism/extension/Extension.ts"
import { actorDeciders, type Kind, type MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import { type Commit, type Head, Journal, type JournalConflict } from "../../store/journal/Journal.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { AnyDecider } from "../actor/Batch.ts"
import type { Recovered } from "../actor/Actor.ts"
import { recordOf } from "../actor/Record.ts"
import { recoverPlaces } from "../actor/Recovery.ts"
import { Engine, type EngineError, MechanismNotFound } from "../Engine.ts"
import { unlessGone } from "./NamedMechanisms.ts"

/** Extends a mechanism. Returns how many grants were moved. */
export const extend = Effect.fnUntraced(function* (
  mechanism: MechanismRef<Kind>,
  to: ExtensionBy,
  by: string
): Effect.fn.Return<number, EngineError, Engine> {
  const engine = yield* Engine
  let moved = 0
  let after: string | undefined
  for (;;) {
    const outcome = yield* unlessGone(engine.sendAdmin(mechanism, { _tag: "Extend", to, by, after }))
    if (outcome === undefined) return yield* new MechanismNotFound({ kind: mechanism.kind })
    const { consumerIds } = outcome
    moved += consumerIds.length
    if (consumerIds.length < extendedAtOnce) return moved
    after = consumerIds[consumerIds.length - 1]
  }
})

/**
 * Extends a mechanism that no process runs. `by` must be unique to this extension: if it was interrupted and is repeated,
 * grants that it has moved stay. Returns how many grants were moved.
 */
export const extendHeld = Effect.fnUntraced(function* (
  head: Head,
  to: ExtensionBy,
  by: string
): Effect.fn.Return<number, Unavailable | JournalConflict, Journal> {
  const journal = yield* Journal
  let last: { readonly consumerId?: string } | undefined
  const recovered = yield* recoverPlaces(head, (page) =>
    Effect.sync(() => {
      for (const { event } of page) if ((event as { readonly by?: unknown }).by === by) last = event
    })
  )
  const { state, identity } = recovered
  const decider: AnyDecider = actorDeciders[identity.kind]
  // The closing comes first, then the grants in the order of their consumers.
  let after = last === undefined ? undefined : (last.consumerId ?? "")
  let { sequence } = recovered
  let moved = 0
  for (;;) {
    const command: Extend = { _tag: "Extend", to, by, after }
    const moment = { now: recovered.lastAt, entropy: noEntropy, level: head.formatVersion }
    const events = decider.decide(state, command, moment) as ReadonlyArray<Event>
    if (events.length > 0) yield* journal.append(commitOf(recovered, decider, events, sequence))
    sequence += events.length
    const extended = events.flatMap(({ consumerId }) => consumerId ?? [])
    moved += extended.length
    if (extended.length < extendedAtOnce) return moved
    after = extended[extended.length - 1]
  }
})

const noEntropy = (): string => {
  throw new Error("An extension draws nothing")
}

/** Applies the events to the state. Returns their commit. */
const commitOf = (
  { identity, state, epoch }: Recovered,
  decider: AnyDecider,
  events: ReadonlyArray<Event>,
  sequence: number
): Commit => {
  for (const event of events) decider.evolve(state, event)
  const consumerIds = events.flatMap(({ consumerId }) => consumerId ?? [])
  return {
    mechanismId: identity.id,
    kind: identity.kind,
    expectedSequence: sequence,
    epoch,
    events,
    places: consumerIds.map((consumerId) => ({ consumerId, ...decider.place(state, consumerId)! })),
    wakeAt: decider.wakeAt(state) ?? null,
    ...(consumerIds.length < events.length && {
      record: recordOf(decider, state, events, events[events.length - 1]!.at)
    })
  }
}
