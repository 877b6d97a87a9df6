/** The demo's checks: compares the consumers' notes with the record on the Admin API. */
import type { ListedPlace, Recorded } from "./Apis.ts"
import type { Crowd, Notes } from "./Crowd.ts"

export interface Check {
  readonly promise: string
  readonly holds: boolean
  /** The figures that support the result. */
  readonly detail: string
}

export interface Evidence {
  readonly crowd: Crowd
  readonly history: ReadonlyArray<Recorded>
  readonly places: ReadonlyArray<ListedPlace>
  readonly maxAdmissions: number
}

export const run = (evidence: Evidence): ReadonlyArray<Check> => [
  nothingLost(evidence),
  recordsAgree(evidence),
  admittedOnce(evidence),
  grantsWithinStock(evidence),
  orderKept(evidence),
  neverOvertaken(evidence)
]

/** Each acknowledged entry is on record, with the instant the consumer received. */
const nothingLost = ({ crowd, history }: Evidence): Check => {
  const enteredAt = new Map<string, string>()
  for (const { type, consumerId, at } of history) {
    if (type === "Entered" && typeof consumerId === "string" && !enteredAt.has(consumerId))
      enteredAt.set(consumerId, at)
  }
  const acknowledged = crowd.notes.filter((notes) => notes.enteredAt !== undefined)
  const lost = acknowledged.filter((notes) => enteredAt.get(notes.consumerId) !== notes.enteredAt)
  return {
    promise: "no entry was lost",
    holds: lost.length === 0 && acknowledged.length === crowd.notes.length,
    detail: `${acknowledged.length} acknowledged entries, ${lost.length} missing from the record`
  }
}

/** The last response to each consumer matches the record. */
const recordsAgree = ({ crowd, places }: Evidence): Check => {
  const statuses = new Map(places.map(({ consumerId, status }) => [consumerId, status]))
  const disagreeing = crowd.notes.filter((notes) => statuses.get(notes.consumerId) !== notes.status)
  return {
    promise: "every place matches its consumer's last response",
    holds: disagreeing.length === 0,
    detail: `${crowd.notes.length} places, ${disagreeing.length} that differ`
  }
}

/** No consumer of the demo enters twice, so none may be granted twice. */
const admittedOnce = ({ crowd, history }: Evidence): Check => {
  const grants = new Map<string, number>()
  for (const { type, consumerId } of history) {
    if (type === "Granted") grants.set(consumerId!, (grants.get(consumerId!) ?? 0) + 1)
  }
  const twice = [...grants.values()].filter((count) => count > 1).length
  const seenTwice = crowd.notes.filter((notes) => notes.grants.length > 1).length
  return {
    promise: "no consumer was admitted twice",
    holds: twice === 0 && seenTwice === 0 && grants.size > 0,
    detail: `${grants.size} consumers admitted, ${Math.max(twice, seenTwice)} of them more than once`
  }
}

/**
 * At no time were more grants active or used than there were pairs. A grant that expired, was denied or was left
 * returns its pair.
 */
const grantsWithinStock = ({ history, maxAdmissions }: Evidence): Check => {
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
    promise: "never more admissions than pairs",
    holds: most <= maxAdmissions && most > 0,
    detail: `at most ${most} of ${maxAdmissions} pairs taken at once`
  }
}

/**
 * Consumers that entered after the opening are admitted in the order of the record, after all consumers from the lobby.
 */
const orderKept = ({ history }: Evidence): Check => {
  const waiting = new Set<string>()
  const lobby = new Set<string>()
  let inversions = 0
  let admissions = 0
  let opened = false
  for (const { type, consumerId } of history) {
    if (type === "Opened") opened = true
    else if (type === "Entered") (opened ? waiting : lobby).add(consumerId!)
    else if (type === "Granted") {
      admissions += 1
      const first = lobby.size > 0 ? undefined : waiting.values().next().value
      const isInOrder = first === undefined ? lobby.has(consumerId!) : first === consumerId
      if (!isInOrder) inversions += 1
    }
    if (type !== "Entered" && typeof consumerId === "string") {
      lobby.delete(consumerId)
      waiting.delete(consumerId)
    }
  }
  return {
    promise: "the order was kept",
    holds: inversions === 0 && admissions > 0,
    detail: `${admissions} admissions, ${inversions} out of order`
  }
}

/** A position never grows, even across the crash. */
const neverOvertaken = ({ crowd }: Evidence): Check => {
  const seen = crowd.notes.reduce((total, notes) => total + notes.positions.length, 0)
  const overtaken = crowd.notes.filter(isOvertaken).length
  return {
    promise: "no consumer was overtaken",
    holds: overtaken === 0 && seen > 0,
    detail: `${seen} positions seen, ${overtaken} consumers whose position grew`
  }
}

const isOvertaken = ({ positions }: Notes): boolean =>
  positions.some((position, index) => index > 0 && position > positions[index - 1]!)
