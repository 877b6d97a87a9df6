/** Journeys of visitors without a script, through all six kinds of mechanism, over real HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { movableClock } from "../../support/movableClock.ts"
import * as Fixture from "../support/roomFixture.ts"

const { formOf, textOf } = Fixture
const clock = movableClock()

const at = (seconds: number) => new Date(clock.now() + seconds * 1000).toISOString()

/** Returns the grant and the shop's address in the form that goes on to the shop. */
const onward = (page: Parameters<typeof formOf>[0]) => {
  const { action, fields } = formOf(page, "Continue to the shop")
  return { action, grant: fields["usher_grant"]! }
}

/** An appointment with slots of four hours, one after another, over the next 20 days. */
const fitting = () => {
  const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
  return {
    name: "Fitting",
    slotDurationMinutes: 240,
    timeZone: "Europe/Berlin",
    hours: Object.fromEntries(days.map((day) => [day, [{ from: "00:00", to: "24:00" }]])),
    slotsFrom: at(-(clock.now() % 60_000) / 1000),
    slotsUntil: at(20 * 86_400)
  }
}

/** The visitor's status in each mechanism. */
const standingOn = ({ text }: Parameters<typeof formOf>[0]) => /data-statuses="([^"]*)"/.exec(text)![1]

/** Leaves by this button, and confirms it. */
const leaves = Effect.fnUntraced(function* (
  { get, submit }: Pick<Effect.Success<ReturnType<typeof Fixture.visitor>>, "get" | "submit">,
  page: Parameters<typeof formOf>[0],
  label: string
) {
  const asked = yield* submit(page, label)
  assert.include(textOf(asked), "Are you sure?")
  assert.notInclude(asked.text, "http-equiv")
  assert.strictEqual(standingOn(yield* get("place")), standingOn(page), "nothing is given up yet")
  const left = yield* submit(asked, label)
  assert.notStrictEqual(standingOn(left), standingOn(page))
  return left
})

