/** The tab People of a drop for kinds with an order of their own: bookings of a day, and bids as they would win. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { always } from "../../http/consumer/appointment/appointmentFixture.ts"
import { asConsumer, Usher } from "../../http/support/usherFixture.ts"
import { operator } from "../support/operatorFixture.ts"
import { brand, layer as usher, room, textOf, unescaped } from "../support/roomFixture.ts"

const dayMillis = 86_400_000
const zone = "Pacific/Auckland"

/** Somebody who is signed in. */
const signedIn = Effect.gen(function* () {
  const browser = yield* operator
  yield* browser.signIn((yield* Usher).brand.secretKey)
  return browser
})

/** Guests, each with a request of its own to a mechanism. */
const acting = (path: string) =>
  Effect.gen(function* () {
    const { brand: own, consumer, guest } = yield* Usher
    const { accessToken, consumerId } = yield* guest()
    const headers = asConsumer(own.publishableKey, accessToken)
    const send = (method: string, operation: string, body?: object) =>
      consumer({ method, path: `${path}/${operation}`, headers, body })
    return { consumerId, send }
  })

/** A drop with an appointment, whose slots are six hours long, and bookings of the first slots, the last slot first. */
const fittings = Effect.fnUntraced(function* (count: number) {
  const browser = yield* signedIn
  const from = Math.ceil(Date.now() / dayMillis) * dayMillis + dayMillis
  const { experienceId, sequence } = yield* room({
    appointments: [
      {
        name: "Fitting",
        timeZone: zone,
        hours: always,
        slotDurationMinutes: 360,
        slotsFrom: new Date(from).toISOString(),
        slotsUntil: new Date(from + 7 * dayMillis).toISOString()
      }
    ]
  })
  const { id } = sequence.appointments[0]
  const path = `/api/appointments/${id}`
  const guests = yield* Effect.replicateEffect(acting(path), count)
  const days = `startDate=${new Date(from).toISOString().slice(0, 10)}`
  const slots = (yield* guests[0]!.send("GET", `slots?${days}`)).body.data as ReadonlyArray<{
    id: string
    startTime: string
  }>
  for (const [index, { send }] of [...guests.entries()].toReversed()) {
    assert.strictEqual((yield* send("POST", "book", { slotId: slots[index]!.id })).status, 200)
  }
  return { ...browser, id, guests, slots, people: `/dashboard/experiences/${experienceId}/people` }
})

const dayThere = (at: string) =>
  new Intl.DateTimeFormat("en-CA", { timeZone: zone, dateStyle: "short" }).format(Date.parse(at))

const guestName = (consumerId: string) => `Guest ${consumerId.slice(-4).toUpperCase()}`

/** The names of the guests in the order of a list. */
const namesIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/>(Guest [0-9A-F]{4})</g)].map(([, name]) => name!)

