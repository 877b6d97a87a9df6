/**
 * Checks an appointment's recorded events: one booking per consumer, and never more bookings of a slot than its
 * capacity.
 */
import type { Recorded } from "./Reader.ts"
import { StepsReader } from "./StepsReader.ts"

interface Rules {
  readonly maxCapacityPerSlot: number
}

interface Slot {
  readonly startTime: number
  readonly endTime: number
}

export class AppointmentReader extends StepsReader<Rules> {
  protected readonly steps = {
    Booked: { from: ["absent", "CANCELLED"], to: "BOOKED", enters: true, grants: true },
    Rescheduled: { from: ["BOOKED"], to: "BOOKED" },
    CheckedIn: { from: ["BOOKED", "NO_SHOW"], to: "CHECKED_IN" },
    Completed: { from: ["BOOKED", "CHECKED_IN", "NO_SHOW"], to: "COMPLETED" },
    Cancelled: { from: ["BOOKED", "CHECKED_IN"], to: "CANCELLED" },
    Missed: { from: ["BOOKED", "CHECKED_IN"], to: "NO_SHOW" }
  }
  private readonly slots = new Map<string, Slot>()

  protected override stepped(event: Recorded): void {
    const consumerId = event.consumerId!
    const booked = this.slots.get(consumerId)
    switch (event.type) {
      case "Booked":
      case "Rescheduled":
        return this.occupy(event, event.data as unknown as Slot)
      case "Cancelled":
        // Archiving a consumer cancels its booking at any time.
        if (event.data["by"] === undefined && booked !== undefined && event.at >= booked.startTime) {
          this.note(event, "comes after the slot has begun")
        }
        this.slots.delete(consumerId)
        return
      case "Missed":
        if (event.data["by"] === undefined && booked !== undefined && event.at < booked.endTime) {
          this.note(event, "comes before the slot's end")
        }
    }
  }

  private occupy(event: Recorded, { startTime, endTime }: Slot): void {
    if (event.at >= startTime) this.note(event, "comes after the slot has begun")
    this.slots.set(event.consumerId!, { startTime, endTime })
    let taken = 0
    for (const slot of this.slots.values()) if (slot.startTime === startTime) taken += 1
    const { maxCapacityPerSlot } = this.rules
    if (taken > maxCapacityPerSlot) this.note(event, `takes place ${taken} of ${maxCapacityPerSlot}`)
  }
}
