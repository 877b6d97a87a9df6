/**
 * For mechanisms whose consumers go from status to status as a table says: each event of a consumer may come from some
 * statuses, and leads to one. One live grant for one consumer is a matter of that table.
 */
import { Reader, type Recorded } from "./Reader.ts"

/** What an event of a consumer does; `nobody` is the status of one who has none. */
export interface Step {
  readonly from: ReadonlyArray<string>
  readonly to: string
  /** It begins a stay: from here its `enteredAt` counts. */
  readonly enters?: boolean
  readonly grants?: boolean
}

export abstract class StepsReader<Rules extends object> extends Reader {
  protected abstract readonly steps: { readonly [type: string]: Step }
  protected rules = {} as Rules
  protected closedAt = Infinity
  protected isEnded = false

  protected override apply(event: Recorded): void {
    const step = this.steps[event.type]
    if (step === undefined) return this.applyOwn(event)
    const before = this.standings.get(event.consumerId!)
    const status = before?.status ?? "nobody"
    if (!step.from.includes(status)) this.note(event, `comes from ${status}`)
    if (step.enters === true) {
      this.entries += 1
      if (this.closedAt !== Infinity) this.note(event, "comes after the closing")
      this.standings.set(event.consumerId!, { status: step.to, enteredAt: event.at, since: event.at })
    } else this.stand(event, step.to, event.data["reason"] as string | undefined)
    if (step.grants === true) this.grants += 1
    this.stepped(event, before?.since)
  }

  /** What there is to look at after a consumer's event; `since` is when its status before began. */
  protected abstract stepped(event: Recorded, since: number | undefined): void

  /** The events of the mechanism itself that only its kind has; true if it is one. */
  protected applySpecial(_event: Recorded): boolean {
    return false
  }

  /** A grant's time, given that the settings name it so. */
  protected checkExpiry(event: Recorded, since: number | undefined, seconds: number | undefined): void {
    if (since === undefined || seconds === undefined || event.at < since + seconds * 1000) {
      this.note(event, "comes before the grant's time is over")
    }
  }

  /** Nobody can use a grant whose time is over. */
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

/** An instant in a recorded configuration, which may be a number or text; Infinity: there is none. */
export const instant = (value: unknown): number =>
  typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Infinity
