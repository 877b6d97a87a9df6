/** The facts of a mechanism for staff, and its consumers as a file. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asConsumer, asServer, Usher } from "../../support/usherFixture.ts"
import { brand, layer as usher, room } from "../../../pages/support/roomFixture.ts"
import { issuesOf } from "../adminFixture.ts"

const soon = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

layer(usher, { excludeTestServices: true })("The facts of a mechanism", (it) => {
  it.effect("tell how many units a queue has left, and what staff did to it", () =>
    Effect.gen(function* () {
      const { brand: own, consumer, guest } = yield* Usher
      const { sequence } = yield* room({ queues: [{ name: "Line", admitRate: 0, maxAdmissions: 5 }] })
      const { id } = sequence.queues[0]
      const { accessToken } = yield* guest()
      const headers = asConsumer(own.publishableKey, accessToken)
      yield* consumer({ method: "POST", path: `/api/queues/${id}/enter`, headers })
      yield* brand("POST", `/queues/${id}/admit`, { count: 1, reason: "HIGH_LOAD" })
      const facts = yield* brand("GET", `/distributions/${id}/live`)
      assert.deepInclude(facts, {
        kind: "queue",
        waiting: 0,
        unitsLeft: 4,
        admitted: 1,
        paused: false,
        waitRanges: null
      })
      assert.deepInclude(facts.acts[0], { act: "admitted", count: 1, reason: "HIGH_LOAD" })
    })
  )

  it.effect("tell the leading bids of an auction, and whether they reach the reserve that bidders do not see", () =>
    Effect.gen(function* () {
      const { brand: own, consumer, guest } = yield* Usher
      const times = { closeAt: soon(3_600), settleAt: soon(3_600) }
      const auctions = [{ name: "Pair", startPrice: "10", reservePrice: "20", minBidIncrement: "1", ...times }]
      const { sequence } = yield* room({ auctions })
      const { id } = sequence.auctions[0]
      const bid = Effect.fnUntraced(function* (amount: string) {
        const headers = asConsumer(own.publishableKey, (yield* guest()).accessToken)
        yield* consumer({ method: "POST", path: `/api/auctions/${id}/bid`, headers, body: { amount } })
        return yield* brand("GET", `/distributions/${id}/live`)
      })
      assert.deepInclude(yield* bid("12"), { kind: "auction", isReserveMet: false })
      const facts = yield* bid("20")
      assert.isTrue(facts.isReserveMet)
      assert.strictEqual(facts.leadingBids[0].amount, "20")
    })
  )

  it.effect("tell the bookings of the day of an appointment, and the places that are left", () =>
    Effect.gen(function* () {
      const day = 86_400_000
      const midnight = Math.floor(Date.now() / day) * day
      const hours = Object.fromEntries(
        ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].map((name) => [
          name,
          [{ from: "00:00", to: "24:00" }]
        ])
      )
      const appointments = [
        {
          name: "Fitting",
          timeZone: "UTC",
          hours,
          slotDurationMinutes: 60,
          slotsFrom: new Date(midnight).toISOString(),
          slotsUntil: new Date(midnight + 7 * day).toISOString()
        }
      ]
      const { sequence } = yield* room({ appointments })
      const { today } = yield* brand("GET", `/distributions/${sequence.appointments[0].id}/live`)
      assert.strictEqual(today.booked, 0)
      // An hour may end between both readings of the clock.
      assert.approximately(today.free, 23 - new Date().getUTCHours(), 1)
    })
  )

  it.effect("come with the waits of those who were admitted, and of those who left before", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { brand: own, consumer, guest } = yield* Usher
      const { sequence } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
      const { id } = sequence.queues[0]
      const empty = { granted: 0, medianSeconds: null, p95Seconds: null, left: 0, leftMedianSeconds: null }
      assert.deepStrictEqual(yield* brand("GET", `/distributions/${id}/waiting-time`), empty)
      const guests = yield* Effect.replicateEffect(guest(), 4)
      for (const { accessToken } of guests) {
        const headers = asConsumer(own.publishableKey, accessToken)
        yield* consumer({ method: "POST", path: `/api/queues/${id}/enter`, headers })
      }
      yield* brand("POST", `/queues/${id}/admit`, { count: 3 })
      const headers = asConsumer(own.publishableKey, guests[3]!.accessToken)
      yield* consumer({ method: "POST", path: `/api/queues/${id}/leave`, headers })
      for (const [index, { consumerId }] of guests.entries()) {
        const ofGuest = sql`mechanism_id = ${id} and consumer_id = ${consumerId}`
        yield* sql`
          update journal set at = (
            select min(at) - make_interval(secs => ${(index + 1) * 60}) from journal where ${ofGuest} and type <> 'Entered'
          )
          where ${ofGuest} and type = 'Entered'`
      }
      const waits = yield* brand("GET", `/distributions/${id}/waiting-time`)
      assert.deepInclude(waits, { granted: 3, left: 1 })
      assert.approximately(waits.medianSeconds, 120, 0.01)
      assert.approximately(waits.p95Seconds, 174, 0.01)
      assert.approximately(waits.leftMedianSeconds, 240, 0.01)
    })
  )

  it.effect("come with how many can be reached, or have proved an address, and the list finds each of them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { admin, brand: own, consumer, guest } = yield* Usher
      const { sequence } = yield* room({})
      const { id } = yield* brand("POST", "/waitlists", { sequenceId: sequence.id, name: "Interest" })
      const guests = yield* Effect.replicateEffect(guest(), 5)
      for (const { accessToken } of guests) {
        const headers = asConsumer(own.publishableKey, accessToken)
        yield* consumer({ method: "POST", path: `/api/waitlists/${id}/enter`, headers })
      }
      const [mail, phone, changed, none, gone] = guests
      const known = (of: (typeof guests)[number], columns: { readonly [column: string]: string }) =>
        sql`update consumers set ${sql.update(columns)} where id = ${of.consumerId}`
      yield* known(mail!, { email: "ann@example.com", proved_email: "ann@example.com" })
      yield* known(phone!, { phone: "+4915112345678" })
      yield* known(changed!, { email: "new@example.com", proved_email: "old@example.com" })
      yield* known(gone!, { email: "gone@example.com" })
      const headers = asConsumer(own.publishableKey, gone!.accessToken)
      yield* consumer({ method: "POST", path: `/api/waitlists/${id}/leave`, headers })

      const counts = { consumers: 4, reachable: 3, proved: 1 }
      assert.deepStrictEqual(yield* brand("GET", `/distributions/${id}/contacts`), counts)
      const found = (contact: string) =>
        Effect.map(brand("GET", `/distributions/${id}/consumers?contact=${contact}`), ({ data }) =>
          data.map(({ consumerId }: { readonly consumerId: string }) =>
            guests.findIndex((one) => one.consumerId === consumerId)
          )
        )
      assert.deepStrictEqual(yield* found("reachable"), [0, 1, 2, 4])
      assert.deepStrictEqual(yield* found("unreachable"), [guests.indexOf(none!)])
      assert.deepStrictEqual(yield* found("proved"), [0])
      assert.deepStrictEqual(yield* found("unproved&status=ENTERED"), [1, 2, 3])
      const path = `/api/distributions/${id}/consumers.csv?contact=unproved&status=ENTERED`
      const file = yield* admin({ path, headers: asServer(own.secretKey) })
      const rows = file.text.trimEnd().split("\r\n").slice(1)
      assert.deepStrictEqual(
        rows.map((row) => row.split(",")[0]),
        [phone, changed, none].map((one) => one!.consumerId)
      )
      const wrong = yield* admin({
        path: `/api/distributions/${id}/consumers?contact=mail`,
        headers: asServer(own.secretKey)
      })
      assert.deepStrictEqual(issuesOf(wrong), ["contact: picklist"])
    })
  )

  it.effect("are those of the tenant alone, as is the file of its consumers", () =>
    Effect.gen(function* () {
      const { admin, stranger } = yield* Usher
      const { sequence } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
      const headers = asServer(stranger.secretKey)
      for (const path of ["live", "waiting-time", "contacts", "consumers.csv"]) {
        const answer = yield* admin({ path: `/api/distributions/${sequence.queues[0].id}/${path}`, headers })
        assert.strictEqual(answer.status, 404, path)
      }
    })
  )

  it.effect("come with a file of all consumers over the pages of the list, in the order of entry", () =>
    Effect.gen(function* () {
      const { admin, brand: own, consumer, guest } = yield* Usher
      const { sequence } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
      const { id } = sequence.queues[0]
      const ids: Array<string> = []
      for (let entered = 0; entered < 101; entered++) {
        const { accessToken, consumerId } = yield* guest()
        const headers = asConsumer(own.publishableKey, accessToken)
        yield* consumer({ method: "POST", path: `/api/queues/${id}/enter`, headers })
        ids.push(consumerId)
      }
      const file = yield* admin({ path: `/api/distributions/${id}/consumers.csv`, headers: asServer(own.secretKey) })
      assert.strictEqual(file.status, 200)
      const rows = file.text.trimEnd().split("\r\n")
      assert.match(rows[0]!, /^consumerId,fullName,email,phone,status,enteredAt,updatedAt,riskScore,grantedAt,/)
      assert.deepStrictEqual(
        rows.slice(1).map((row) => row.split(",")[0]),
        ids
      )
    })
  )
})
