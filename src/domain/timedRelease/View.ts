/**
 * The views of a timed release: a consumer's view of its place, and the projection for admins.
 */
import type { PlaceRow, Seen } from "../mechanism/Decider.ts"
import { completedGrant, grantLimit } from "../mechanism/GrantRecord.ts"
import { endedFields, finite, placeRow } from "../mechanism/State.ts"
import { type Millis, toText } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import type { Facts, View } from "./Protocol.ts"
import { type Place, type State, statusAsOf, unitsLeft } from "./State.ts"

/** Returns the consumer's view of its place at `now`, deadlines already applied. */
export const view = (state: State, consumerId: string, now: Millis): View => {
  const place = state.places.get(consumerId)
  if (place === undefined) return { status: "NOT_ENTERED" }
  const { enteredAt, since, order: expiresAt } = place
  const grantSequence = place.grants?.sequence ?? 0
  const status = statusAsOf(place, now)
  const limit = status === "ENTERED" ? undefined : grantLimit(place, state.configuration)
  switch (status) {
    case "ENTERED":
      return { status, enteredAt, ...(expiresAt !== Infinity && { expiresAt }), ...selectionOf(place), grantSequence }
    case "COMPLETED":
      return { status, enteredAt, completedAt: since, ...selectionOf(place), ...completedGrant(place), ...limit }
    case "LEFT":
      return { status, enteredAt, leftAt: since, ...limit }
    case "DENIED":
      return { status, enteredAt }
    case "EXPIRED":
      return { status, enteredAt, expiresAt, ...limit }
  }
}

/** Returns the public facts. */
export const facts = (state: State): Facts => ({ unitsLeft: Math.max(0, unitsLeft(state)) })

/** Returns the facts of the live page. */
export const liveFacts = ({ facts }: Seen<Configuration, Facts>) => ({
  unitsLeft: finite(facts.unitsLeft),
  isFull: facts.unitsLeft <= 0
})

/** Returns the consumer's row in the projection: the recorded status, instants as text. */
export const place = (state: State, consumerId: string): PlaceRow | undefined =>
  placeRow(state.places.get(consumerId), fieldsOf)

const fieldsOf = (place: Place): PlaceRow["fields"] => {
  const { status, since, order } = place
  switch (status) {
    case "ENTERED":
      return { ...(order !== Infinity && { expiresAt: toText(order) }), ...selectionOf(place) }
    case "COMPLETED":
      return { completedAt: toText(since), ...selectionOf(place) }
    case "LEFT":
    case "DENIED":
      return endedFields(status, place)
    case "EXPIRED":
      return { expiresAt: toText(order) }
  }
}

const selectionOf = ({ variantId }: Place) => (variantId === undefined ? {} : { selectedVariantId: variantId })
