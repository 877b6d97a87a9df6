/** How an organization searches bookings, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { anAppointment, type Slot } from "../../consumer/appointment/appointmentFixture.ts"
import { asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { issuesOf } from "../adminFixture.ts"

describe("Bookings of an appointment", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("are listed in the order of their slots, of one day in the zone of the appointment", () =>
      Effect.gen(function* () {
        const { admin, guest, queue, brand, stranger } = yield* Usher
        const day = 86_400_000
        // Noon UTC, so that the first days of both zones are not over.
        const noon = Math.ceil(Date.now() / day) * day + day / 2
        const settings = { timeZone: "Pacific/Auckland", slotDurationMinutes: 360 }
        const fitting = yield* anAppointment(settings, noon)
        const slots = (yield* fitting.offered).slice(0, 9)
        const guests = yield* Effect.replicateEffect(guest(), slots.length)
        // Booked in another order than that of the slots.
        for (const [index, someone] of guests.entries()) yield* fitting.book(someone, slots[(index * 4) % 9]!.id)
        const list = (query = "", secretKey = brand.secretKey) =>
          admin({ path: `/api/appointments/${fitting.id}/bookings?${query}`, headers: asServer(secretKey) })
        const times = (query = "") =>
          Effect.map(list(query), ({ body }) => body.data.map(({ startTime }: any) => startTime))
        const all = slots.map(({ startTime }) => startTime)
        assert.deepStrictEqual(yield* times(), all)
        assert.deepStrictEqual(yield* times("sortDir=desc&first=2"), all.toReversed().slice(0, 2))
        const { endCursor } = (yield* list("first=4")).body.pageInfo
        assert.deepStrictEqual(yield* times(`first=4&after=${endCursor}`), all.slice(4, 8))

        const dayThere = (at: string) =>
          new Intl.DateTimeFormat("en-CA", { timeZone: settings.timeZone, dateStyle: "short" }).format(Date.parse(at))
        const wanted = dayThere(all[4]!)
        const ofDay = all.filter((at) => dayThere(at) === wanted)
        assert.notDeepEqual(ofDay, all)
        assert.deepStrictEqual(yield* times(`day=${wanted}`), ofDay)
        // The first of them moves to another day, and back.
        const [first] = ofDay
        const mover = guests[guests.findIndex((_, index) => slots[(index * 4) % 9]!.startTime === first)]!
        const away = (yield* fitting.offered)[10]!
        yield* fitting.reschedule(mover, away.id)
        assert.deepStrictEqual(yield* times(`day=${wanted}`), ofDay.slice(1))
        yield* fitting.reschedule(mover, slots.find(({ startTime }) => startTime === first)!.id)
        yield* fitting.checkIn(mover)
        assert.deepStrictEqual(yield* times(`day=${wanted}`), ofDay)
        assert.deepStrictEqual(yield* times(`day=${wanted}&status=CHECKED_IN`), [first])
        assert.deepStrictEqual((yield* list(`day=${wanted}&first=1`)).body.data[0].consumerId, mover.consumerId)
        assert.deepStrictEqual(issuesOf(yield* list("day=2026-02-30")), ["day: date_time"])
        assert.strictEqual((yield* list("", stranger.secretKey)).status, 404)
        const ofQueue = { path: `/api/appointments/${yield* queue()}/bookings`, headers: asServer(brand.secretKey) }
        assert.strictEqual((yield* admin(ofQueue)).status, 404)
      })
    )

    it.effect("are found by slot and by confirmation code, in every status", () =>
      Effect.gen(function* () {
        const { admin, guest, queue, brand, stranger } = yield* Usher
        const fitting = yield* anAppointment({ maxCapacityPerSlot: 3 })
        const [one, other, empty] = (yield* fitting.offered) as [Slot, Slot, Slot]
        const all = yield* Effect.all([guest(), guest(), guest(), guest()])
        const [ann, bob, eve, joe] = all
        const codes: Array<string> = []
        for (const someone of [ann, bob, eve]) codes.push((yield* fitting.book(someone, one.id)).body.confirmationCode)
        codes.push((yield* fitting.book(joe, other.id)).body.confirmationCode)
        const found = (query: string) =>
          Effect.map(fitting.distribution(`/consumers?${query}`), ({ body }) =>
            body.data.map(({ consumerId }: any) => all.findIndex((each) => each.consumerId === consumerId))
          )
        assert.deepStrictEqual(yield* found(`slotId=${one.id}`), [0, 1, 2])
        assert.deepStrictEqual(yield* found(`slotId=${one.id}&first=1`), [0])
        for (const [index, code] of codes.entries()) {
          const { body } = yield* fitting.distribution(`/consumers?confirmationCode=${code}`)
          assert.lengthOf(body.data, 1)
          const slot = index === 3 ? other : one
          assert.deepInclude(body.data[0], {
            consumerId: all[index]!.consumerId,
            confirmationCode: code,
            slotId: slot.id,
            startTime: slot.startTime
          })
        }

        yield* fitting.reschedule(ann, other.id)
        yield* fitting.cancel(bob)
        assert.deepStrictEqual(yield* found(`slotId=${one.id}`), [1, 2])
        assert.deepStrictEqual(yield* found(`slotId=${one.id}&status=BOOKED`), [2])
        assert.deepStrictEqual(yield* found(`slotId=${other.id}`), [0, 3])
        assert.deepStrictEqual(yield* found(`slotId=${other.id}&confirmationCode=${codes[0]}`), [0])
        assert.deepStrictEqual(yield* found(`slotId=${one.id}&confirmationCode=${codes[0]}`), [])
        assert.deepStrictEqual(yield* found(`confirmationCode=${codes[1]}`), [1])
        yield* fitting.book(bob, other.id)
        assert.deepStrictEqual(yield* found(`confirmationCode=${codes[1]}`), [])
        assert.deepStrictEqual(yield* found(`confirmationCode=${codes[0]!.toLowerCase()}`), [0], "as a person types it")
        assert.deepStrictEqual(yield* found(`slotId=${empty.id}`), [])
        const elsewhere = yield* anAppointment({})
        assert.deepStrictEqual(yield* found(`slotId=${(yield* elsewhere.offered)[0]!.id}`), [])
        assert.deepStrictEqual((yield* elsewhere.distribution(`/consumers?confirmationCode=${codes[2]}`)).body.data, [])

        const path = `/api/distributions/${fitting.id}/consumers?confirmationCode=${codes[2]}`
        const foreign = yield* admin({ path, headers: asServer(stranger.secretKey) })
        assert.deepStrictEqual([foreign.status, foreign.body], [404, { error: "Distribution not found" }])
        const { endCursor } = (yield* fitting.distribution(`/consumers?slotId=${other.id}&first=1`)).body.pageInfo
        assert.deepStrictEqual(yield* found(`slotId=${other.id}&after=${endCursor}`), [3, 1])
        const narrowed = yield* fitting.distribution(`/consumers?slotId=${one.id}&after=${endCursor}`)
        assert.deepStrictEqual(issuesOf(narrowed), ["after: string"])
        assert.deepStrictEqual(issuesOf(yield* fitting.distribution("/consumers?slotId=first")), ["slotId: uuid"])
        const lines = `/api/distributions/${yield* queue()}/consumers?slotId=${one.id}&confirmationCode=${codes[2]}`
        const ofQueue = yield* admin({ path: lines, headers: asServer(brand.secretKey) })
        assert.deepStrictEqual(issuesOf(ofQueue), ["confirmationCode: picklist", "slotId: picklist"])
      })
    )
  })
})
