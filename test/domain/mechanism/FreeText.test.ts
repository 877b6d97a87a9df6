/** Events are kept permanently, also those of erased consumers. So nothing in them may identify a consumer. */
import { assert, describe, it } from "@effect/vitest"
import type { Schema } from "effect"
import { Event as AppointmentEvent } from "../../../src/domain/appointment/Event.ts"
import { Event as AuctionEvent } from "../../../src/domain/auction/Event.ts"
import { Event as DrawEvent } from "../../../src/domain/draw/Event.ts"
import { Event as QueueEvent } from "../../../src/domain/queue/Event.ts"
import { Event as TimedReleaseEvent } from "../../../src/domain/timedRelease/Event.ts"
import { Event as WaitlistEvent } from "../../../src/domain/waitlist/Event.ts"

const events = { AppointmentEvent, AuctionEvent, DrawEvent, QueueEvent, TimedReleaseEvent, WaitlistEvent }

/** The texts of any content that events have: ids, names of keys, codes and numbers that Usher makes. */
const known = new Set([
  "consumerId",
  "by",
  "redemptionId",
  "bookingId",
  "confirmationCode",
  "variantId",
  "seed",
  "salt",
  "handleSalt",
  "entriesDigest",
  "randomness",
  "signature"
])

describe("The events of mechanisms", () => {
  it("have no field for free text", () => {
    const found = Object.entries(events).flatMap(([name, event]) =>
      Object.entries(event.cases as { readonly [tag: string]: Schema.Struct<Schema.Struct.Fields> }).flatMap(
        ([tag, { fields }]) =>
          Object.entries(fields)
            .filter(([, field]) => field.ast._tag === "String" && field.ast.checks === undefined)
            .map(([field]) => ({ field, path: `${name}.${tag}.${field}` }))
      )
    )
    assert.isAbove(found.length, 30)
    assert.deepStrictEqual(
      found.filter(({ field }) => !known.has(field)).map(({ path }) => path),
      []
    )
    assert.deepStrictEqual(
      [...known].filter((field) => !found.some((one) => one.field === field)),
      [],
      "fields that no event has"
    )
  })
})
