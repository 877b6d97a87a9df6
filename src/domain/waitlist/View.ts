/**
 * The views of a waitlist: a consumer's view of its place, and the projection for admins.
 */
import type { PlaceRow, Seen } from "../mechanism/Decider.ts"
import { isFull } from "../mechanism/State.ts"
import { toText } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import { denialReason, type View } from "./Protocol.ts"
import { type Place, type State, statusOf } from "./State.ts"

/** Returns the consumer's view of its place, an end already applied. */
export const view = (state: State, consumerId: string): View => {
  const place = state.places.get(consumerId)
  if (place === undefined) return { status: "NOT_ENTERED" }
  const { order: enteredAt, since } = place
  const status = statusOf(state, place)
  switch (status) {
    case "ENTERED":
    case "NOTIFIED":
      return { status, enteredAt, position: state.members.position(place) }
    case "LEFT":
      return { status, enteredAt, leftAt: since }
    case "DENIED":
      return { status, enteredAt, deniedAt: place.status === "DENIED" ? since : state.endedAt }
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
  const { status, order: enteredAt, since } = found
  return { status, enteredAt, updatedAt: since, fields: fieldsOf(found) }
}

const noFields: PlaceRow["fields"] = {}

const fieldsOf = ({ status, since, notifiedAt, channel }: Place): PlaceRow["fields"] => {
  switch (status) {
    case "ENTERED":
      return noFields
    case "NOTIFIED":
      return { notifiedAt: toText(notifiedAt), ...(channel !== undefined && { channel }) }
    case "LEFT":
      return { leftAt: toText(since) }
    case "DENIED":
      return { reason: denialReason, deniedAt: toText(since) }
  }
}
