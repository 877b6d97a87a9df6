/**
 * Stores the responses that clients received, outside the server: every acknowledged write and every state that a read
 * returned.
 */
import type { Body, HttpAnswer } from "../support/HttpConnections.ts"
import type { Recorded } from "../invariants/Reader.ts"
import { instant } from "../invariants/StepsReader.ts"

/** The fields of a response that contain the time of an event, with the event's type. */
const instants = [
  ["enteredAt", "Entered"],
  ["grantedAt", "Granted"],
  ["completedAt", "Completed"],
  ["leftAt", "Left"],
  ["wonAt", "Won"],
  ["lostAt", "Lost"],
  ["createdAt", "Booked"]
] as const

export class Ledger {
  /** Acknowledged writes. */
  writes = 0
  /** Successful reads. */
  reads = 0
  /** Responses that no client may ever receive, in words. */
  readonly unexpected: Array<string> = []
  /** The number of times that a consumer's position increased. */
  overtaken = 0
  /** The facts that the journal must contain, by mechanism. */
  private readonly facts = new Map<string, Set<string>>()
  private readonly positions = new Map<string, number>()
  /** The start of a member's stay in a waitlist. Responses omit it after the member has left. */
  private readonly memberSince = new Map<string, number>()
  /** The consumers of which an answer spoke, by mechanism. */
  private readonly known = new Map<string, Set<string>>()
  /** The consumer of each attempt to pass. */
  private readonly passed = new Map<string, string>()
  /** Attempts to pass whose place had ended before an answer named the consumer. */
  private readonly unnamed = new Map<string, number>()

  /** Records a response about a consumer's place. Returns whether the request succeeded. */
  note(kind: "write" | "read", mechanismId: string, consumerId: string, answer: HttpAnswer): boolean {
    this.noteKnown(mechanismId, consumerId)
    if (answer.status === 409 || answer.status === 423) return false
    if (answer.status !== 200) {
      this.unexpected.push(`${kind} returned ${answer.status}: ${JSON.stringify(answer.body)}`)
      return false
    }
    if (kind === "write") this.writes += 1
    else this.reads += 1
    let facts = this.facts.get(mechanismId)
    if (facts === undefined) this.facts.set(mechanismId, (facts = new Set()))
    for (const fact of factsIn(consumerId, answer.body)) facts.add(fact)
    const gone = this.membership(kind, `${mechanismId} ${consumerId}`, answer.body)
    if (gone !== undefined) facts.add(`Gone ${consumerId} ${gone}`)
    return true
  }

  /** The response to leaving a waitlist has no time. Returns the start of the stay that it ended. */
  private membership(kind: "write" | "read", place: string, { isEntered, enteredAt }: Body): number | undefined {
    if (isEntered === true) this.memberSince.set(place, Date.parse(enteredAt!))
    return isEntered === false && kind === "write" ? this.memberSince.get(place) : undefined
  }

  /** Records the answer to an attempt to pass. Returns the visitor's consumer; undefined if it was refused. */
  notePass(queueId: string, attempt: string, { status, body }: HttpAnswer): string | undefined {
    if (status === 409 && body.code === "INVALID_STATUS" && !this.passed.has(attempt)) {
      this.unnamed.set(queueId, (this.unnamed.get(queueId) ?? 0) + 1)
    }
    if (status === 409 || status === 423) return undefined
    const { consumerId } = body
    if (status !== 200 || consumerId === undefined) {
      this.unexpected.push(`pass returned ${status}: ${JSON.stringify(body)}`)
      return undefined
    }
    const before = this.passed.get(attempt)
    if (before !== undefined && before !== consumerId) this.unexpected.push("a repeated pass found another visitor")
    this.passed.set(attempt, consumerId)
    this.noteKnown(queueId, consumerId)
    this.writes += 1
    const facts = this.facts.get(queueId) ?? new Set()
    facts.add(`Came ${consumerId}`)
    if (body.status === "GRANTED") facts.add(`Let in ${consumerId}`)
    this.facts.set(queueId, facts)
    return consumerId
  }

