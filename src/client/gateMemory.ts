/**
 * What a gate in the field remembers, within bounds: the record, the keys, the ended grants, whether Usher answers, and
 * the visitors that were seen. Calls, clocks and loops belong to the runtime.
 */
import type { GateRecord, Knowledge } from "./gate.ts"

export interface MemoryLimits {
  /** Ended grants that are kept until their tokens expire. Later ones are dropped, and found when they are renewed. */
  readonly ended: number
  /** Visitors whose last note is remembered, and who wait to be renewed. */
  readonly visitors: number
}

/** The part of the answer of `POST /queues/{queueId}/renew` that says which grants have ended. */
export interface Renewed {
  readonly results: ReadonlyArray<{ readonly jti: string | null; readonly code?: string }>
}

export class GateMemory<Gate extends GateRecord = GateRecord> {
  isReachable = true
  gate: Gate
  keys: Knowledge["keys"]
  /** When the tokens of the ended grants expire; Infinity: never. */
  readonly ended = new Map<string, number>()
  readonly #limits: MemoryLimits
  /** When each visitor was noted last. A full young map becomes the old one. */
  #young = new Map<string, number>()
  #old = new Map<string, number>()
  #waiting = new Map<string, Set<string>>()

  constructor(gate: Gate, keys: Knowledge["keys"], limits: MemoryLimits) {
    this.gate = gate
    this.keys = keys
    this.#limits = limits
  }

  knowledge(now: number): Knowledge {
    const { gate, keys, ended, isReachable } = this
    return { gate, keys, ended, isReachable, now, newState: crypto.randomUUID() }
  }

  /** Notes a visitor for the next renewal, at half of the time for which its grant lasts without one. */
  seen(jti: string, now: number, isNew = false): void {
    // The name of a grant begins with its queue.
    const queueId = jti.split(".", 1)[0]!
    const renewal = this.gate.queues[queueId]?.admissionRenewal
    if (!renewal) return
    const before = this.#young.get(jti) ?? this.#old.get(jti)
    if (before !== undefined && now - before < renewal.idleSeconds * 500) return
    if (this.#young.size >= this.#limits.visitors) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(jti, now)
    if (!isNew) this.#put(queueId, jti)
  }

  get hasRenewals(): boolean {
    return this.#waiting.size > 0
  }

  /** Takes the visitors who wait to be renewed, as many at once as one call has. */
  takeRenewals(atOnceMax: number): ReadonlyArray<readonly [queueId: string, grants: ReadonlyArray<string>]> {
    const taken = this.#waiting
    this.#waiting = new Map()
    return [...taken].flatMap(([queueId, grants]) => {
      const all = [...grants]
      const calls = Math.ceil(all.length / atOnceMax)
      return Array.from(
        { length: calls },
        (_, call) => [queueId, all.slice(call * atOnceMax, (call + 1) * atOnceMax)] as const
      )
    })
  }

  /** Gives back visitors whose renewal has failed. */
  putBack(queueId: string, grants: ReadonlyArray<string>): void {
    for (const jti of grants) this.#put(queueId, jti)
  }

  #put(queueId: string, jti: string): void {
    const grants = this.#waiting.get(queueId) ?? new Set<string>()
    if (grants.size < this.#limits.visitors) grants.add(jti)
    this.#waiting.set(queueId, grants)
  }

  /** Takes in what a renewal has found. The list of ended grants says when their tokens expire. */
  noteEnds({ results }: Renewed): void {
    for (const { jti, code } of results) if (code !== undefined && jti !== null) this.end(jti, Infinity)
  }

  end(jti: string, until: number): void {
    if (this.ended.size < this.#limits.ended) this.ended.set(jti, until)
  }

  forgetExpired(now: number): void {
    for (const [jti, until] of this.ended) if (until <= now) this.ended.delete(jti)
  }

  /** Someone had to wait. Until the next record the gate leads everybody to the room, who gets a place there. */
  engage(queueId: string): void {
    const queue = this.gate.queues[queueId]
    if (queue === undefined) return
    this.gate = { ...this.gate, queues: { ...this.gate.queues, [queueId]: { ...queue, engaged: true } } }
  }

  get isEngaged(): boolean {
    return Object.values(this.gate.queues).some(({ engaged }) => engaged)
  }
}
