/**
 * What clients were told, kept outside the server's reach: every answered write and everything that was seen by a read.
 */
import type { Body, HttpAnswer } from "../support/HttpConnections.ts"
import type { Recorded } from "../invariants/Reader.ts"
import { instant } from "../invariants/StepsReader.ts"

/** The field of an answer that carries the instant of an event, and the event's type. */
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
  /** Answered writes. */
  writes = 0
  /** Answered reads. */
  reads = 0
  /** Answers that no client should ever get, in words. */
  readonly unexpected: Array<string> = []
  /** Consumers that saw others get ahead of them. */
  overtaken = 0
  /** What the record must hold, by mechanism. */
  private readonly told = new Map<string, Set<string>>()
  private readonly positions = new Map<string, number>()
  /** When a member of a waitlist entered, which it is not told any more once it has left. */
  private readonly memberSince = new Map<string, number>()

  /** Notes an answer about a consumer's place. True if it says what the client hoped for. */
  note(kind: "write" | "read", mechanismId: string, consumerId: string, answer: HttpAnswer): boolean {
    if (answer.status === 409 || answer.status === 423) return false
    if (answer.status !== 200) {
      this.unexpected.push(`${kind} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
      return false
    }
    if (kind === "write") this.writes += 1
    else this.reads += 1
    let told = this.told.get(mechanismId)
    if (told === undefined) this.told.set(mechanismId, (told = new Set()))
    for (const fact of factsIn(consumerId, answer.body)) told.add(fact)
    const gone = this.membership(kind, `${mechanismId} ${consumerId}`, answer.body)
    if (gone !== undefined) told.add(`Gone ${consumerId} ${gone}`)
    return true
  }

  /** Who leaves a waitlist is not told when; answers when the stay began that its leaving has ended. */
  private membership(kind: "write" | "read", place: string, { isEntered, enteredAt }: Body): number | undefined {
    if (isEntered === true) this.memberSince.set(place, Date.parse(enteredAt!))
    return isEntered === false && kind === "write" ? this.memberSince.get(place) : undefined
  }

  /** Notes a position that a consumer saw of itself; it must not grow while the consumer waits. */
  notePosition(queueId: string, consumerId: string, { body }: HttpAnswer): void {
    if (typeof body.position !== "number") return
    const place = `${queueId} ${consumerId} ${body.enteredAt}`
    const before = this.positions.get(place)
    if (before !== undefined && body.position > before) this.overtaken += 1
    this.positions.set(place, body.position)
  }

  /** What was told and is not on record, in words. */
  missing(mechanismId: string, history: ReadonlyArray<Recorded>): ReadonlyArray<string> {
    const recorded = factsOn(history)
    return [...(this.told.get(mechanismId) ?? [])].filter((fact) => !recorded.has(fact))
  }

  /** Gives up what is known of a mechanism that nobody will ask about again. */
  forget(mechanismId: string): void {
    this.told.delete(mechanismId)
    for (const places of [this.positions, this.memberSince]) {
      for (const place of places.keys()) if (place.startsWith(mechanismId)) places.delete(place)
    }
  }

  /** How much the record of a queue must hold. */
  size(queueId: string): number {
    return this.told.get(queueId)?.size ?? 0
  }
}

/** What an answer says has happened, in the words of {@link factsOn}. */
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

/** What the events say has happened. */
function factsOn(history: ReadonlyArray<Recorded>): ReadonlySet<string> {
  const facts = new Set<string>()
  const enteredAt = new Map<string, number>()
  const bookings = new Map<string, unknown>()
  for (const { type, consumerId = "", at, data } of history) {
    facts.add(`${type} ${consumerId} ${at}`)
    if (type === "Entered") enteredAt.set(consumerId, at)
    else if (type === "Left") facts.add(`Gone ${consumerId} ${enteredAt.get(consumerId)}`)
    else if (type === "BidPlaced") facts.add(`Bid ${consumerId} ${Number(data["amount"])}`)
    else if (type === "Cancelled") facts.add(`Cancelled ${String(bookings.get(consumerId))}`)
    if (type === "Booked") bookings.set(consumerId, data["bookingId"])
    if (type === "Booked" || type === "Rescheduled") facts.add(`Slot ${consumerId} ${instant(data["startTime"])}`)
  }
  return facts
}
