/**
 * Checks a waitlist's recorded events: one notice per member, no notice before its time, never more members than the
 * capacity.
 */
import type { Recorded } from "./Reader.ts"
import { StepsReader } from "./StepsReader.ts"

interface Rules {
  readonly capacity?: number
}

export class WaitlistReader extends StepsReader<Rules> {
  protected readonly steps = {
    Entered: { from: ["absent", "LEFT"], to: "ENTERED", enters: true },
    Left: { from: ["ENTERED", "NOTIFIED"], to: "LEFT" },
    Notified: { from: ["ENTERED"], to: "NOTIFIED" },
    Denied: { from: ["ENTERED"], to: "DENIED" }
  }
  private readonly notified = new Set<string>()
  private isNoticeDue = false

  protected override applySpecial({ type }: Recorded): boolean {
    if (type === "NoticeDue") this.isNoticeDue = true
    else if (type === "NoticeScheduled") this.isNoticeDue = false
    else return false
    return true
  }

  protected override stepped(event: Recorded): void {
    const consumerId = event.consumerId!
    if (event.type === "Notified") {
      if (!this.isNoticeDue) this.note(event, "comes before the notice is due")
      if (this.notified.has(consumerId)) this.note(event, "comes a second time")
      this.notified.add(consumerId)
    } else if (event.type === "Denied") {
      if (!this.isEnded) this.note(event, "comes before an end")
    } else if (event.type === "Entered") {
      const { capacity = Infinity } = this.rules
      const members = this.count("ENTERED") + this.count("NOTIFIED")
      if (members > capacity) this.note(event, `is member ${members} of ${capacity}`)
      // A member that received the notice earlier keeps that status.
      if (this.notified.has(consumerId)) this.setStatus(event, "NOTIFIED")
    }
  }
}