  private noteKnown(mechanismId: string, consumerId: string): void {
    const known = this.known.get(mechanismId) ?? new Set()
    this.known.set(mechanismId, known.add(consumerId))
  }

  /** Returns how many consumers have a place of which no answer spoke, while no request is under way. */
  strangers(queueId: string, history: ReadonlyArray<Recorded>): number {
    const known = this.known.get(queueId)
    const entered = new Set(history.flatMap(({ type, consumerId = "" }) => (type === "Entered" ? [consumerId] : [])))
    const strangers = [...entered].filter((consumerId) => known?.has(consumerId) !== true)
    return strangers.length - (this.unnamed.get(queueId) ?? 0)
  }

  /** Records the position in a consumer's response. It must not increase while the consumer waits. */
  notePosition(queueId: string, consumerId: string, { body }: HttpAnswer): void {
    if (typeof body.position !== "number") return
    const place = `${queueId} ${consumerId} ${body.enteredAt}`
    const before = this.positions.get(place)
    if (before !== undefined && body.position > before) this.overtaken += 1
    this.positions.set(place, body.position)
  }

  /** Returns the facts that are missing from the journal, in words. */
  missing(mechanismId: string, history: ReadonlyArray<Recorded>): ReadonlyArray<string> {
    const recorded = factsOn(history)
    return [...(this.facts.get(mechanismId) ?? [])].filter((fact) => !recorded.has(fact))
  }

  /** Deletes the facts of a mechanism that is no longer compared. */
  forget(mechanismId: string): void {
    this.facts.delete(mechanismId)
    this.known.delete(mechanismId)
    for (const places of [this.positions, this.memberSince]) {
      for (const place of places.keys()) if (place.startsWith(mechanismId)) places.delete(place)
    }
  }

  /** Returns a ledger of the facts so far. */
  copy(): Ledger {
    const copy = new Ledger()
    copy.writes = this.writes
    for (const [mechanismId, facts] of this.facts) copy.facts.set(mechanismId, new Set(facts))
    return copy
  }

  /** Returns the number of facts about a queue. */
  size(queueId: string): number {
    return this.facts.get(queueId)?.size ?? 0
  }
}

/** Returns the facts in a response, in the format of {@link factsOn}. */
function factsIn(consumerId: string, body: Body): ReadonlyArray<string> {
  const facts: Array<string> = []
  for (const [field, type] of instants) {
    const at = body[field]
    if (typeof at === "string") facts.push(`${type} ${consumerId} ${Date.parse(at)}`)
  }
  if (body.lastBidAmount !== undefined) facts.push(`Bid ${consumerId} ${Number(body.lastBidAmount)}`)
  if (body.startTime !== undefined) facts.push(`Slot ${consumerId} ${Date.parse(body.startTime)}`)
  if (body.status === "CANCELLED") facts.push(`Cancelled ${body.bookingId}`)
  return facts
}

/** Returns the facts in a history. */
function factsOn(history: ReadonlyArray<Recorded>): ReadonlySet<string> {
  const facts = new Set<string>()
  const enteredAt = new Map<string, number>()
  const bookings = new Map<string, unknown>()
  for (const { type, consumerId = "", at, data } of history) {
    facts.add(`${type} ${consumerId} ${at}`)
    if (type === "Entered") facts.add(`Came ${consumerId}`)
    else if (type === "Granted") facts.add(`Let in ${consumerId}`)
    if (type === "Entered") enteredAt.set(consumerId, at)
    else if (type === "Left") facts.add(`Gone ${consumerId} ${enteredAt.get(consumerId)}`)
    else if (type === "BidPlaced") facts.add(`Bid ${consumerId} ${Number(data["amount"])}`)
    else if (type === "Cancelled") facts.add(`Cancelled ${String(bookings.get(consumerId))}`)
    if (type === "Booked") bookings.set(consumerId, data["bookingId"])
    if (type === "Booked" || type === "Rescheduled") facts.add(`Slot ${consumerId} ${instant(data["startTime"])}`)
  }
  return facts
}
