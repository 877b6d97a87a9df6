import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin, anExperience, aSequence, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const hourMillis = 3_600_000
const dayMillis = 24 * hourMillis

const inDays = (days: number): string => new Date(Date.now() + days * dayMillis).toISOString()

/** Returns the start of the UTC day that is `days` days from now. */
const dayIn = (days: number): number => Math.floor(Date.now() / dayMillis + days) * dayMillis

const nineToFive = [{ from: "09:00", to: "17:00" }]
const allDay = [{ from: "00:00", to: "24:00" }]
const defaultHours = {
  monday: nineToFive,
  tuesday: nineToFive,
  wednesday: nineToFive,
  thursday: nineToFive,
  friday: nineToFive
}
const always = { ...defaultHours, saturday: allDay, sunday: allDay }
for (const weekday of Object.keys(always)) Object.assign(always, { [weekday]: allDay })

const slots = { slotDurationMinutes: 60, slotsFrom: inDays(1), slotsUntil: inDays(8) }

const anAppointment = Effect.fnUntraced(function* (settings: object = {}) {
  const { call } = yield* Admin
  const { id: sequenceId } = yield* aSequence()
  return (yield* call("POST", "/appointments", { sequenceId, name: "Fitting", ...slots, ...settings })).body
})

const aConsumer = Effect.fnUntraced(function* () {
  const { call } = yield* Admin
  return (yield* call("POST", "/consumers", {})).body.id as string
})

/** Books the slot with this start for a consumer, and returns the booking's id. */
const book = Effect.fnUntraced(function* (id: string, startTime: number) {
  const engine = yield* Engine
  const { brand } = yield* Admin
  const consumerId = yield* aConsumer()
  yield* engine.send({ kind: "appointment", id, tenant: brand.tenant }, { _tag: "Book", consumerId, startTime })
  return consumerId
})

