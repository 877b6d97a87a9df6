/** Checks a draw's recorded events: one list, one drawing, and never more winners than configured. */
import type { Recorded } from "./Reader.ts"
import { instant, StepsReader } from "./StepsReader.ts"

interface Rules {
  readonly winnerCount: number
  readonly capacity?: number
  readonly closeAt: unknown
  readonly drawAt: unknown
  readonly admissionExpirationSeconds?: number
  readonly continueSelectingUntilCompleted: boolean
}

export class DrawReader extends StepsReader<Rules> {
  protected readonly steps = {
    Entered: { from: ["absent", "LEFT"], to: "ENTERED", enters: true },
    Left: { from: ["ENTERED"], to: "LEFT" },
    Won: { from: ["ENTERED"], to: "WON", grants: true },
    Expired: { from: ["WON"], to: "DENIED" },
    Denied: { from: ["ENTERED", "WON"], to: "DENIED" },
    Completed: { from: ["WON"], to: "COMPLETED" }
  }
  private readonly happened = new Set<string>()

  protected override applySpecial(event: Recorded): boolean {
    const { type } = event
    if (type !== "SeedDrawn" && type !== "EntriesFixed" && type !== "Drawn") return false
    if (this.happened.has(type)) this.note(event, "comes a second time")
    this.happened.add(type)
    if (type === "SeedDrawn" && this.entries > 0) this.note(event, "comes after an entry")
    if (type === "EntriesFixed" && this.closedAt === Infinity) this.note(event, "comes before the closing")
    if (type === "Drawn") this.checkDrawn(event)
    return true
  }

  protected override stepped(event: Recorded, since: number | undefined): void {
    const { capacity = Infinity, closeAt, admissionExpirationSeconds } = this.rules
    switch (event.type) {
      case "Entered": {
        if (event.at >= instant(closeAt)) this.note(event, "comes after its time")
        const entered = this.count("ENTERED")
        if (entered > capacity) this.note(event, `is entry ${entered} of ${capacity}`)
        return
      }
      case "Won":
        return this.win(event)
      case "Expired":
        return this.checkExpiry(event, since, admissionExpirationSeconds)
      case "Completed":
        return this.checkInTime(event, since, admissionExpirationSeconds)
    }
  }

  private win(event: Recorded): void {
    const { winnerCount, drawAt, continueSelectingUntilCompleted } = this.rules
    if (!this.happened.has("EntriesFixed")) this.note(event, "comes before the list is fixed")
    if (event.at < instant(drawAt)) this.note(event, "comes before its time")
    const holding = this.count("WON") + this.count("COMPLETED")
    if (holding > winnerCount) this.note(event, `makes ${holding} winners of ${winnerCount}`)
    if (this.happened.has("Drawn")) {
      if (!continueSelectingUntilCompleted) this.note(event, "comes after the drawing")
    } else if (this.grants > winnerCount) this.note(event, `is win ${this.grants} of ${winnerCount}`)
  }

  /** Checks that the drawing has drawn all winners, or that no entrant is left. */
  private checkDrawn(event: Recorded): void {
    if (this.grants < this.rules.winnerCount && this.count("ENTERED") > 0) {
      this.note(event, `comes after ${this.grants} wins of ${this.rules.winnerCount}`)
    }
  }
}
