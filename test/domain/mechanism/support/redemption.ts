/**
 * The references of redemptions: what completing a grant leads to, computed from all events of a mechanism by iterating
 * over them.
 */
import { assert } from "@effect/vitest"

interface Recorded {
  readonly _tag: string
  readonly at: number
  readonly consumerId?: string
  readonly redemptionId?: string | undefined
  readonly grant?: { readonly sequence: number; readonly expiresAt?: number }
}

interface Completing {
  readonly consumerId: string
  readonly by: string
  readonly redemptionId?: string | undefined
  readonly grantSequence?: number | undefined
}

/** The events of the consumer, with their sequences. */
const eventsOf = (events: ReadonlyArray<object>, consumerId: string) =>
  (events as ReadonlyArray<Recorded>)
    .map((event, index) => ({ ...event, sequence: index + 1 }))
    .filter((event) => event.consumerId === consumerId)

/** Returns the sequences of the consumer's grants, which events of this kind make. */
export const grantsOf = (events: ReadonlyArray<object>, consumerId: string, made: string): ReadonlyArray<number> =>
  eventsOf(events, consumerId)
    .filter(({ _tag }) => _tag === made)
    .map(({ sequence }) => sequence)

/** Returns the outcome of `Complete` for a consumer with this status; `granted` is the status of one with a grant. */
export const completion = (
  events: ReadonlyArray<object>,
  made: string,
  granted: string,
  status: string,
  { consumerId, by, redemptionId, grantSequence }: Completing
) => {
  const grants = grantsOf(events, consumerId, made)
  const redemptionOf = (index: number) =>
    eventsOf(events, consumerId).find(
      ({ _tag, sequence }) =>
        _tag === "Completed" && sequence > grants[index]! && sequence < (grants[index + 1] ?? Infinity)
    )?.redemptionId
  const last = grants.length - 1
  const earlier = grants.findIndex(
    (sequence, index) =>
      index < last &&
      redemptionId !== undefined &&
      redemptionOf(index) === redemptionId &&
      (grantSequence === undefined || grantSequence === sequence)
  )
  if (earlier >= 0) return { refused: "AlreadyCompleted", grantSequence: grants[earlier] }
  if (grantSequence !== undefined && grantSequence !== grants[last]) return { refused: "InvalidGrant" }
  if (status === "COMPLETED") {
    const isSame = redemptionId === undefined || redemptionId === redemptionOf(last)
    return { refused: isSame ? "AlreadyCompleted" : "AlreadyRedeemed", grantSequence: grants[last] }
  }
  if (status !== granted) return { refused: "WrongStatus", status }
  return [{ _tag: "Completed" as const, consumerId, by, ...(redemptionId !== undefined && { redemptionId }) }]
}

/** The events that end a grant, by the kind of event that made it. */
const ends: ReadonlySet<string> = new Set(["Expired", "Left", "Denied", "Completed"])

/**
 * Asserts that each event which ends a live grant before its token expires names that grant, that no other event names one, and
 * that no grant is redeemed twice.
 */
export const assertGrantsNamed = (events: ReadonlyArray<object>, made: string): void => {
  const live = new Map<string, number>()
  for (const [index, event] of (events as ReadonlyArray<Recorded>).entries()) {
    const { _tag, consumerId, grant } = event
    if (consumerId === undefined) continue
    if (_tag === made) live.set(consumerId, index + 1)
    else if (ends.has(_tag)) {
      const sequence = live.get(consumerId)
      if (_tag === "Completed") assert.isDefined(sequence, `${index + 1} completes no grant`)
      const isNamed = _tag !== "Expired" || grant !== undefined
      assert.strictEqual(grant?.sequence, isNamed ? sequence : undefined, `${_tag} ${index + 1}`)
      if (grant?.expiresAt !== undefined) assert.isBelow(event.at, grant.expiresAt)
      live.delete(consumerId)
    } else assert.isUndefined(grant)
  }
}

/** Asserts that no consumer entered when it had had as many grants as it may have. */
export const assertGrantsWithin = (events: ReadonlyArray<object>, made: string, most = Infinity): void => {
  const had = new Map<string, number>()
  for (const { _tag, consumerId } of events as ReadonlyArray<Recorded>) {
    if (_tag === made) had.set(consumerId!, (had.get(consumerId!) ?? 0) + 1)
  }
  for (const [consumerId, count] of had) assert.isAtMost(count, most, consumerId)
}
