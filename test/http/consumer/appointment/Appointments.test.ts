/** The path of a consumer through an appointment, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { anotherEngine } from "../../../engine/engineFixture.ts"
import { openStream } from "../../support/eventStream.ts"
import { movableClock } from "../../../support/movableClock.ts"
import { type Answer, asConsumer, asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { anAppointment } from "./appointmentFixture.ts"
import { anAudience, anExperience, aSequence } from "../experience/experienceFixture.ts"
import { isoUtc } from "../mechanism/mechanismFixture.ts"

const clock = movableClock()
const dayMillis = 86_400_000
const uuid = /^[\da-f]{8}-[\da-f]{4}-\d[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

const dayFromNow = (days: number): string => new Date(clock.now() + days * dayMillis).toISOString().slice(0, 10)

const refused = ({ status, body }: Answer) => [status, body]
const issuesOf = ({ status, body }: Answer) => [
  status,
  body.issues.map((issue: any) => `${issue.path.map(({ key }: any) => key).join(".")}: ${issue.type}`)
]

const slotNotFound = [404, { error: "Slot not found" }]

describe("An appointment on the Consumer API", () => {
  layer(Fixture.layer.pipe(Layer.provide(clock.layer)), { excludeTestServices: true })((it) => {
    it.effect("is booked once, and is shown to the consumer who booked it", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { id, offered, book, me } = yield* anAppointment()
        const [someone, slot] = [yield* guest(), (yield* offered)[3]!]
        assert.deepStrictEqual((yield* me(someone)).body, { status: "NOT_BOOKED" })
        const booked = yield* book(someone, slot.id)
        assert.strictEqual(booked.status, 200)
        const { bookingId, confirmationCode, createdAt, updatedAt, ...rest } = booked.body
        assert.deepStrictEqual(rest, {
          status: "BOOKED",
          revision: 0,
          appointmentId: id,
          consumerId: someone.consumerId,
          slotId: slot.id,
          startTime: slot.startTime,
          endTime: slot.endTime
        })
        assert.match(bookingId, uuid)
        assert.match(confirmationCode, /^[2-9A-HJ-NP-Z]{8}$/)
        assert.match(createdAt, isoUtc)
        assert.strictEqual(updatedAt, createdAt)
        assert.deepStrictEqual((yield* book(someone, slot.id)).body, booked.body)
        assert.deepStrictEqual((yield* me(someone)).body, booked.body)
        assert.strictEqual((yield* offered).find((other) => other.id === slot.id)!.available, 0)
      })
    )

    it.effect("gives each booking a different id and confirmation code", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { offered, book } = yield* anAppointment({ maxCapacityPerSlot: 20 })
        const slot = (yield* offered)[1]!
        const guests = yield* Effect.all(Array.from({ length: 20 }, () => guest()))
        const bookings = yield* Effect.forEach(guests, (one) => book(one, slot.id), { concurrency: "unbounded" })
        for (const field of ["bookingId", "confirmationCode"]) {
          assert.strictEqual(new Set(bookings.map(({ body }) => body[field])).size, 20, field)
        }
      })
    )

    it.effect("refuses a second booking of a consumer, and a full slot", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { offered, book, me } = yield* anAppointment()
        const [first, second] = [yield* guest(), yield* guest()]
        const [, one, other] = yield* offered
        const { body } = yield* book(first, one!.id)
        const again = [409, { error: "Another slot is booked already", code: "ALREADY_BOOKED" }]
        assert.deepStrictEqual(refused(yield* book(first, other!.id)), again)
        assert.deepStrictEqual(refused(yield* book(second, one!.id)), [
          409,
          { error: "Slot is full", code: "SLOT_FULL" }
        ])
        assert.deepStrictEqual([(yield* me(first)).body, (yield* me(second)).body], [body, { status: "NOT_BOOKED" }])
      })
    )

    it.effect("is cancelled, which releases the place, and can be booked again", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { offered, book, cancel } = yield* anAppointment()
        const [first, second] = [yield* guest(), yield* guest()]
        const [, one, other] = yield* offered
        const nothing = [409, { error: "Not possible in status NOT_BOOKED", code: "INVALID_STATUS" }]
        assert.deepStrictEqual(refused(yield* cancel(first)), nothing)
        const { body } = yield* book(first, one!.id)
        const cancelled = yield* cancel(first)
        const { updatedAt } = cancelled.body
        assert.deepStrictEqual(refused(cancelled), [200, { ...body, status: "CANCELLED", updatedAt, revision: 1 }])
        assert.isAbove(Date.parse(updatedAt), Date.parse(body.updatedAt))
        assert.deepStrictEqual((yield* cancel(first)).body, cancelled.body)
        assert.strictEqual((yield* book(second, one!.id)).status, 200)
        const again = yield* book(first, other!.id)
        assert.deepInclude(again.body, { status: "BOOKED", slotId: other!.id })
        assert.notStrictEqual(again.body.bookingId, body.bookingId)
      })
    )

    it.effect("is rescheduled completely or not at all", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { offered, book, me, reschedule } = yield* anAppointment()
        const [first, second] = [yield* guest(), yield* guest()]
        const [, one, two, three] = yield* offered
        assert.deepStrictEqual(refused(yield* reschedule(first, one!.id)).at(0), 409)
        const { body } = yield* book(first, one!.id)
        yield* book(second, two!.id)
        assert.strictEqual((yield* reschedule(first, two!.id)).body.code, "SLOT_FULL")
        assert.deepStrictEqual(refused(yield* reschedule(first, randomUUID())), slotNotFound)
        assert.deepStrictEqual((yield* me(first)).body, body)
        const moved = yield* reschedule(first, three!.id)
        const { id: slotId, startTime, endTime } = three!
        const { updatedAt } = moved.body
        const changed = { slotId, startTime, endTime, updatedAt, revision: 1 }
        assert.deepStrictEqual(refused(moved), [200, { ...body, ...changed }])
        assert.isAbove(Date.parse(updatedAt), Date.parse(body.updatedAt))
        assert.strictEqual((yield* reschedule(second, one!.id)).status, 200)
      })
    )

    it.effect("runs to its end: booked, checked in, completed; missed; closed, and torn down after the last slot", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const fitting = yield* anAppointment({ slotDurationMinutes: 1, maxCapacityPerSlot: 4 }, clock.now())
        const [came, left, late, absent] = [yield* guest(), yield* guest(), yield* guest(), yield* guest()]
        const slot = (yield* fitting.offered)[1]!
        for (const one of [came, left, late, absent]) {
          assert.deepInclude((yield* fitting.book(one, slot.id)).body, { status: "BOOKED", slotId: slot.id })
        }
        const tooEarly = yield* fitting.noShow(absent)
        assert.deepStrictEqual(refused(tooEarly), [409, { error: "Slot has not begun", code: "SLOT_NOT_BEGUN" }])
        assert.deepInclude((yield* fitting.checkIn(came)).body, { status: "CHECKED_IN", slotId: slot.id })
        assert.strictEqual((yield* fitting.cancel(came)).body.code, "INVALID_STATUS")
        const ended = yield* fitting.end
        assert.deepInclude(ended.body, { statusOverride: "ended", teardownStatus: "pending" })
        assert.strictEqual((yield* fitting.get).body.lifecycle, "settling")
        assert.strictEqual((yield* fitting.me(left)).body.status, "BOOKED")
        assert.isTrue((yield* fitting.offered).every(({ available }) => available === 0))

        yield* clock.putForward(Date.parse(slot.startTime) - clock.now())
        const begun = [409, { error: "Slot has begun", code: "SLOT_PAST" }]
        assert.deepStrictEqual(refused(yield* fitting.cancel(left)), begun)
        assert.deepInclude((yield* fitting.noShow(late)).body, { status: "NO_SHOW" })
        assert.deepInclude((yield* fitting.checkIn(late)).body, { status: "CHECKED_IN" })
        assert.deepInclude((yield* fitting.complete(came)).body, { status: "COMPLETED" })
        assert.strictEqual((yield* fitting.checkIn(came)).body.code, "INVALID_STATUS")

        yield* clock.putForward(Date.parse(slot.endTime) - clock.now())
        const statuses = yield* Effect.forEach([came, left, late, absent], (one) => fitting.me(one))
        assert.deepStrictEqual(
          statuses.map(({ body }) => body.status),
          ["COMPLETED", "NO_SHOW", "COMPLETED", "NO_SHOW"]
        )
        const torn = yield* fitting.get.pipe(
          Effect.repeat({
            until: ({ body }) => body.teardownStatus === "completed",
            schedule: Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: "1 minute" }))
          })
        )
        assert.deepInclude(torn.body, { lifecycle: "closed", teardownStatus: "completed" })
        assert.deepInclude((yield* fitting.complete(absent)).body, { status: "COMPLETED" })
        const { counts } = (yield* fitting.distribution()).body.live
        assert.deepStrictEqual(counts, { BOOKED: 0, CHECKED_IN: 0, COMPLETED: 3, CANCELLED: 0, NO_SHOW: 1 })
        const types = (yield* fitting.distribution("/history?first=100")).body.data.map(({ type }: any) => type)
        assert.sameMembers(types.slice(-5), ["Completed", "Missed", "Missed", "TornDown", "Completed"])
      })
    )

    it.effect("cannot be booked before it opens or after it closes", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const opensAt = new Date(clock.now() + 3_600_000).toISOString()
        const later = yield* anAppointment({ openAt: opensAt }, clock.now())
        const early = yield* later.book(yield* guest(), (yield* later.offered)[20]!.id)
        const notOpen = { error: "Appointment is not open yet", code: "NOT_OPEN", opensAt }
        assert.deepStrictEqual(refused(early), [423, notOpen])
        assert.isAtMost(Math.abs(Number(early.headers["retry-after"]) - 3_600), 10)
        const over = yield* anAppointment({}, clock.now())
        const [first, second] = [yield* guest(), yield* guest()]
        const [, one, other] = yield* over.offered
        yield* over.book(first, one!.id)
        yield* over.end
        const closed = [409, { error: "Appointment is closed", code: "CLOSED" }]
        assert.deepStrictEqual(refused(yield* over.book(second, other!.id)), closed)
        assert.deepStrictEqual(refused(yield* over.reschedule(first, other!.id)), closed)
        assert.strictEqual((yield* over.cancel(first)).body.status, "CANCELLED")
      })
    )

    it.effect("does not accept slots of another appointment", () =>
      Effect.gen(function* () {
        const { guest, consumer, brand } = yield* Usher
        const { id, offered, book } = yield* anAppointment({}, clock.now())
        const other = yield* anAppointment({}, clock.now())
        const someone = yield* guest()
        const own = (yield* offered)[1]!
        const beside = own.id.replace(/^.{13}/, (text) => `${text.slice(0, -1)}${text.endsWith("1") ? 2 : 1}`)
        for (const slotId of [(yield* other.offered)[1]!.id, beside, randomUUID(), id]) {
          assert.deepStrictEqual(refused(yield* book(someone, slotId)), slotNotFound, slotId)
        }
        const yesterday = new Date(Date.parse(own.startTime) - dayMillis).getTime()
        const past = own.id.replace(/^.{13}/, yesterday.toString(16).padStart(12, "0").replace(/^.{8}/, "$&-"))
        assert.deepStrictEqual(refused(yield* book(someone, past)), slotNotFound)
        const nowhere = yield* consumer({
          method: "POST",
          path: `/api/appointments/${randomUUID()}/book`,
          headers: asServer(brand.secretKey, someone.consumerId),
          body: { slotId: own.id }
        })
        assert.deepStrictEqual(refused(nowhere), [404, { error: "Appointment not found" }])
        for (const slotId of ["next tuesday", "", 17, null, own.id.slice(1)]) {
          const answer = yield* book(someone, slotId as string)
          assert.deepStrictEqual(issuesOf(answer), [400, [`slotId: ${typeof slotId === "string" ? "uuid" : "string"}`]])
        }
        assert.strictEqual((yield* book(someone, own.id.toUpperCase())).status, 200)
      })
    )

    it.effect("hides slots that have begun, and refuses to book them", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { offered, book } = yield* anAppointment({ slotDurationMinutes: 1 }, clock.now())
        const slot = (yield* offered)[0]!
        yield* clock.putForward(Date.parse(slot.startTime) - clock.now())
        assert.isFalse((yield* offered).some(({ id }) => id === slot.id))
        const begun = [409, { error: "Slot has begun", code: "SLOT_PAST" }]
        assert.deepStrictEqual(refused(yield* book(yield* guest(), slot.id)), begun)
      })
    )

    it.effect("accepts a booking at its own location, and refuses another location", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const locationId = randomUUID()
        const { offered, book } = yield* anAppointment({ locationId }, clock.now())
        const slot = (yield* offered)[1]!
        assert.strictEqual(slot.locationId, locationId)
        const elsewhere = yield* book(yield* guest(), slot.id, { locationId: randomUUID() })
        assert.deepStrictEqual(refused(elsewhere), [404, { error: "Location not found" }])
        assert.deepStrictEqual(issuesOf(yield* book(yield* guest(), slot.id, { locationId: "shop" })), [
          400,
          ["locationId: uuid"]
        ])
        assert.strictEqual((yield* book(yield* guest(), slot.id, { locationId })).status, 200)
      })
    )

    it.effect("shows its slots on the requested days, in the requested time zone", () =>
      Effect.gen(function* () {
        const { slots } = yield* anAppointment({ timeZone: "Asia/Tokyo", maxCapacityPerSlot: 3 }, clock.now())
        const usual = (yield* slots()).body
        const today = new Intl.DateTimeFormat("sv-SE", { timeZone: "Asia/Tokyo" }).format(clock.now())
        const sixDaysOn = new Date(Date.parse(today) + 6 * dayMillis).toISOString().slice(0, 10)
        assert.deepInclude(usual, { timeZone: "Asia/Tokyo", startDate: today, endDate: sixDaysOn })
        assert.deepInclude(usual.data[0], { capacity: 3, available: 3, locationId: null })
        assert.match(usual.data[0].id, uuid)
        const [startDate, endDate] = [dayFromNow(2), dayFromNow(3)]
        for (const timezone of ["Pacific/Kiritimati", "America/Los_Angeles", "UTC"]) {
          const { status, body } = yield* slots(`?startDate=${startDate}&endDate=${endDate}&timezone=${timezone}`)
          assert.strictEqual(status, 200)
          const { data, ...rest } = body
          assert.deepStrictEqual(rest, { timeZone: timezone, startDate, endDate })
          const format = new Intl.DateTimeFormat("sv-SE", { timeZone: timezone })
          assert.deepStrictEqual(
            [...new Set(data.map(({ startTime }: any) => format.format(Date.parse(startTime))))],
            [startDate, endDate]
          )
          assert.strictEqual(data[0].id, usual.data.find(({ startTime }: any) => startTime === data[0].startTime).id)
        }
        assert.lengthOf((yield* slots(`?startDate=${endDate}&endDate=${endDate}&timezone=UTC`)).body.data, 48)
      })
    )

    it.effect("refuses malformed, reversed or too many days, and unknown time zones", () =>
      Effect.gen(function* () {
        const { slots } = yield* anAppointment({}, clock.now())
        const wrong: ReadonlyArray<readonly [query: string, issues: ReadonlyArray<string>]> = [
          ["startDate=tomorrow", ["startDate: date_time"]],
          ["startDate=2026-02-30", ["startDate: date_time"]],
          ["startDate=2026-11-21T00:00:00Z&endDate=x", ["startDate: date_time", "endDate: date_time"]],
          [`startDate=${dayFromNow(3)}&endDate=${dayFromNow(2)}`, ["endDate: date_time"]],
          [`startDate=${dayFromNow(0)}&endDate=${dayFromNow(62)}`, ["endDate: date_time"]],
          [`endDate=${dayFromNow(-2)}`, ["endDate: date_time"]],
          ["timezone=Mars/Olympus_Mons", ["timezone: picklist"]],
          ["timezone=", ["timezone: picklist"]],
          ["timezone=%2B01:00", ["timezone: picklist"]]
        ]
        for (const [query, issues] of wrong)
          assert.deepStrictEqual(issuesOf(yield* slots(`?${query}`)), [400, issues], query)
        for (const query of [
          "startDate=9999-12-26",
          "startDate=9999-12-31",
          "startDate=9999-11-01&endDate=9999-12-31",
          "startDate=9999-12-31&timezone=Pacific/Pago_Pago",
          "startDate=9999-12-31&timezone=Pacific/Kiritimati",
          "startDate=1970-01-01&timezone=Pacific/Kiritimati"
        ]) {
          assert.deepInclude(yield* slots(`?${query}`), { status: 200 }, query)
        }
        for (const day of ["0000-01-01", "0001-01-01", "-0001-01-01", "10000-01-01", "%2B010000-01-01", "1969-12-31"]) {
          assert.strictEqual((yield* slots(`?startDate=${day}`)).status, 400, day)
        }
        const most = yield* slots(`?startDate=${dayFromNow(0)}&endDate=${dayFromNow(61)}`)
        assert.deepStrictEqual([most.status, most.body.data.length > 300], [200, true])
        const crowded = yield* anAppointment(
          { slotDurationMinutes: 1, slotsUntil: new Date(clock.now() + 30 * dayMillis).toISOString() },
          clock.now()
        )
        assert.strictEqual((yield* crowded.slots()).status, 200)
        const tooMany = yield* crowded.slots(`?startDate=${dayFromNow(1)}&endDate=${dayFromNow(9)}`)
        assert.deepStrictEqual(issuesOf(tooMany), [400, ["endDate: date_time"]])
      })
    )

    it.effect("shows its public fields without a session", () =>
      Effect.gen(function* () {
        const { get, id } = yield* anAppointment(
          { timeZone: "Europe/Berlin", bufferMinutes: 5, hours: { sunday: [{ from: "10:00", to: "24:00" }] } },
          clock.now()
        )
        const { status, body } = yield* get
        assert.strictEqual(status, 200)
        assert.deepInclude(body, {
          id,
          name: "Main",
          timeZone: "Europe/Berlin",
          openAt: null,
          closeAt: null,
          hours: { sunday: [{ from: "10:00", to: "24:00" }] },
          slotDurationMinutes: 30,
          bufferMinutes: 5,
          maxCapacityPerSlot: 1,
          locationId: null,
          lifecycle: "open",
          statusOverride: null,
          teardownStatus: null
        })
        assert.match(body.slotsFrom, isoUtc)
      })
    )

    it.effect("sends every subscriber each change at once", () =>
      Effect.gen(function* () {
        const { guest, brand, consumerUrl } = yield* Usher
        const { id, offered, book, reschedule, me } = yield* anAppointment({}, clock.now())
        const someone = yield* guest()
        const [, one, other] = yield* offered
        const headers = asConsumer(brand.publishableKey, someone.accessToken)
        const stream = yield* openStream(consumerUrl, `/api/appointments/${id}/events`, headers)
        assert.deepStrictEqual((yield* stream.next).data, { status: "NOT_BOOKED" })
        yield* book(someone, one!.id)
        assert.deepStrictEqual((yield* stream.next).data, (yield* me(someone)).body)
        yield* reschedule(someone, other!.id)
        assert.strictEqual((yield* stream.next).data.slotId, other!.id)
      })
    )

    it.effect("admits only the consumers of its sequence", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const [friend, stranger] = [yield* guest(), yield* guest()]
        const audienceId = yield* anAudience([friend])
        const sequenceId = yield* aSequence(yield* anExperience(), { audienceId })
        const { offered, book } = yield* anAppointment({ sequenceId }, clock.now())
        const slot = (yield* offered)[1]!
        const kept = [403, { error: "Appointment is not for this consumer" }]
        assert.deepStrictEqual(refused(yield* book(stranger, slot.id)), kept)
        assert.strictEqual((yield* book(friend, slot.id)).status, 200)
      })
    )

    it.effect("is unchanged when its actor has been rebuilt from the journal", () =>
      Effect.gen(function* () {
        const { guest, brand } = yield* Usher
        const engine = yield* Engine
        const { id, offered, book } = yield* anAppointment({ maxCapacityPerSlot: 2 }, clock.now())
        const someone = yield* guest()
        const { body } = yield* book(someone, (yield* offered)[5]!.id)
        const appointment = { kind: "appointment", id, tenant: { ...brand, mode: "live" } } as const
        const before = yield* engine.view(appointment, someone.consumerId)
        const { engine: rebuilt, close } = yield* anotherEngine("rebuilt")
        assert.deepStrictEqual(yield* rebuilt.view(appointment, someone.consumerId), before)
        assert.deepStrictEqual((yield* rebuilt.facts(appointment)).taken, (yield* engine.facts(appointment)).taken)
        assert.strictEqual(body.bookingId, (before as { readonly bookingId: string }).bookingId)
        yield* close
      })
    )
  })
})
