/** How an organization searches bookings, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { anAppointment, type Slot } from "../../consumer/appointment/appointmentFixture.ts"
import { asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { issuesOf } from "../adminFixture.ts"

describe("Bookings of an appointment", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
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
