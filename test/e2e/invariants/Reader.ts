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