describe("Appointments on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created with the required fields alone, and return every field", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { id: experienceId } = yield* anExperience({ timeZone: "America/New_York" })
        const { id: sequenceId } = yield* aSequence({ experienceId })
        const { status, body } = yield* call("POST", "/appointments", { sequenceId, name: "Fitting", ...slots })
        assert.strictEqual(status, 201)
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = body
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          experienceId,
          sequenceId,
          name: "Fitting",
          timeZone: "America/New_York",
          openAt: null,
          closeAt: null,
          ...slots,
          hours: defaultHours,
          bufferMinutes: 0,
          maxCapacityPerSlot: 1,
          supportsGuest: true,
          locationId: null,
          statusOverride: null,
          statusOverrideAt: null,
          statusOverrideBy: null,
          teardownStatus: null,
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.deepStrictEqual((yield* call("GET", `/appointments/${id}`)).body, body)
        const { data } = (yield* call("GET", `/appointments?sequenceId=${sequenceId}`)).body
        assert.deepStrictEqual(data, [body])
      })
    )

    it.effect("change the fields that are sent: absent fields stay, and null restores the default", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const locationId = randomUUID()
        const { id } = yield* anAppointment({ bufferMinutes: 10, maxCapacityPerSlot: 5, locationId, hours: always })
        const changed = yield* call("PUT", `/appointments/${id}`, { slotDurationMinutes: 20 })
        const kept = { bufferMinutes: 10, maxCapacityPerSlot: 5, locationId, hours: always, slotDurationMinutes: 20 }
        assert.deepInclude(changed.body, kept)
        const nulls = { bufferMinutes: null, maxCapacityPerSlot: null, locationId: null, hours: null }
        const reset = yield* call("PUT", `/appointments/${id}`, nulls)
        const defaults = { bufferMinutes: 0, maxCapacityPerSlot: 1, locationId: null, hours: defaultHours }
        assert.deepInclude(reset.body, { ...defaults, slotDurationMinutes: 20 })
        assert.deepStrictEqual((yield* call("PUT", `/appointments/${id}`, reset.body)).body, reset.body)
      })
    )

    it.effect("refuse malformed and contradictory settings, name every mistake, and change nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, sequenceId } = yield* anAppointment()
        const before = (yield* call("GET", `/appointments/${id}`)).text
        const monday = (...texts: ReadonlyArray<string>) => ({
          hours: { monday: texts.map((text) => ({ from: text.split("-")[0], to: text.split("-")[1] })) }
        })
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ slotDurationMinutes: 0 }, ["slotDurationMinutes: min_value"]],
          [{ slotDurationMinutes: 1441 }, ["slotDurationMinutes: max_value"]],
          [{ slotDurationMinutes: 1.5 }, ["slotDurationMinutes: integer"]],
          [{ slotDurationMinutes: "30" }, ["slotDurationMinutes: number"]],
          [{ bufferMinutes: -1 }, ["bufferMinutes: min_value"]],
          [{ maxCapacityPerSlot: 0 }, ["maxCapacityPerSlot: min_value"]],
          [{ locationId: "shop" }, ["locationId: uuid"]],
          [{ slotsFrom: "today" }, ["slotsFrom: date_time"]],
          [{ slotsFrom: inDays(8), slotsUntil: inDays(1) }, ["slotsUntil: date_time"]],
          [{ slotsUntil: inDays(4_000) }, ["slotsUntil: date_time"]],
          [{ openAt: inDays(2), closeAt: inDays(1) }, ["closeAt: date_time"]],
          [{ timeZone: "Mars/Olympus_Mons" }, ["timeZone: picklist"]],
          [{ hours: "always" }, ["hours: object"]],
          [{ hours: { monday: "09:00-17:00" } }, ["hours.monday: array"]],
          [monday("9:00-17:00", "18:00-25:00"), ["hours.monday.0.from: date_time", "hours.monday.1.to: date_time"]],
          [monday("24:00-24:00"), ["hours.monday.0.from: date_time"]],
          [{ hours: { monday: [{ from: "09:00" }] } }, ["hours.monday.0.to: string"]],
          [monday("17:00-09:00"), ["hours: object"]],
          [monday("09:00-12:00", "11:00-17:00"), ["hours: object"]],
          [monday("09:00-09:30"), ["hours: object"]],
          [{ hours: {} }, ["hours: object"]]
        ]
        for (const [mistake, expected] of mistakes) {
          const shown = JSON.stringify(mistake)
          const creation = yield* call("POST", "/appointments", { sequenceId, name: "Fitting", ...slots, ...mistake })
          assert.deepStrictEqual(issuesOf(creation), expected, `POST ${shown}`)
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/appointments/${id}`, mistake)), expected, `PUT ${shown}`)
        }
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/appointments", {})), [
          "name: string",
          "sequenceId: string",
          "slotDurationMinutes: number",
          "slotsFrom: string",
          "slotsUntil: string"
        ])
        assert.strictEqual((yield* call("GET", `/appointments/${id}`)).text, before)
        assert.lengthOf((yield* call("GET", `/appointments?sequenceId=${sequenceId}`)).body.data, 1)
      })
    )

    it.effect("keep their bookings when they change, and refuse a change that would make slots overlap", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* anAppointment({ hours: always })
        yield* book(id, dayIn(2) + 10 * hourMillis)
        const fixed = (setting: string) => [
          409,
          { error: `${setting} cannot be changed any more`, code: "CONFIGURATION_FIXED" }
        ]
        for (const [change, setting] of [
          [{ slotDurationMinutes: 45 }, "slotDurationMinutes"],
          [{ bufferMinutes: 5 }, "bufferMinutes"],
          [{ locationId: randomUUID() }, "locationId"],
          [{ openAt: inDays(1) }, "openAt"]
        ] as const) {
          const { status, body } = yield* call("PUT", `/appointments/${id}`, change)
          assert.deepStrictEqual([status, body], fixed(setting))
        }
        const shortened = yield* call("PUT", `/appointments/${id}`, { slotsFrom: inDays(3), maxCapacityPerSlot: 2 })
        assert.strictEqual(shortened.status, 200)
        const { data } = (yield* call("GET", `/distributions/${id}/consumers?status=BOOKED`)).body
        assert.deepInclude(data[0], {
          status: "BOOKED",
          startTime: new Date(dayIn(2) + 10 * hourMillis).toISOString(),
          endTime: new Date(dayIn(2) + 11 * hourMillis).toISOString()
        })
      })
    )

    it.effect("check in, complete and miss each consumer once", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* anAppointment({ hours: always })
        const startTime = dayIn(2)
        const consumerId = yield* book(id, startTime)
        const post = (operation: string, body: object = { consumerId }) =>
          call("POST", `/appointments/${id}/${operation}`, body)
        const early = yield* post("no-show")
        assert.deepStrictEqual([early.status, early.body.code], [409, "SLOT_NOT_BEGUN"])
        const checkedIn = yield* post("check-in")
        assert.strictEqual(checkedIn.status, 200)
        assert.deepInclude(checkedIn.body, {
          status: "CHECKED_IN",
          appointmentId: id,
          consumerId,
          startTime: new Date(startTime).toISOString()
        })
        assert.deepStrictEqual((yield* post("check-in")).body, checkedIn.body)
        const completed = yield* post("complete")
        const { updatedAt } = completed.body
        assert.deepStrictEqual(completed.body, { ...checkedIn.body, status: "COMPLETED", updatedAt, revision: 2 })
        assert.deepStrictEqual((yield* post("complete")).body, completed.body)
        for (const operation of ["check-in", "no-show"]) {
          const { status, body } = yield* post(operation)
          const wrong = { error: "Not possible in status COMPLETED", code: "INVALID_STATUS" }
          assert.deepStrictEqual([status, body], [409, wrong], operation)
        }
        for (const operation of ["check-in", "complete", "no-show"]) {
          const other = yield* post(operation, { consumerId: yield* aConsumer() })
          const never = { error: "Not possible in status NOT_BOOKED", code: "INVALID_STATUS" }
          assert.deepStrictEqual([other.status, other.body], [409, never], operation)
          const archived = yield* aConsumer()
          yield* call("DELETE", `/consumers/${archived}`)
          for (const nobody of [randomUUID(), archived]) {
            const { status, body } = yield* post(operation, { consumerId: nobody })
            assert.deepStrictEqual([status, body], [404, { error: "Consumer not found" }], operation)
          }
          assert.deepStrictEqual(issuesOf(yield* post(operation, {})), ["consumerId: string"], operation)
          const elsewhere = yield* call("POST", `/appointments/${randomUUID()}/${operation}`, { consumerId })
          assert.deepStrictEqual([elsewhere.status, elsewhere.body], [404, { error: "Appointment not found" }])
        }
      })
    )

    it.effect("are moved by staff to another slot with a place, and show the slots of a day", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* anAppointment({ hours: always, timeZone: "Pacific/Auckland" })
        const startTime = dayIn(3)
        const consumerId = yield* book(id, startTime)
        yield* book(id, startTime + hourMillis)
        const day = new Intl.DateTimeFormat("en-CA", { timeZone: "Pacific/Auckland", dateStyle: "short" }).format(
          startTime
        )
        const slotsOf = call("GET", `/appointments/${id}/slots?day=${day}`)
        const shown = (yield* slotsOf).body
        assert.deepInclude(shown, { timeZone: "Pacific/Auckland", day })
        const at = (hours: number, slots: typeof shown = shown) =>
          slots.data.find((slot: any) => Date.parse(slot.startTime) === startTime + hours * hourMillis)
        assert.deepStrictEqual(
          [at(0), at(1), at(2)].map(({ available }: any) => available),
          [0, 0, 1]
        )
        const move = (newSlotId: string, of = consumerId) =>
          call("POST", `/appointments/${id}/reschedule`, { consumerId: of, newSlotId })
        const full = yield* move(at(1).id)
        assert.deepStrictEqual([full.status, full.body.code], [409, "SLOT_FULL"])
        const moved = yield* move(at(2).id)
        assert.deepInclude(moved.body, { status: "BOOKED", slotId: at(2).id, startTime: at(2).startTime, revision: 1 })
        const after = (yield* slotsOf).body
        assert.deepStrictEqual([at(0, after).available, at(2, after).available], [1, 0])
        const { data } = (yield* call("GET", `/distributions/${id}/history?type=Rescheduled`)).body
        const { createdBy: author } = (yield* call("GET", `/appointments/${id}`)).body
        assert.deepStrictEqual(
          data.map((event: any) => [event.consumerId, event.data.by]),
          [[consumerId, author]]
        )
        const nobody = yield* move(at(3).id, yield* aConsumer())
        assert.deepStrictEqual([nobody.status, nobody.body.code], [409, "INVALID_STATUS"])
        assert.deepStrictEqual(issuesOf(yield* call("GET", `/appointments/${id}/slots?day=2026-02-30`)), [
          "day: date_time"
        ])
        assert.strictEqual((yield* call("GET", `/appointments/${randomUUID()}/slots`)).status, 404)
      })
    )

    it.effect("send watchers an event for each change of a booking", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* anAppointment({ hours: always, maxCapacityPerSlot: 2 })
        const [one] = [yield* book(id, dayIn(2)), yield* book(id, dayIn(2))]
        yield* call("POST", `/appointments/${id}/check-in`, { consumerId: one })
        const { body } = yield* call("GET", `/distributions/${id}`)
        assert.deepInclude(body, { type: "appointment", lifecycle: "open", id })
        assert.deepInclude(body.live, {
          counts: { BOOKED: 1, CHECKED_IN: 1, COMPLETED: 0, CANCELLED: 0, NO_SHOW: 0 },
          entriesPerMinute: 2,
          grantsPerMinute: 0
        })
        const { data } = (yield* call("GET", `/distributions/${id}/history?first=100`)).body
        const { createdBy: author } = (yield* call("GET", `/appointments/${id}`)).body
        assert.deepStrictEqual(
          data.map(({ type, data: { by } }: { readonly type: string; readonly data: { readonly by?: string } }) => [
            type,
            by
          ]),
          [
            ["Configured", author],
            ["Booked", undefined],
            ["Booked", undefined],
            ["CheckedIn", author]
          ]
        )
        for (const status of ["BOOKED", "CHECKED_IN", "COMPLETED", "CANCELLED", "NO_SHOW"]) {
          const listed = yield* call("GET", `/distributions/${id}/consumers?status=${status}`)
          assert.lengthOf(listed.body.data, status === "BOOKED" || status === "CHECKED_IN" ? 1 : 0, status)
        }
      })
    )

    it.effect("end once and at once: bookings stay, and the configuration is fixed", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* anAppointment({ hours: always })
        yield* book(id, dayIn(2))
        const ended = yield* call("POST", `/appointments/${id}/end`)
        assert.strictEqual(ended.status, 200)
        assert.deepInclude(ended.body, { statusOverride: "ended", teardownStatus: "pending", archived: false })
        assert.deepStrictEqual((yield* call("POST", `/appointments/${id}/end`)).body, ended.body)
        const { data } = (yield* call("GET", `/distributions/${id}/consumers`)).body
        assert.deepStrictEqual(
          data.map(({ status }: { readonly status: string }) => status),
          ["BOOKED"]
        )
        const refused = yield* call("PUT", `/appointments/${id}`, { maxCapacityPerSlot: 5 })
        const closed = { error: "Appointment is closed", code: "CLOSED" }
        assert.deepStrictEqual([refused.status, refused.body], [409, closed])
      })
    )

    it.effect("are archived permanently", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* anAppointment()
        const archived = yield* call("DELETE", `/appointments/${id}`)
        assert.deepInclude(archived.body, { id, archived: true, statusOverride: "ended" })
        for (const { status, body } of [
          yield* call("GET", `/appointments/${id}`),
          yield* call("PUT", `/appointments/${id}`, { name: "Other" }),
          yield* call("POST", `/appointments/${id}/end`),
          yield* call("POST", `/appointments/${id}/check-in`, { consumerId: randomUUID() })
        ]) {
          assert.deepStrictEqual([status, body], [404, { error: "Appointment not found" }])
        }
      })
    )
  })
})
