/** Checks a timed release's recorded events: never more units taken than its capacity. */
import type { Recorded } from "./Reader.ts"
import { StepsReader } from "./StepsReader.ts"

interface Rules {
  readonly capacity?: number
  readonly grantsPerConsumer?: number
  readonly admissionExpirationSeconds?: number
}

export class TimedReleaseReader extends StepsReader<Rules> {
  protected readonly steps = {
    Entered: { from: ["absent", "LEFT", "EXPIRED", "COMPLETED"], to: "ENTERED", enters: true, grants: true },
    Selected: { from: ["ENTERED"], to: "ENTERED" },
    Expired: { from: ["ENTERED"], to: "EXPIRED" },
    Denied: { from: ["ENTERED"], to: "DENIED" },
    Completed: { from: ["ENTERED"], to: "COMPLETED" },
    Left: { from: ["ENTERED"], to: "LEFT" }
  }

  /** Grants that were completed. Their units stay sold, whatever their consumers do later. */
  private sold = 0
  private readonly completed = new Set<string>()

  /** Checks that a consumer comes again only as often as it may. Its entry is counted as a grant already. */
  private checkReentry(event: Recorded): void {
    const { grantsPerConsumer } = this.rules
    const had = this.grantsOf(event.consumerId!) - 1
    if (grantsPerConsumer === undefined ? this.completed.has(event.consumerId!) : had >= grantsPerConsumer) {
      this.note(event, `comes after ${had} grants of ${grantsPerConsumer ?? "one that was used"}`)
    }
  }

  protected override stepped(event: Recorded, since: number | undefined): void {
    const { capacity = Infinity, admissionExpirationSeconds } = this.rules
    if (event.type === "Expired") this.checkExpiry(event, since, admissionExpirationSeconds)
    else if (event.type === "Completed" || event.type === "Left") {
      this.checkInTime(event, since, admissionExpirationSeconds)
      if (event.type === "Completed") {
        this.sold += 1
        this.completed.add(event.consumerId!)
      }
    } else if (event.type === "Entered") {
      this.checkReentry(event)
      const out = this.count("ENTERED") + this.sold
      if (out > capacity) this.note(event, `takes unit ${out} of ${capacity}`)
    }
  }
}
