/** The identifiers of an appointment's slots. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { slotStart } from "../../../../src/domain/appointment/Appointment.ts"
import { Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { anAppointment, type Slot } from "./appointmentFixture.ts"

const uuidV8 = /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

const idsByStart = (slots: ReadonlyArray<Slot>) => slots.map(({ id, startTime }) => [startTime, id])

describe("The id of a slot", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("is derived from the slot's start and its appointment", () =>
      Effect.gen(function* () {
        const [one, other] = [yield* anAppointment(), yield* anAppointment()]
        const slots = yield* one.offered
        for (const { id, startTime } of slots) {
          assert.match(id, uuidV8)
          assert.strictEqual(slotStart(one.id, id), Date.parse(startTime))
        }
        const others = new Set((yield* other.offered).map(({ id }) => id))
        assert.deepStrictEqual(
          slots.filter(({ id }) => others.has(id)),
          []
        )
      })
    )

    it.effect(
      "stays the same when other settings of the appointment change, and after a booking and its cancellation",
      () =>
        Effect.gen(function* () {
          const { guest } = yield* Usher
          const { offered, change, book, cancel } = yield* anAppointment()
          const before = yield* offered
          const someone = yield* guest()
          yield* book(someone, before[3]!.id)
          yield* cancel(someone)
          yield* change({ name: "Another", maxCapacityPerSlot: 5 })
          assert.deepStrictEqual(idsByStart(yield* offered), idsByStart(before))
        })
    )

    it.effect("is described as derived and stable in the API description", () =>
      Effect.gen(function* () {
        const { consumer } = yield* Usher
        const { schemas } = (yield* consumer({ path: "/openapi.json" })).body.components
        const { description } = schemas.Slots.properties.data.items.properties.id
        for (const said of ["derived", "stable", "UUIDv8", "not a UUIDv7"]) assert.include(description, said)
      })
    )
  })
})
