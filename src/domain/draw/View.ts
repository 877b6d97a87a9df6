/**
 * The views of a draw: a consumer's view of its place, the public facts, and the projection for admins.
 */
import type { PlaceRow, Seen } from "../mechanism/Decider.ts"
import { completedGrant } from "../mechanism/GrantRecord.ts"
import { endedFields, isFull, placeRow } from "../mechanism/State.ts"
import { type Millis, toText } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"
import { commitmentOf } from "./proof/Algorithm.ts"
import { type ProofText, proofText } from "./proof/Proof.ts"
import type { Published, View } from "./Protocol.ts"
import { endReason, entryIdOf, hasExpired, type Place, type State } from "./State.ts"

/** Returns the consumer's view of its place at `now`, deadlines already applied. */
export const view = (state: State, consumerId: string, now: Millis): View => {
  const standing = standingOf(state, consumerId, now)
  return state.drawnAt === Infinity ? standing : { ...standing, drawnAt: state.drawnAt }
}

const standingOf = (state: State, consumerId: string, now: Millis): View => {
  const place = state.places.get(consumerId)
  if (place === undefined) return { status: "NOT_ENTERED" }
  const { enteredAt, since } = place
  switch (place.status) {
    case "ENTERED":
      return state.overAt <= now
        ? { status: "DENIED", enteredAt, ...named(state, place), reason: endReason(state), deniedAt: state.overAt }
        : { status: "ENTERED", enteredAt, ...named(state, place) }
    case "WON":
      return viewWon(state, place, now)
    case "COMPLETED":
      return { status: "COMPLETED", enteredAt, ...named(state, place), completedAt: since, ...completedGrant(place) }
    case "DENIED":
      return {
        status: "DENIED",
        enteredAt,
        ...(place.entry !== 0 && named(state, place)),
        reason: place.reason!,
        deniedAt: since
      }
    case "LEFT":
      return { status: "NOT_ENTERED", leftAt: since }
  }
}

const named = (state: State, { entry }: Place) => ({ entryId: entryIdOf(state, entry) })

const viewWon = (state: State, place: Place, now: Millis): View => {
  const { enteredAt, since: wonAt, sequence: grantSequence, order: expiresAt } = place
  const entry = named(state, place)
  if (hasExpired(place, now)) {
    return { status: "DENIED", enteredAt, ...entry, reason: "ADMISSION_EXPIRED", deniedAt: expiresAt }
  }
  if (expiresAt === Infinity) return { status: "WON", enteredAt, ...entry, wonAt, grantSequence }
  return { status: "WON", enteredAt, ...entry, wonAt, expiresAt, grantSequence }
}

/** Returns the consumer's row in the projection: the recorded status, instants as text. */
export const place = (state: State, consumerId: string): PlaceRow | undefined =>
  placeRow(state.places.get(consumerId), fieldsOf)

const noFields: PlaceRow["fields"] = {}

const fieldsOf = (place: Place): PlaceRow["fields"] => {
  const { status, since, order } = place
  switch (status) {
    case "ENTERED":
      return noFields
    case "WON":
      return order === Infinity ? { wonAt: toText(since) } : { wonAt: toText(since), expiresAt: toText(order) }
    case "COMPLETED":
    case "DENIED":
    case "LEFT":
      return endedFields(status, place)
  }
}

/** Returns the published facts of the draw. */
export const published = ({ seed, entriesDigest, beaconRound, drawnAt }: State): Published => ({
  seedCommitment: commitmentOf(seed),
  ...(entriesDigest !== undefined && { entriesDigest }),
  ...(beaconRound !== undefined && { beaconRound }),
  ...(drawnAt !== Infinity && { drawnAt: toText(drawnAt) })
})

/** The public facts of a draw, with the proof after the drawing. */
export interface Facts {
  readonly published: Published
  /** Absent before the drawing. */
  readonly proof?: (drawId: string) => ProofText
}

export const facts = (state: State): Facts => ({
  published: published(state),
  ...(state.drawnAt !== Infinity && { proof: (drawId: string) => proofText(state, drawId) })
})

/** Returns the facts of the live page. */
export const liveFacts = ({ configuration, counts, facts: { published } }: Seen<Configuration, Facts>) => ({
  isFull: isFull(counts["ENTERED"]!, configuration),
  winnerCount: configuration.winnerCount,
  drawAt: configuration.drawAt,
  drawnAt: published.drawnAt === undefined ? null : Date.parse(published.drawnAt)
})
