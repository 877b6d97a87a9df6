/** Checks a timed release's recorded events: never more units taken than its capacity. */
import type { Recorded } from "./Reader.ts"
import { StepsReader } from "./StepsReader.ts"

interface Rules {
  readonly capacity?: number
  readonly admissionExpirationSeconds?: number
}

export class TimedReleaseReader extends StepsReader<Rules> {
  protected readonly steps = {
    Entered: { from: ["absent", "LEFT", "EXPIRED"], to: "ENTERED", enters: true, grants: true },
    Selected: { from: ["ENTERED"], to: "ENTERED" },
    Expired: { from: ["ENTERED"], to: "EXPIRED" },
    Denied: { from: ["ENTERED"], to: "DENIED" },
    Completed: { from: ["ENTERED"], to: "COMPLETED" },
    Left: { from: ["ENTERED"], to: "LEFT" }
  }

  protected override stepped(event: Recorded, since: number | undefined): void {
    const { capacity = Infinity, admissionExpirationSeconds } = this.rules
    if (event.type === "Expired") this.checkExpiry(event, since, admissionExpirationSeconds)
    else if (event.type === "Completed" || event.type === "Left") {
      this.checkInTime(event, since, admissionExpirationSeconds)
    } else if (event.type === "Entered") {
      const out = this.count("ENTERED") + this.count("COMPLETED")
      if (out > capacity) this.note(event, `takes unit ${out} of ${capacity}`)
    }
  }
}
