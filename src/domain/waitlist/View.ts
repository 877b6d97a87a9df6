/**
 * The views of a waitlist: a consumer's view of its place, and the projection for admins.
 */
import type { PlaceRow, Seen } from "../mechanism/Decider.ts"
import { completedGrant } from "../mechanism/GrantRecord.ts"
import { closedAsOf, isFull } from "../mechanism/State.ts"
import { type Millis, toText } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import { closedReason, type View } from "./Protocol.ts"
import { type Place, type State, statusAsOf } from "./State.ts"

/** Returns the consumer's view of its place at `now`, deadlines already applied. */
export const view = (state: State, consumerId: string, now: Millis): View => {
  const place = state.places.get(consumerId)
  if (place === undefined) return { status: "NOT_ENTERED" }
  const { enteredAt, since, order: expiresAt } = place
  const status = statusAsOf(state, place, now)
  switch (status) {
    case "ENTERED":
    case "NOTIFIED":
      return { status, enteredAt, position: state.members.position(place) }
    case "OFFERED": {
      const grantSequence = place.grants?.sequence ?? 0
      return { status, enteredAt, offeredAt: since, ...(expiresAt !== Infinity && { expiresAt }), grantSequence }
    }
    case "COMPLETED":
      return { status, enteredAt, completedAt: since, ...completedGrant(place) }
    case "EXPIRED":
      return { status, enteredAt, expiresAt }
    case "LEFT":
      return { status, enteredAt, leftAt: since }
    case "DENIED": {
      const { reason = closedReason } = place
      return { status, enteredAt, reason, deniedAt: place.status === "DENIED" ? since : closedAsOf(state, now) }
    }
  }
}

/** Returns the facts of the live page. */
export const liveFacts = ({ configuration, counts }: Seen<Configuration, undefined>) => ({
  waiting: counts["ENTERED"],
  isFull: isFull(counts["ENTERED"]! + counts["NOTIFIED"]!, configuration)
})

/** Returns the consumer's row in the projection: the recorded status, instants as text. */
export const place = (state: State, consumerId: string): PlaceRow | undefined => {
  const found = state.places.get(consumerId)
  if (found === undefined) return undefined
  const { status, enteredAt, since } = found
  return { status, enteredAt, updatedAt: since, fields: fieldsOf(found) }
}

const noFields: PlaceRow["fields"] = {}

const fieldsOf = ({ status, since, order, reason, notifiedAt, channel }: Place): PlaceRow["fields"] => {
  switch (status) {
    case "ENTERED":
      return noFields
    case "NOTIFIED":
      return { notifiedAt: toText(notifiedAt), ...(channel !== undefined && { channel }) }
    case "OFFERED":
      return { offeredAt: toText(since), ...(order !== Infinity && { expiresAt: toText(order) }) }
    case "COMPLETED":
      return { completedAt: toText(since) }
    case "EXPIRED":
      return { expiresAt: toText(order) }
    case "LEFT":
      return { leftAt: toText(since) }
    case "DENIED":
      return { reason: reason ?? closedReason, deniedAt: toText(since) }
  }
}
