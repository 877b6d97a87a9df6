/**
 * Reads a mechanism's recorded events in sequence and collects violations. This class contains the checks for all
 * kinds.
 */

/** A recorded event as the Admin API lists it; `data` contains the fields of its type. */
export interface Recorded {
  readonly sequence: number
  readonly type: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly consumerId?: string
  readonly data: { readonly [name: string]: unknown }
}

/** The state of a consumer according to its events. */
export interface ConsumerState {
  readonly status: string
  readonly enteredAt: number
  readonly since: number
  readonly reason?: string
}

/** The result of reading a history. */
export interface Reading {
  readonly states: ReadonlyMap<string, ConsumerState>
  /** The violations in words, each with the type and number of its event. */
  readonly violations: ReadonlyArray<string>
  readonly entries: number
  readonly grants: number
  /** For queues only, like `inversions`. */
  readonly grantsByRate: number
  readonly inversions: number
}

export abstract class Reader implements Reading {
  readonly states = new Map<string, ConsumerState>()
  readonly violations: Array<string> = []
  entries = 0
  grants = 0
  grantsByRate = 0
  inversions = 0
  protected firstAt = 0
  protected lastAt = 0
  private sequence = 0
  /** The number of the event that made the live grant of a consumer, and how many grants it has had. */
  private readonly liveGrants = new Map<string, number>()
  /** The events that end a grant and name none; undefined once an event has named one. */
  private unnamed: Array<Recorded> | undefined = []
  private readonly grantCounts = new Map<string, number>()

  take(event: Recorded): void {
    if (event.sequence !== this.sequence + 1) this.note(event, `comes after event ${this.sequence}`)
    if (event.at < this.lastAt) this.note(event, "is earlier than the event before it")
    if (this.sequence === 0) this.firstAt = event.at
    this.sequence = event.sequence
    this.lastAt = event.at
    this.apply(event)
  }

  protected abstract apply(event: Recorded): void

  protected setStatus(event: Recorded, status: ConsumerState["status"], reason?: string): void {
    const enteredAt = this.states.get(event.consumerId!)?.enteredAt ?? Number.NaN
    const state = { status, enteredAt, since: event.at }
    this.states.set(event.consumerId!, reason === undefined ? state : { ...state, reason })
  }

  /** Records a grant. */
  protected startGrant({ consumerId, sequence }: Recorded): void {
    this.liveGrants.set(consumerId!, sequence)
    this.grantCounts.set(consumerId!, this.grantsOf(consumerId!) + 1)
  }

  /** The number of grants that are live. */
  protected get inside(): number {
    return this.liveGrants.size
  }

  /** Returns how many grants the consumer has had. */
  protected grantsOf(consumerId: string): number {
    return this.grantCounts.get(consumerId) ?? 0
  }

  /**
   * Checks that an event names the live grant that it ends before its token expires, and no other. A journal in which no event
   * names a grant is from before that was recorded.
   */
  protected endGrant(event: Recorded): void {
    const live = this.liveGrants.get(event.consumerId!)
    const named = (event.data["grant"] as { readonly sequence: number } | undefined)?.sequence
    const isNamed = event.type !== "Expired" || named !== undefined
    const expected = isNamed ? live : undefined
    this.liveGrants.delete(event.consumerId!)
    if (named !== undefined) {
      for (const unnamed of this.unnamed ?? []) this.note(unnamed, "names no grant")
      this.unnamed = undefined
    }
    if (named === expected) return
    if (named === undefined && this.unnamed !== undefined) this.unnamed.push(event)
    else this.note(event, `names grant ${named}, and the consumer holds ${live}`)
  }

  /** Checks that a consumer that enters may still have a grant. */
  protected checkLimit(event: Recorded, grantsPerConsumer: number | undefined): void {
    const had = this.grantsOf(event.consumerId!)
    if (grantsPerConsumer !== undefined && had >= grantsPerConsumer) {
      this.note(event, `comes after ${had} grants of ${grantsPerConsumer}`)
    }
  }

  /** Returns the number of consumers with this status. */
  protected count(status: string): number {
    let found = 0
    for (const state of this.states.values()) if (state.status === status) found += 1
    return found
  }

  protected note({ type, sequence }: Recorded, what: string): void {
    this.violations.push(`${type} ${sequence} ${what}`)
  }
}
