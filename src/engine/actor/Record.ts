/** The stored projections of a mechanism besides its journal. */
import { Schema } from "effect"
import type { Event } from "../../domain/mechanism/Decider.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { MechanismRecord } from "../../store/journal/Journal.ts"
import type { DerivedRecord } from "../../store/journal/Projections.ts"
import type { AnyDecider } from "./Batch.ts"

/** Returns the record that is stored next to the journal, after events that may have changed it. */
export function recordOf(
  decider: AnyDecider,
  state: unknown,
  events: ReadonlyArray<Event>,
  now: Millis
): MechanismRecord {
  return { ...derivedRecordOf(decider, state), updatedAt: now, updatedBy: authorOf(events) }
}

/** Returns the part of the record that follows from the state alone. */
export function derivedRecordOf(decider: AnyDecider, state: unknown): DerivedRecord {
  const { archived, ...status } = decider.statusFields(state)
  return {
    configuration: {
      ...(Schema.encodeSync(decider.configuration)(decider.configurationOf(state)) as object),
      ...decider.publishedFacts?.(state)
    },
    status,
    archived
  }
}

/** Returns the author of the latest change to the record; "system" if time caused it. */
function authorOf(events: ReadonlyArray<Event>): string {
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index]!
    if ("by" in event && event.consumerId === undefined) return String(event.by)
  }
  return "system"
}