layer(usher, { excludeTestServices: true })("The people of a drop", (it) => {
  it.effect("are the bookings of a chosen day in order of time, and are checked in without leaving it", () =>
    Effect.gen(function* () {
      const { get, submit, people, guests, slots, id } = yield* fittings(6)
      const today = yield* get(people)
      assert.match(textOf(today), /Nobody is booked on .* Show the bookings of all days/)
      const all = yield* get(`${people}?mechanism=${id}&day=`)
      assert.deepStrictEqual(
        namesIn(all.text),
        guests.map(({ consumerId }) => guestName(consumerId))
      )
      assert.notInclude(textOf(all), guests[0]!.consumerId)

      const day = dayThere(slots[2]!.startTime)
      const ofDay = guests.filter((_, index) => dayThere(slots[index]!.startTime) === day)
      assert.notStrictEqual(ofDay.length, guests.length)
      const shown = yield* get(`${people}?day=${day}&status=&search=`)
      assert.include(shown.text, `<input name="day" type="date" value="${day}" />`)
      assert.deepStrictEqual(
        namesIn(shown.text),
        ofDay.map(({ consumerId }) => guestName(consumerId))
      )
      const file = yield* get(unescaped(/href="([^"]*people\.csv\?[^"]*)"/.exec(shown.text)![1]!))
      assert.sameMembers(
        file.text
          .trimEnd()
          .split("\r\n")
          .slice(1)
          .map((row) => row.split(",")[0]!),
        ofDay.map(({ consumerId }) => consumerId)
      )
      const after = yield* submit(shown, "Check in")
      assert.include(textOf(after), "Checked in.")
      assert.deepStrictEqual(namesIn(after.text), namesIn(shown.text))
      assert.strictEqual((yield* brand("GET", `/distributions/${id}`)).live.counts.CHECKED_IN, 1)
      const next = /href="([^"]*)"[^>]*>[^<]*<\/a>\s*<a [^>]*>All days/.exec(shown.text)![1]!
      const following = new Date(Date.parse(day) + dayMillis).toISOString().slice(0, 10)
      assert.include(unescaped(next), `day=${following}`)
      for (const wrong of ["2026-02-30", "tomorrow", "9".repeat(500)]) {
        assert.strictEqual((yield* get(`${people}?day=${wrong}`)).status, 200, wrong)
      }
    })
  )

  it.effect("are moved to a free slot of a chosen day", () =>
    Effect.gen(function* () {
      const { get, submit, send, people, guests, slots, id } = yield* fittings(2)
      const { consumerId } = guests[0]!
      const list = yield* get(`${people}?day=${dayThere(slots[0]!.startTime)}`)
      const path = unescaped(/href="([^"]*\/move\?[^"]*)"/.exec(list.text)![1]!)
      const screen = yield* get(path)
      assert.include(textOf(screen), `Move the booking of ${guestName(consumerId)}`)
      assert.notInclude(textOf(screen), consumerId)
      const day = dayThere(slots[6]!.startTime)
      const other = yield* get(`${path}&day=${day}`)
      const moved = yield* submit(other, "Move here")
      assert.include(textOf(moved), "The booking was moved.")
      assert.deepStrictEqual(namesIn(moved.text), [guestName(consumerId)])
      const { startTime } = (yield* guests[0]!.send("GET", "me")).body
      assert.strictEqual(dayThere(startTime), day)
      const taken = { mechanism: id, consumer: consumerId, slot: slots[1]!.id }
      assert.strictEqual((yield* send("POST", `${people}/move`, taken)).status, 409)
      assert.strictEqual((yield* get(`${people}/move?mechanism=${id}&consumer=${randomUUID()}`)).status, 404)
      const stranger = yield* operator
      yield* stranger.signIn((yield* Usher).stranger.secretKey)
      for (const answer of [yield* stranger.get(path), yield* stranger.send("POST", `${people}/move`, taken)]) {
        assert.strictEqual(answer.status, 404)
      }
    })
  )

  it.effect("are found by the code of a booking on any day, as a person types it", () =>
    Effect.gen(function* () {
      const { get, people, guests } = yield* fittings(2)
      const { confirmationCode } = (yield* guests[1]!.send("GET", "me")).body
      const found = yield* get(`${people}?day=&status=&search=&confirmationCode=+${confirmationCode.toLowerCase()}`)
      assert.deepStrictEqual(namesIn(found.text), [guestName(guests[1]!.consumerId)])
      const none = textOf(yield* get(`${people}?confirmationCode=${randomUUID()}`))
      assert.include(none, "Nobody fits. Show everybody")
    })
  )

  it.effect("are the bids as they would win, over all pages", () =>
    Effect.gen(function* () {
      const { get } = yield* signedIn
      const settleAt = new Date(Date.now() + dayMillis).toISOString()
      const { experienceId, sequence } = yield* room({
        auctions: [{ name: "Lot", quantity: 100, startPrice: "10", settleAt, currencyCode: "EUR" }]
      })
      const path = `/api/auctions/${sequence.auctions[0].id}`
      const bidders = yield* Effect.replicateEffect(acting(path), 53)
      for (const [index, { send }] of bidders.entries()) {
        const bid = yield* send("POST", "bid", { amount: `${10 + ((index * 7) % 53)}` })
        assert.strictEqual(bid.status, 200, bid.text)
      }
      const entrant = yield* acting(path)
      yield* entrant.send("POST", "enter")
      const order = bidders
        .map(({ consumerId }, index) => ({ name: guestName(consumerId), amount: (index * 7) % 53 }))
        .toSorted((a, b) => b.amount - a.amount)
        .map(({ name }) => name)
      const people = `/dashboard/experiences/${experienceId}/people`
      const first = yield* get(people)
      assert.include(textOf(first), "Bids, as they would win")
      assert.include(textOf(first), "€62 · 1 bid")
      assert.deepStrictEqual(namesIn(first.text), order.slice(0, 50))
      const next = unescaped(/href="([^"]*)" rel="next"/.exec(first.text)![1]!)
      assert.deepStrictEqual(namesIn((yield* get(next)).text), order.slice(50))
      const without = yield* get(`${people}?status=BIDDING`)
      assert.deepStrictEqual(namesIn(without.text), [guestName(entrant.consumerId)])
      // The status of another kind is none.
      assert.deepStrictEqual(namesIn((yield* get(`${people}?status=QUEUED`)).text), order.slice(0, 50))
    })
  )

  it.effect("are filtered by how they can be reached, which Now counts", () =>
    Effect.gen(function* () {
      const { get } = yield* signedIn
      const drawAt = new Date(Date.now() + dayMillis).toISOString()
      const { experienceId, sequence } = yield* room({
        draws: [{ name: "Lottery", winnerCount: 1, drawAt }]
      })
      const waitlist = yield* brand("POST", "/waitlists", { sequenceId: sequence.id, name: "Interest" })
      const drop = `/dashboard/experiences/${experienceId}`
      const entrants = yield* Effect.replicateEffect(acting(`/api/draws/${sequence.draws[0].id}`), 2)
      for (const { send } of entrants) yield* send("POST", "enter")
      const members = yield* Effect.replicateEffect(acting(`/api/waitlists/${waitlist.id}`), 3)
      for (const { send } of members) yield* send("POST", "enter")
      yield* brand("PUT", `/consumers/${members[0]!.consumerId}`, { email: "told@example.com" })
      const now = textOf(yield* get(drop))
      assert.match(now, /Unverified 2 of 2/)
      assert.match(now, /Reachable 1 of 3/)
      const of = (mechanism: string, contact: string) =>
        Effect.map(get(`${drop}/people?mechanism=${mechanism}&contact=${contact}`), textOf)
      const reachable = yield* of(waitlist.id, "reachable")
      assert.include(reachable, "told@example.com")
      assert.notInclude(reachable, guestName(members[1]!.consumerId))
      const unproved = yield* of(sequence.draws[0].id, "unproved")
      for (const { consumerId } of entrants) assert.include(unproved, guestName(consumerId))
      assert.include(yield* of(sequence.draws[0].id, "proved"), "Nobody fits. Show everybody")
    })
  )

  it.effect("say the next step where there is nobody, in every kind", () =>
    Effect.gen(function* () {
      const { get } = yield* signedIn
      const settleAt = new Date(Date.now() + dayMillis).toISOString()
      const auctions = [{ name: "Lot", startPrice: "10", settleAt }]
      const { experienceId, sequence } = yield* room({ queues: [{ name: "Line", admitRate: 0 }], auctions })
      const people = `/dashboard/experiences/${experienceId}/people`
      const of = (mechanism: string) => Effect.map(get(`${people}?mechanism=${mechanism}`), textOf)
      assert.include(yield* of(sequence.queues[0].id), "Nobody has entered yet. Share the room")
      assert.include(yield* of(sequence.auctions[0].id), "Nobody has bid yet. Share the room")
    })
  )
})
