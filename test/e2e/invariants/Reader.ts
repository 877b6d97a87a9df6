/**
 * Reads a mechanism's recorded events in order and notes everything that must not be. What is so for every kind is here.
 */

/** A recorded event, as the Admin API lists it; `data` holds what only its type has. */
export interface Recorded {
  readonly sequence: number
  readonly type: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly consumerId?: string
  readonly data: { readonly [name: string]: unknown }
}

/** A consumer's standing as its events tell it. */
export interface Standing {
  readonly status: string
  readonly enteredAt: number
  readonly since: number
  readonly reason?: string
}

/** What the events add up to. */
export interface Reading {
  readonly standings: ReadonlyMap<string, Standing>
  /** What must not be, in words, with the sequence where it was seen. */
  readonly violations: ReadonlyArray<string>
  readonly entries: number
  readonly grants: number
  /** Of a queue alone, as is what follows. */
  readonly grantsByRate: number
  readonly inversions: number
}

export abstract class Reader implements Reading {
  readonly standings = new Map<string, Standing>()
  readonly violations: Array<string> = []
  entries = 0
  grants = 0
  grantsByRate = 0
  inversions = 0
  protected firstAt = 0
  protected lastAt = 0
  private sequence = 0

  take(event: Recorded): void {
    if (event.sequence !== this.sequence + 1) this.note(event, `follows on ${this.sequence}`)
    if (event.at < this.lastAt) this.note(event, "is earlier than the event before it")
    if (this.sequence === 0) this.firstAt = event.at
    this.sequence = event.sequence
    this.lastAt = event.at
    this.apply(event)
  }

  protected abstract apply(event: Recorded): void

  protected stand(event: Recorded, status: Standing["status"], reason?: string): void {
    const enteredAt = this.standings.get(event.consumerId!)?.enteredAt ?? Number.NaN
    const standing = { status, enteredAt, since: event.at }
    this.standings.set(event.consumerId!, reason === undefined ? standing : { ...standing, reason })
  }

  /** How many consumers stand so now. */
  protected count(status: string): number {
    let found = 0
    for (const standing of this.standings.values()) if (standing.status === status) found += 1
    return found
  }

  protected note({ type, sequence }: Recorded, what: string): void {
    this.violations.push(`${type} ${sequence} ${what}`)
  }
}
