/** The demo's checks: compares the consumers' notes with the record on the Admin API, and verifies their grants. */
import { Effect } from "effect"
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose"
import type { DistributionConsumer } from "../../api/admin/PlaceSchemas.ts"
import { consumersOf, outOfOrder, type Recorded, repeated } from "../../load/Proofs.ts"
import type { Proof } from "../../load/Report.ts"
import type { Crowd, Notes } from "./Crowd.ts"
import { DemoFailed } from "./DemoFailed.ts"

export interface Evidence {
  readonly crowd: Crowd
  readonly history: ReadonlyArray<Recorded>
  readonly places: ReadonlyArray<Pick<typeof DistributionConsumer.Type, "consumerId" | "status">>
  readonly pairs: number
}

export const run = (evidence: Evidence): ReadonlyArray<Proof> => [
  nothingLost(evidence),
  recordsAgree(evidence),
  admittedOnce(evidence),
  grantsWithinStock(evidence),
  orderKept(evidence),
  neverOvertaken(evidence)
]

/** Each acknowledged entry is on record, with the instant the consumer received. */
const nothingLost = ({ crowd, history }: Evidence): Proof => {
  const entries = history.filter(({ type }) => type === "Entered")
  // Of several entries of a consumer the first counts.
  const enteredAt = new Map(entries.toReversed().map(({ consumerId, at }) => [consumerId, at]))
  const acknowledged = crowd.notes.filter((notes) => notes.enteredAt !== undefined)
  const lost = acknowledged.filter((notes) => enteredAt.get(notes.consumerId) !== notes.enteredAt)
  return {
    claim: "no entry was lost",
    holds: lost.length === 0 && acknowledged.length === crowd.notes.length,
    detail: `${acknowledged.length} acknowledged entries, ${lost.length} missing from the record`
  }
}

/** The last response to each consumer matches the record. */
const recordsAgree = ({ crowd, places }: Evidence): Proof => {
  const statuses = new Map(places.map(({ consumerId, status }) => [consumerId, status]))
  const disagreeing = crowd.notes.filter((notes) => statuses.get(notes.consumerId) !== notes.status)
  return {
    claim: "every place matches its consumer's last response",
    holds: disagreeing.length === 0,
    detail: `${crowd.notes.length} places, ${disagreeing.length} that differ`
  }
}

/** No consumer of the demo enters twice, so none may be granted twice. */
const admittedOnce = ({ crowd, history }: Evidence): Proof => {
  const granted = consumersOf(history, "Granted")
  const admitted = new Set(granted).size
  const twice = new Set(repeated(granted)).size
  const seenTwice = crowd.notes.filter((notes) => notes.grants.length > 1).length
  return {
    claim: "no consumer was admitted twice",
    holds: twice === 0 && seenTwice === 0 && admitted > 0,
    detail: `${admitted} consumers admitted, ${Math.max(twice, seenTwice)} of them more than once`
  }
}

/**
 * At no time were more grants active or used than there were pairs. A grant that expired, was denied or was left
 * returns its pair.
 */
const grantsWithinStock = ({ history, pairs }: Evidence): Proof => {
  const granted = new Set<string>()
  let taken = 0
  let most = 0
  for (const { type, consumerId } of history) {
    if (type === "Granted") {
      granted.add(consumerId!)
      taken += 1
    } else if ((type === "Expired" || type === "Denied" || type === "Left") && granted.delete(consumerId!)) taken -= 1
    most = Math.max(most, taken)
  }
  return {
    claim: "never more admissions than pairs",
    holds: most <= pairs && most > 0,
    detail: `at most ${most} of ${pairs} pairs taken at once`
  }
}

/**
 * Consumers that entered after the opening are admitted in the order of the record, after all consumers from the lobby.
 */
const orderKept = ({ history }: Evidence): Proof => {
  const admissions = consumersOf(history, "Granted").length
  const inversions = outOfOrder(history).length
  return {
    claim: "the order was kept",
    holds: inversions === 0 && admissions > 0,
    detail: `${admissions} admissions, ${inversions} out of order`
  }
}

/** A position never grows, even across the crash. */
const neverOvertaken = ({ crowd }: Evidence): Proof => {
  const seen = crowd.notes.reduce((total, notes) => total + notes.positions.length, 0)
  const overtaken = crowd.notes.filter(isOvertaken).length
  return {
    claim: "no consumer was overtaken",
    holds: overtaken === 0 && seen > 0,
    detail: `${seen} positions seen, ${overtaken} consumers whose position grew`
  }
}

const isOvertaken = ({ positions }: Notes): boolean =>
  positions.some((position, index) => index > 0 && position > positions[index - 1]!)

/**
 * Verifies each noted grant as of its instant the way any shop can: offline, with plain `jose` and the published keys.
 * Checks the signature, the consumer and the queue.
 */
export const grantsVerify = Effect.fnUntraced(function* (
  notes: ReadonlyArray<Notes>,
  keySet: unknown,
  queueId: string
) {
  const keys = createLocalJWKSet(keySet as JSONWebKeySet)
  let verified = 0
  let wrong = 0
  for (const { consumerId, grants } of notes) {
    for (const { token, grantedAt } of grants) {
      const { payload } = yield* Effect.tryPromise({
        try: () => jwtVerify(token, keys, { algorithms: ["EdDSA"], currentDate: new Date(grantedAt) }),
        catch: (cause) => new DemoFailed({ message: `A grant of ${consumerId} does not verify: ${String(cause)}` })
      })
      const isRight =
        payload["type"] === "admission" && payload["consumerId"] === consumerId && payload["distributionId"] === queueId
      if (isRight) verified += 1
      else wrong += 1
    }
  }
  const result: Proof = {
    claim: "every grant verifies with plain jose",
    holds: wrong === 0 && verified > 0,
    detail: `${verified} grants against the published keys, ${wrong} wrong`
  }
  return result
})
