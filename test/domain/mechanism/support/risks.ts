/** Risks of entries for histories and references. */
import { assert } from "@effect/vitest"
import type { PlaceRow } from "../../../../src/domain/mechanism/Decider.ts"
import type { Risk } from "../../../../src/domain/risk/Risk.ts"

/** The risks of entries; `undefined`: none. */
export const risks: ReadonlyArray<Risk | undefined> = [
  undefined,
  undefined,
  { score: 0.2, reasons: ["NEW_ACCOUNT"] },
  { score: 0.75, reasons: ["SHARED_ADDRESS", "SHARED_NETWORK", "NEW_ACCOUNT"] },
  { score: 1, reasons: ["SHARED_ADDRESS", "SHARED_NETWORK", "FAST_CHALLENGE", "NEW_ACCOUNT"] }
]

/** The part of an event that the comparison needs. */
interface AnyEvent {
  readonly _tag: string
  readonly consumerId?: string
  readonly risk?: Risk
}

/** Returns the risk of the consumer's last entry. */
export const lastRisk = (
  events: ReadonlyArray<AnyEvent>,
  consumerId: string,
  entry: "Entered" | "Booked" = "Entered"
): Risk | undefined => events.findLast((event) => event._tag === entry && event.consumerId === consumerId)?.risk

/** Asserts that every place shows the risk of its last entry, and nothing if there is none. */
export const assertRisksShown = <State>(
  { place }: { place(state: State, consumerId: string): PlaceRow | undefined },
  { state, events }: { readonly state: State; readonly events: ReadonlyArray<AnyEvent> },
  consumers: ReadonlyArray<string>
): void => {
  for (const consumerId of consumers) {
    assert.deepStrictEqual(place(state, consumerId)?.fields["risk"], lastRisk(events, consumerId))
  }
}
