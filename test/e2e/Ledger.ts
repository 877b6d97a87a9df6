/**
 * What clients were told, kept outside the server's reach: every answered write and everything that was seen by a read.
 */
import type { HttpAnswer } from "./HttpConnections.ts"
import type { Recorded } from "./Invariants.ts"

/** The field of an answer that carries the instant of an event, and the event's type. */
const instants = [
  ["enteredAt", "Entered"],
  ["grantedAt", "Granted"],
  ["completedAt", "Completed"],
  ["leftAt", "Left"]
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
  /** What the record must hold, by queue. */
  private readonly told = new Map<string, Set<string>>()
  private readonly positions = new Map<string, number>()

  /** Notes an answer about a consumer's place. True if it says what the client hoped for. */
  note(kind: "write" | "read", queueId: string, consumerId: string, answer: HttpAnswer): boolean {
    if (answer.status === 409) return false
    if (answer.status !== 200) {
      this.unexpected.push(`${kind} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
      return false
    }
    if (kind === "write") this.writes += 1
    else this.reads += 1
    let told = this.told.get(queueId)
    if (told === undefined) this.told.set(queueId, (told = new Set()))
    for (const [field, type] of instants) {
      const at = answer.body[field]
      if (typeof at === "string") told.add(`${type} ${consumerId} ${Date.parse(at)}`)
    }
    return true
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
  missing(queueId: string, history: ReadonlyArray<Recorded>): ReadonlyArray<string> {
    const recorded = new Set(history.map(({ type, consumerId, at }) => `${type} ${consumerId} ${at}`))
    return [...(this.told.get(queueId) ?? [])].filter((event) => !recorded.has(event))
  }

  /** How much the record of a queue must hold. */
  size(queueId: string): number {
    return this.told.get(queueId)?.size ?? 0
  }
}