describe("A visitor without a script", () => {
  layer(Fixture.layer.pipe(Layer.provide(clock.layer)), { excludeTestServices: true })((it) => {
    it.effect("waits in a queue, is admitted, and continues to the shop with a valid grant", () =>
      Effect.gen(function* () {
        const { id: productId } = yield* Fixture.product()
        const queues = [{ name: "Front door", admitRate: 0, admissionExpirationSeconds: 300, closeAt: at(7200) }]
        const room = yield* Fixture.room({ queues }, { products: [{ productId }] })
        const shell = yield* room.get("")
        assert.include(textOf(shell), "Spring drop")
        assert.include(textOf(shell), "$129.00")
        const inLine = yield* room.submit(shell, "Join the queue")
        assert.include(textOf(inLine), "You are in line Your place in line 1")
        assert.match(inLine.text, /<noscript\s*><meta http-equiv="refresh" content="20;url=\/e\/[^"]*\/place"/)
        const left = yield* leaves(room, inLine, "Leave the line")
        assert.include(textOf(left), "You have left")
        yield* room.submit(left, "Enter again")
        const [queue] = room.sequence.queues
        yield* Fixture.asBrandServer("POST", `/queues/${queue.id}/admit`, { count: 1 })
        const turn = yield* room.get("place")
        assert.include(textOf(turn), "It is your turn Time left")
        const { action, grant } = onward(turn)
        assert.strictEqual(action, "https://shop.example/sneaker")
        assert.include(turn.headers["content-security-policy"], "form-action 'self' https://shop.example")
        assert.isTrue(yield* Fixture.isValid(`/queues/${queue.id}`, grant))
        yield* clock.putForward(301_000)
        yield* room.sees("Your time has run out The time to continue has passed.")
      })
    )

    it.effect("sees the lobby, and its place once the order is drawn", () =>
      Effect.gen(function* () {
        const queues = [{ name: "Front door", admitRate: 1, lobbyOpenAt: at(60), openAt: at(120) }]
        const room = yield* Fixture.room({ queues })
        /** One way to a place is told at a time: by lot, or by arrival. */
        const isByLot = (page: Parameters<typeof textOf>[0]) => {
          assert.notMatch(page.text, /order of arrival/)
          return page
        }
        const soon = isByLot(yield* room.get(""))
        assert.include(textOf(soon), "Front door Opens in")
        assert.include(textOf(soon), "gets a place by random draw.")
        assert.notInclude(textOf(soon), "per minute")
        yield* clock.putForward(61_000)
        const lobby = yield* room.submit(isByLot(yield* room.get("place")), "Join the queue")
        assert.include(textOf(lobby), "You are in the lobby")
        assert.include(textOf(isByLot(lobby)), "Places are drawn")
        const other = yield* Fixture.visitor(room.experienceId)
        yield* other.submit(yield* other.get("place"), "Join the queue")
        yield* clock.putForward(60_000)
        const [, waiting] = yield* Effect.all([
          Effect.raceFirst(room.sees("It is your turn"), other.sees("It is your turn")),
          Effect.raceFirst(room.sees("Your place in line"), other.sees("Your place in line"))
        ])
        assert.include(textOf(isByLot(waiting)), "1 person is admitted per minute.")
      })
    )

    it.effect("enters a draw, withdraws, enters again and wins", () =>
      Effect.gen(function* () {
        const draws = [{ name: "Raffle", winnerCount: 1, closeAt: at(60), drawAt: at(70) }]
        const room = yield* Fixture.room({ draws })
        const page = yield* room.get("")
        assert.include(textOf(page), "Winners: 1. The draw is on")
        assert.match(textOf(page), /Commitment [0-9a-f]{64}/)
        const entered = yield* room.submit(page, "Enter the draw")
        assert.include(textOf(entered), "You are entered")
        assert.include(textOf(yield* leaves(room, entered, "Withdraw")), "Winners: 1. The draw is on")
        yield* room.submit(page, "Enter the draw")
        const loser = yield* Fixture.visitor(room.experienceId)
        yield* loser.submit(yield* loser.get("place"), "Enter the draw")
        yield* clock.putForward(71_000)
        const outcomes = yield* Effect.all([
          Effect.raceFirst(
            Effect.as(room.sees("You have won"), true),
            Effect.as(room.sees("Your entry was not drawn."), false)
          ),
          Effect.raceFirst(
            Effect.as(loser.sees("You have won"), true),
            Effect.as(loser.sees("Your entry was not drawn."), false)
          )
        ])
        assert.sameMembers(outcomes, [true, false])
        const winner = outcomes[0] ? room : loser
        assert.include(
          textOf(yield* winner.get("place")),
          "You have won Go back to the shop to complete your purchase."
        )
      })
    )

    it.effect("bids in an english auction after confirming, is outbid, and wins with a higher bid", () =>
      Effect.gen(function* () {
        const auctions = [{ name: "Lot", startPrice: "10.00", minBidIncrement: "1.00", settleAt: at(3600) }]
        const room = yield* Fixture.room({ auctions }, { currencyCode: "EUR" })
        const page = yield* room.get("place")
        assert.include(textOf(page), "Highest bid None yet Minimum bid €10.00")
        assert.notInclude(page.text, "http-equiv")
        const asked = yield* room.submit(page, "Place a bid", { amount: "12,5" })
        assert.include(textOf(asked), "Do you want to bid €12.50? Bids are final.")
        const leading = yield* room.submit(asked, "Yes, bid €12.50")
        assert.match(textOf(leading), /You are among the winners so far Time left .* Highest bid €12\.50/)
        const rival = yield* Fixture.visitor(room.experienceId)
        const low = yield* rival.submit(yield* rival.get("place"), "Place a bid", { amount: "13", confirmed: "1" })
        assert.strictEqual(low.status, 409)
        assert.include(textOf(low), "The bid is too low. The minimum is now €13.50.")
        const wrong = yield* rival.submit(low, "Place a bid", { amount: "a lot" })
        assert.strictEqual(wrong.status, 400)
        assert.include(textOf(wrong), "Please enter an amount such as €1,500.00.")
        yield* rival.submit(low, "Place a bid", { amount: "14", confirmed: "1" })
        assert.include(textOf(yield* room.get("place")), "You have been outbid")
        yield* clock.putForward(3_601_000)
        yield* rival.sees("You have won")
        yield* room.sees("Not this time")
      })
    )

    it.effect("is asked once more for a bid far above the minimum if signed in, and shown the most if not", () =>
      Effect.gen(function* () {
        const auctions = [{ name: "Lot", startPrice: "10.00", settleAt: at(3600) }]
        const room = yield* Fixture.room({ auctions }, { currencyCode: "EUR" })
        const asked = yield* room.submit(yield* room.get("place"), "Place a bid", { amount: "12500" })
        const refused = yield* room.submit(asked, "Yes, bid €12,500.00")
        assert.strictEqual(refused.status, 409)
        assert.include(textOf(refused), "the maximum is now €1,000.00.")
        const forced = yield* room.submit(refused, "Place a bid", { amount: "12500", confirmed: "unlikely" })
        assert.strictEqual(forced.status, 409)
        const address = "unlikely@example.com"
        const sent = yield* room.submit(yield* room.get("place?show=sign-in"), "Send a code", { email: address })
        yield* room.submit(sent, "Sign in", { code: yield* Fixture.mailedCode(address) })
        const again = yield* room.submit(yield* room.get("place"), "Place a bid", { amount: "12500" })
        const warned = yield* room.submit(again, "Yes, bid €12,500.00")
        assert.include(textOf(warned), "This bid is more than 100 times the minimum.")
        assert.include(textOf(yield* room.get("place")), "Highest bid None yet")
        assert.include(textOf(yield* room.submit(warned, "Yes, bid €12,500.00")), "Highest bid €12,500.00")
      })
    )

    it.effect("bids an amount that is read by the language of the page, and once read stays the same", () =>
      Effect.gen(function* () {
        const rows = [
          ["EUR", "de", "1.500", "1500"],
          ["EUR", "fr", "1 500,50", "1500.50"],
          ["TND", "fr", "12,500", "12.500"],
          ["JPY", "ja", "１，５００", "1500"],
          ["INR", "en", "1,00,000", "100000"]
        ] as const
        for (const [currencyCode, lang, typed, amount] of rows) {
          const auctions = [{ name: "Lot", startPrice: "1", maxBid: "1000000", settleAt: at(3600) }]
          const room = yield* Fixture.room({ auctions }, { currencyCode })
          const { id } = room.sequence.auctions[0]
          const asked = yield* room.post(`bid?lang=${lang}`, { at: id, amount: typed })
          const form = Fixture.formsOf(asked).find(({ fields }) => fields["confirmed"] === "1")
          assert.strictEqual(form?.fields["amount"], amount, textOf(asked))
          yield* room.post(form!.action, form!.fields)
          const { highestBid } = yield* Fixture.asBrandServer("GET", `/auctions/${id}/highest-bid`)
          assert.strictEqual(highestBid?.amount, amount)
        }
      })
    )

    it.effect("takes a unit of a dutch auction at its price", () =>
      Effect.gen(function* () {
        const falling = { startPrice: "100", floorPrice: "40", priceDropAmount: "15", priceDropIntervalSeconds: 60 }
        const auctions = [
          {
            name: "Falling",
            auctionType: "dutch",
            quantity: 1,
            openAt: at(1),
            settleAt: at(3600),
            admissionExpirationSeconds: 900,
            ...falling
          }
        ]
        const room = yield* Fixture.room({ auctions })
        yield* clock.putForward(62_000)
        const page = yield* room.get("place")
        assert.include(textOf(page), "Current price $85.00 Units left: 1")
        const asked = yield* room.submit(page, "Buy for $85.00 or less")
        assert.include(textOf(asked), "Do you want to buy Falling for $85.00 or less? Bids are final.")
        assert.notInclude(asked.text, "http-equiv")
        assert.include(textOf(yield* room.get("place")), "Units left: 1")
        const won = yield* room.submit(asked, "Yes, buy for $85.00 or less")
        assert.include(textOf(won), "You have won Falling for $85.00 Time left")
        assert.match(textOf(won), /Valid until [A-Z]\w+ \d+, \d{4} at /)
        const late = yield* Fixture.visitor(room.experienceId)
        yield* clock.putForward(1_001)
        assert.notInclude(textOf(yield* late.get("place")), "Take it")
      })
    )

    it.effect("confirms a falling price as the page has written it, in every way of writing amounts", () =>
      Effect.gen(function* () {
        const falling = { floorPrice: "0", priceDropAmount: "0.5", priceDropIntervalSeconds: 3600 }
        const times = { openAt: at(1), settleAt: at(7200) }
        const rows = [
          ["EUR", "de", "1500.5", "1.500,50"],
          ["TND", "de", "1.500", "1,500"],
          ["TND", "fr", "1.500", "1,500"],
          ["JPY", "ja", "1500", "1,500"]
        ] as const
        for (const [currencyCode, lang, startPrice, shown] of rows) {
          const priceDropAmount = currencyCode === "JPY" ? "1" : falling.priceDropAmount
          const auctions = [{ name: "Lot", auctionType: "dutch", ...times, ...falling, priceDropAmount, startPrice }]
          const room = yield* Fixture.room({ auctions }, { currencyCode })
          yield* clock.putForward(2_000)
          const { id } = room.sequence.auctions[0]
          const form = Fixture.formsOf(yield* room.get(`place?lang=${lang}`)).find(({ fields }) => fields["at"] === id)!
          const asked = yield* room.post(form.action, form.fields)
          assert.include(textOf(asked), shown, `${currencyCode} ${lang}`)
          const confirmation = Fixture.formsOf(asked).find(({ fields }) => fields["confirmed"] === "1")!
          assert.strictEqual(confirmation.fields["amount"], form.fields["amount"])
          yield* room.post(confirmation.action, confirmation.fields)
          const { status, winningBidAmount } = (yield* room.get("state")).body.places[0]
          assert.deepStrictEqual([status, winningBidAmount], ["WON", startPrice], `${currencyCode} ${lang}`)
        }
      })
    )

    it.effect("chooses a variant in a sale, changes it and gives it up", () =>
      Effect.gen(function* () {
        const { id: productId, variants } = yield* Fixture.product(["42", "43"])
        const timedReleases = [{ name: "Sale", capacity: 1, closeAt: at(7200) }]
        const room = yield* Fixture.room({ timedReleases }, { products: [{ productId }] })
        const page = yield* room.get("")
        assert.include(textOf(page), "Sneaker 42 Sneaker 43")
        // This page is from before the only unit went.
        const late = yield* Fixture.visitor(room.experienceId)
        const before = yield* late.get("place")
        const entered = yield* room.submit(page, "Get access", { variant: variants[1].id })
        assert.include(textOf(entered), "Chosen: Sneaker 43")
        assert.isTrue(
          yield* Fixture.isValid(`/timed-releases/${room.sequence.timedReleases[0].id}`, onward(entered).grant)
        )
        const changed = yield* room.submit(entered, "Change", { variant: variants[0].id })
        assert.include(textOf(changed), "Chosen: Sneaker 42")
        const refused = yield* late.submit(before, "Get access", { variant: variants[0].id })
        assert.strictEqual(refused.status, 409)
        assert.include(textOf(refused), "Sold out")
        assert.include(textOf(yield* leaves(room, changed, "Give up my place")), "You have left")
      })
    )

    it.effect("books a slot, moves it and cancels", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({ appointments: [fitting()] }, { timeZone: "Europe/Berlin" })
        const page = yield* room.get("place")
        assert.include(textOf(page), "Times are shown in Europe/Berlin.")
        // The page's first slot may begin during the test.
        const [, first, second] = Fixture.formsOf(page).filter(({ action }) => action.endsWith("/book"))
        yield* room.post(first!.action, first!.fields)
        const booked = yield* room.get("place")
        assert.match(textOf(booked), /Your appointment is booked .* Confirmation code \w+/)
        const fileOf = ({ text }: { readonly text: string }) =>
          decodeURIComponent(/href="(data:text\/calendar[^"]*)"/.exec(text)![1]!)
        assert.match(fileOf(booked), /BEGIN:VEVENT\r\nUID:.*\r\nSEQUENCE:0\r\n/)
        const moving = yield* room.get("place?show=reschedule")
        const target = Fixture.formsOf(moving).find(({ fields }) => fields["slot"] === second!.fields["slot"])!
        assert.isTrue(target.action.endsWith("/reschedule"))
        yield* room.post(target.action, target.fields)
        const moved = yield* room.get("place")
        assert.notStrictEqual(textOf(moved), textOf(booked))
        assert.match(fileOf(moved), /SEQUENCE:1\r\n[^]*STATUS:CONFIRMED/)
        const later = yield* room.get("place?show=reschedule&from=2030-01-01")
        assert.include(textOf(later), "No free slots on these days.")
        const cancelled = yield* leaves(room, moved, "Cancel the booking")
        assert.include(textOf(cancelled), "Your booking is cancelled")
        assert.match(fileOf(cancelled), /SEQUENCE:2\r\n[^]*STATUS:CANCELLED/)
      })
    )

    it.effect("is told that the booked slot has begun, and keeps the booking", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({ appointments: [fitting()] }, { timeZone: "Europe/Berlin" })
        const page = yield* room.get("place")
        // The page's first slot may begin during the test.
        const [, first, second] = Fixture.formsOf(page).filter(({ action }) => action.endsWith("/book"))
        const [, begins] = [...page.text.matchAll(/data-zone="[^"]*" datetime="([^"]*)"/g)].map(([, at]) =>
          Date.parse(at!)
        )
        yield* room.post(first!.action, first!.fields)
        const target = Fixture.formsOf(yield* room.get("place?show=reschedule")).find(
          ({ fields }) => fields["slot"] === second!.fields["slot"]
        )!
        yield* clock.putForward(begins! - clock.now())
        const refused = yield* room.post(target.action, target.fields)
        assert.strictEqual(refused.status, 409)
        assert.include(textOf(refused), "This slot has already begun.")
        assert.include(textOf(yield* room.get("place")), "Your appointment is booked")
      })
    )

    it.effect("joins a waitlist with an address that a mailed code proves, signs out and leaves it later", () =>
      Effect.gen(function* () {
        const room = yield* Fixture.room({ waitlist: { name: "Tell me", supportsGuest: false } })
        const page = yield* room.get("")
        assert.notInclude(page.text, "http-equiv")
        const bad = yield* room.submit(page, "Join the waitlist", { email: "nobody" })
        assert.strictEqual(bad.status, 400)
        assert.include(textOf(bad), "Please enter a valid email address.")
        const sent = yield* room.submit(page, "Join the waitlist", { email: "ada@example.com" })
        assert.include(textOf(sent), "We have sent a code to ada@example.com.")
        const wrong = yield* room.submit(sent, "Sign in", { code: "000000" })
        assert.strictEqual(wrong.status, 401)
        assert.include(textOf(wrong), "The code is wrong.")
        const joined = yield* room.submit(wrong, "Sign in", { code: yield* Fixture.mailedCode("ada@example.com") })
        assert.include(textOf(joined), "You are on the waitlist")
        const out = yield* room.submit(joined, "Sign out")
        assert.notInclude(textOf(out), "You are on the waitlist")
        assert.strictEqual(room.cookies.size, 0)
        const again = yield* room.submit(yield* room.get("place?show=sign-in"), "Send a code", {
          email: "ada@example.com"
        })
        const back = yield* room.submit(again, "Sign in", { code: yield* Fixture.mailedCode("ada@example.com") })
        assert.include(
          textOf(yield* leaves(room, back, "Leave the waitlist")),
          "We will send you one message when it opens."
        )
      })
    )
  })
})
