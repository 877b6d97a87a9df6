/** The encoded slots of an appointment: the same text as the declared schema writes, and never out of date. */
import { assert, describe, it } from "@effect/vitest"
import { HashMap, Result, Schema } from "effect"
import type { Facts } from "../../../../src/domain/appointment/Appointment.ts"
import { timetableOf } from "../../../../src/domain/appointment/Timetable.ts"
import { dayMillis } from "../../../../src/domain/values/WallClock.ts"
import { Slots as Declared } from "../../../../src/api/consumer/AppointmentApi.ts"
import * as Slots from "../../../../src/http/consumer/appointment/Slots.ts"

const id = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
const start = Date.UTC(2026, 2, 27)
const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

const factsOf = (timeZone: string, slotDurationMinutes: number, now = start): Facts => ({
  now,
  timeZone,
  locationId: undefined,
  timetable: timetableOf({
    timeZone,
    hours: Object.fromEntries(days.map((day) => [day, [{ from: "00:00", to: "24:00" }]])),
    slotDurationMinutes,
    bufferMinutes: 0,
    slotsFrom: start,
    slotsUntil: start + 100 * dayMillis
  } as never),
  capacity: 3,
  isOpenStill: true,
  taken: HashMap.empty()
})

const parsed = (answer: Result.Result<Uint8Array, unknown>) =>
  JSON.parse(Buffer.from(Result.getOrThrow(answer)).toString()) as typeof Declared.Encoded

describe("The slots of an appointment", () => {
  for (const [timeZone, minutes] of [
    ["UTC", 60],
    ["Europe/Berlin", 30],
    ["America/New_York", 7],
    ["Asia/Kathmandu", 45],
    ["Pacific/Apia", 1_440]
  ] as const) {
    it(`of ${minutes} minutes in ${timeZone} are as the schema writes them`, () => {
      const facts = factsOf(timeZone, minutes)
      const sent = parsed(Slots.make()(id, {}, facts))
      assert.isNotEmpty(sent.data)
      const schema = Schema.toCodecJson(Declared)
      assert.deepStrictEqual(Schema.encodeSync(schema)(Schema.decodeUnknownSync(schema)(sent)), sent)
    })
  }

  it("show a booking at once, and hide a slot that has begun", () => {
    const slotsOf = Slots.make()
    const facts = factsOf("UTC", 60)
    const first = slotsOf(id, {}, facts)
    assert.strictEqual(Result.getOrThrow(slotsOf(id, {}, { ...facts, now: start + 1 })), Result.getOrThrow(first))
    const [slot, next] = parsed(first).data
    const startTime = Date.parse(slot!.startTime)
    const taken = HashMap.set(facts.taken, startTime, { endTime: startTime + 3_600_000, places: 2 })
    assert.strictEqual(parsed(slotsOf(id, {}, { ...facts, taken })).data[0]!.available, 1)
    assert.strictEqual(parsed(slotsOf(id, {}, facts)).data[0]!.available, 3)
    assert.strictEqual(parsed(slotsOf(id, {}, { ...facts, now: startTime })).data[0]!.id, next!.id)
    assert.strictEqual(parsed(slotsOf(id, {}, { ...facts, isOpenStill: false })).data[0]!.available, 0)
    assert.strictEqual(parsed(slotsOf(id, {}, { ...facts, capacity: 9 })).data[0]!.capacity, 9)
  })

  it("are at most 11,000 in one answer", () => {
    const slotsOf = Slots.make()
    const facts = factsOf("UTC", 1)
    assert.lengthOf(parsed(slotsOf(id, {}, facts)).data, 7 * 1_440 - 1)
    for (let repetition = 0; repetition < 2; repetition++) {
      const refused = slotsOf(id, { startDate: start, endDate: start + 8 * dayMillis }, facts)
      assert.isTrue(Result.isFailure(refused))
    }
  })
})
