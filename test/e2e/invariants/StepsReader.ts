/**
 * The base for mechanisms with a table of statuses: each event of a consumer requires one of some statuses and leads to
 * one. The table also ensures one live grant per consumer.
 */
import { Reader, type Recorded } from "./Reader.ts"

/** The effect of a consumer's event; `absent` is the status of a consumer without a place. */
export interface Step {
  readonly from: ReadonlyArray<string>
  readonly to: string
  /** Whether the event starts a new stay, which sets `enteredAt`. */
  readonly enters?: boolean
  readonly grants?: boolean
}

/** The events that end a place, and with it a grant. A booking is no grant. */
const ends: ReadonlySet<string> = new Set(["Expired", "Denied", "Completed", "Left"])

export abstract class StepsReader<Rules extends object> extends Reader {
  protected abstract readonly steps: { readonly [type: string]: Step }
  protected rules = {} as Rules
  protected closedAt = Infinity
  protected isEnded = false

  protected override apply(event: Recorded): void {
    const step = this.steps[event.type]
    if (step === undefined) return this.applyOwn(event)
    const before = this.states.get(event.consumerId!)
    const status = before?.status ?? "absent"
    if (!step.from.includes(status)) this.note(event, `comes from ${status}`)
    if (step.enters === true) {
      this.entries += 1
      if (this.closedAt !== Infinity) this.note(event, "comes after the closing")
      this.states.set(event.consumerId!, { status: step.to, enteredAt: event.at, since: event.at })
    } else this.setStatus(event, step.to, event.data["reason"] as string | undefined)
    if (step.grants === true) {
      this.grants += 1
      this.startGrant(event)
    } else if (ends.has(event.type)) this.endGrant(event)
    this.stepped(event, before?.since)
  }

  /** Checks a consumer's event after its step; `since` is the start of its previous status. */
  protected abstract stepped(event: Recorded, since: number | undefined): void

  /** Handles events of the mechanism that only its kind has. Returns whether it recognized the event. */
  protected applySpecial(_event: Recorded): boolean {
    return false
  }

  /** Checks that a grant does not expire early. */
  protected checkExpiry(event: Recorded, since: number | undefined, seconds: number | undefined): void {
    if (since === undefined || seconds === undefined || event.at < since + seconds * 1000) {
      this.note(event, "comes before the grant's time is over")
    }
  }

  /** Checks that a grant is used before it expires. */
  protected checkInTime(event: Recorded, since: number | undefined, seconds: number | undefined): void {
    if (since !== undefined && seconds !== undefined && event.at >= since + seconds * 1000) {
      this.note(event, "comes after the grant's time was over")
    }
  }

  private applyOwn(event: Recorded): void {
    switch (event.type) {
      case "Configured":
        this.rules = event.data["configuration"] as Rules
        return
      case "Ended":
        this.isEnded = true
        this.closedAt = Math.min(this.closedAt, event.at)
        return
      case "Closed":
        if (this.closedAt !== Infinity) this.note(event, "comes a second time")
        this.closedAt = event.at
        break
      case "Archived":
      case "TornDown":
        break
      default:
        if (!this.applySpecial(event)) this.note(event, "is of no known type")
    }
  }
}

/** Returns the milliseconds of a recorded time, which is a number or text; Infinity if there is none. */
export const instant = (value: unknown): number =>
  typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Infinity
