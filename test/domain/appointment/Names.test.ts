import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { slotId, slotStart } from "../../../src/domain/appointment/Appointment.ts"
import { bookingName, entropyOfBooking } from "../../../src/domain/appointment/Names.ts"
import { Id } from "../../../src/domain/values/Ids.ts"
import { entropy } from "./history.ts"

const appointment = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
const another = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5b"
const nine = Date.parse("2026-11-23T09:00:00.000Z")

describe("a slot's id", () => {
  it("is a UUID that contains when it begins, and in which appointment", () => {
    assert.strictEqual(
      slotId(appointment, nine),
      "01a2079a-33a0-8d7a-b0f2-0f1e2d3c4b5a".replace(/^.{13}/, timestampOf(nine))
    )
    assert.isTrue(Schema.is(Id)(slotId(appointment, nine)))
    assert.notStrictEqual(slotId(another, nine), slotId(appointment, nine))
  })

  it("is unknown in another appointment, and other ids are unknown here", () => {
    assert.strictEqual(slotStart(appointment, slotId(appointment, nine)), nine)
    for (const name of [
      slotId(another, nine),
      appointment,
      another,
      "01a2079a-33a0-8d7a-80f2-0f1e2d3c4b5a",
      "",
      "slot"
    ]) {
      assert.isUndefined(slotStart(appointment, name), name)
    }
  })

  it.prop(
    "gives its beginning, for every instant that can be written as text",
    { at: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 253_402_300_799_999 }))) },
    ({ at }) => {
      assert.strictEqual(slotStart(appointment, slotId(appointment, at)), at)
    }
  )
})

describe("a booking's id", () => {
  it("is a UUIDv7 of its instant, with a code of other bits", () => {
    const { bookingId, confirmationCode } = bookingName(nine, entropy)
    assert.deepStrictEqual([bookingId, confirmationCode], [`${timestampOf(nine)}-7001-9223-344556677889`, "YGMTVPCM"])
    const changed = bookingName(nine, `${entropy.slice(0, 19)}${"0".repeat(13)}`)
    assert.deepStrictEqual([changed.bookingId, changed.confirmationCode], [bookingId, "22222222"])
    assert.strictEqual(bookingName(nine, "f".repeat(32)).confirmationCode, "ZZZZZZZZ")
  })

  it("leads back to random bytes that lead to it", () => {
    for (const random of [entropy, "0".repeat(32), "f".repeat(32), "0123456789abcdef0123456789abcdef"]) {
      const { bookingId, confirmationCode } = bookingName(nine, random)
      const again = bookingName(nine, entropyOfBooking(bookingId, confirmationCode))
      assert.deepStrictEqual(again, { bookingId, confirmationCode })
    }
  })

  it("uses all its random bits: 2,000 ids of similar entropy are all different", () => {
    const names = Array.from({ length: 1_000 }, (_, n) => n.toString(16).padStart(3, "0"))
    const ids = new Set(names.map((n) => bookingName(nine, `${n}${entropy.slice(3)}`).bookingId))
    const codes = new Set(names.map((n) => bookingName(nine, `${entropy.slice(0, 26)}${n}000`).confirmationCode))
    assert.deepStrictEqual([ids.size, codes.size], [1_000, 1_000])
  })
})

function timestampOf(at: number): string {
  return at.toString(16).padStart(12, "0").replace(/^.{8}/, "$&-")
}
