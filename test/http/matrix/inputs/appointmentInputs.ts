/** Inputs of the operations on appointments. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { always } from "../../consumer/appointment/appointmentFixture.ts"
import type { Input, MakeInput, Name } from "../inputs.ts"
import { byServer, type Side, type World } from "../world.ts"

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()

const settings = () => ({
  name: "Fitting",
  slotDurationMinutes: 60,
  slotsFrom: inDays(0),
  slotsUntil: inDays(5),
  hours: always
})

/** Creates an appointment of a tenant. Returns its id and those of two of its slots. */
const made = Effect.fnUntraced(function* (side: Side) {
  const { id } = yield* byServer("admin", side, "/appointments", { ...settings(), sequenceId: side.sequenceId })
  const { data } = yield* byServer("consumer", side, `/appointments/${id}/slots`)
  return { id: id as string, slots: [data[1].id as string, data[2].id as string] as const }
})

/** Creates appointments in all tenants. Returns the own one with the names of it and of a slot. */
const namedTo = Effect.fnUntraced(function* (own: Side, { sides }: World) {
  const [mine, test, foreign] = [yield* made(own), yield* made(sides.test), yield* made(sides.foreign)]
  const name = (of: (made: typeof mine) => string): Name => ({
    own: of(mine),
    others: [of(test), of(foreign)],
    unknown: randomUUID()
  })
  return { ...mine, appointment: name(({ id }) => id), slot: name(({ slots }) => slots[0]) }
})

const booked = ({ consumerId, secretKey }: Side, id: string, slotId: string) =>
  byServer("consumer", { secretKey }, `/appointments/${id}/book`, { slotId }, consumerId)

/** An operation on an appointment, for any caller or its consumer; `before` is an action to take first. */
const onAppointment =
  (input: Omit<Input, "params" | "names">, before?: "book" | "end"): MakeInput =>
  (own, world) =>
    Effect.gen(function* () {
      const { id, slots, appointment } = yield* namedTo(own, world)
      if (before === "book") yield* booked(own, id, slots[1])
      if (before === "end") yield* byServer("admin", own, `/appointments/${id}/end`, {})
      return { ...input, params: { appointmentId: id }, names: [appointment] }
    })

/** An operation with a slot in its body. */
const onSlot =
  (field: "slotId" | "newSlotId", guestStatus: number): MakeInput =>
  (own, world) =>
    Effect.gen(function* () {
      const { id, slots, appointment, slot } = yield* namedTo(own, world)
      if (field === "newSlotId") yield* booked(own, id, slots[1])
      const names = [appointment, slot]
      return { params: { appointmentId: id }, body: { [field]: slots[0] }, names, status: 200, guestStatus }
    })

/** An admin's operation on a consumer's booking. */
const onBooking =
  (status: number): MakeInput =>
  (own, world) =>
    Effect.gen(function* () {
      const { id, slots, appointment } = yield* namedTo(own, world)
      const { consumerId } = own
      yield* booked(own, id, slots[0])
      const others = [world.sides.test.consumerId, world.sides.foreign.consumerId]
      const names = [appointment, { own: consumerId, others, unknown: randomUUID() }]
      return { params: { id }, body: { consumerId }, names, status }
    })

/** An admin's operation on an appointment. */
const record =
  (body?: object): MakeInput =>
  (own, world) =>
    Effect.map(namedTo(own, world), ({ id, appointment }) => ({
      params: { id },
      names: [appointment],
      status: 200,
      ...(body && { body })
    }))

const sequenceNamed = (own: Side, { sides }: World): Name => ({
  own: own.sequenceId,
  others: [sides.test.sequenceId, sides.foreign.sequenceId],
  unknown: randomUUID()
})

/** The inputs, by operation. */
export const appointmentInputs: { readonly [operation: string]: MakeInput } = {
  "GET /api/appointments/:appointmentId": onAppointment({ status: 200 }),
  "GET /api/appointments/:appointmentId/slots": onAppointment({ status: 200, query: "timezone=Asia/Tokyo" }),
  "POST /api/appointments/:appointmentId/book": onSlot("slotId", 200),
  "GET /api/appointments/:appointmentId/me": onAppointment({ status: 200, guestStatus: 200 }, "book"),
  "POST /api/appointments/:appointmentId/cancel": onAppointment({ status: 200, guestStatus: 409 }, "book"),
  "POST /api/appointments/:appointmentId/reschedule": onSlot("newSlotId", 409),
  "GET /api/appointments/:appointmentId/events": onAppointment({ status: 200, guestStatus: 200 }, "end"),
  "POST /api/appointments": (own, world) =>
    Effect.succeed({
      body: { ...settings(), sequenceId: own.sequenceId },
      status: 201,
      names: [sequenceNamed(own, world)]
    }),
  "GET /api/appointments": (own, world) =>
    Effect.succeed({
      query: `sequenceId=${own.sequenceId}`,
      status: 200,
      strangerStatus: 200,
      names: [sequenceNamed(own, world)]
    }),
  "GET /api/appointments/:id": record(),
  "PUT /api/appointments/:id": record({ name: "Another" }),
  "DELETE /api/appointments/:id": record(),
  "POST /api/appointments/:id/end": record(),
  "POST /api/appointments/:id/unpark": record(),
  "GET /api/appointments/:id/bookings": (own, world) =>
    Effect.gen(function* () {
      const { id, slots, appointment } = yield* namedTo(own, world)
      yield* booked(own, id, slots[0])
      return { params: { id }, names: [appointment], status: 200, secrets: [own.consumerId] }
    }),
  "GET /api/appointments/:id/slots": record(),
  "POST /api/appointments/:id/reschedule": (own, world) =>
    Effect.gen(function* () {
      const { id, slots, appointment } = yield* namedTo(own, world)
      const { consumerId } = own
      yield* booked(own, id, slots[0])
      const others = [world.sides.test.consumerId, world.sides.foreign.consumerId]
      const names = [appointment, { own: consumerId, others, unknown: randomUUID() }]
      return { params: { id }, body: { consumerId, newSlotId: slots[1] }, names, status: 200 }
    }),
  "POST /api/appointments/:id/check-in": onBooking(200),
  "POST /api/appointments/:id/complete": onBooking(200),
  // The slot has not begun.
  "POST /api/appointments/:id/no-show": onBooking(409)
}
