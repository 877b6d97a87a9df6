/** Emails that a visitor asks for in a room, without a script: before the opening, and when it is outbid. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { Leases } from "../../../src/store/coordination/Leases.ts"
import { Alerts } from "../../../src/store/message/Alerts.ts"
import * as Worker from "../../../src/workers/Alerts.ts"
import { movableClock } from "../../support/movableClock.ts"
import * as Fixture from "../support/roomFixture.ts"

const { textOf } = Fixture
const clock = movableClock()
const at = (seconds: number) => new Date(clock.now() + seconds * 1_000).toISOString()
const minutes = (count: number) => clock.putForward(count * 60_000)

/** The rounds of the worker. */
class Rounds extends Context.Service<Rounds, { readonly round: Effect.Effect<boolean> }>()("usher/test/pages/Rounds") {}

const services = Layer.effect(
  Rounds,
  // A round runs in the fiber of its test, whose clock is the real one.
  Effect.map(Worker.make, (round) => ({ round: Effect.provide(Effect.orDie(round), clock.layer) }))
).pipe(
  Layer.provide(Layer.merge(Alerts.layer, Leases.layer)),
  Layer.provideMerge(Fixture.layer),
  Layer.provide(clock.layer)
)

interface Mail {
  readonly purpose?: string
  readonly subject: string
  readonly text: string
}

/** The emails to an address that are no codes, the latest first. */
const mailsTo = (to: string) =>
  Effect.map(
    Fixture.brand("GET", `/outbox?to=${encodeURIComponent(to)}`),
    ({ data }: { readonly data: ReadonlyArray<Mail> }) =>
      data.filter(({ text }) => !/\b\d{6}\b is your code/.test(text))
  )

/** Runs rounds until so many emails have gone to the address. */
const mailed = (to: string, count: number) =>
  Effect.flatMap(Rounds, ({ round }) => Effect.andThen(round, mailsTo(to))).pipe(
    Effect.repeat({ until: (mails) => mails.length >= count, schedule: Schedule.spaced("20 millis") }),
    Effect.timeout("10 minutes")
  )

type Visitor = Effect.Success<ReturnType<typeof Fixture.visitor>>

/** Asks on the screen of a link for an email, and proves the address with a code. */
const asks = Effect.fnUntraced(function* (visitor: Visitor, show: string, to: string) {
  const screen = yield* visitor.get(`place?${show}`)
  const sent = yield* visitor.submit(screen, "Send a code", { email: to })
  return yield* visitor.submit(sent, "Sign in", { code: yield* Fixture.mailedCode(to) })
})

describe("A visitor", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("is reminded once by email before the opening, in the language of the room", () =>
      Effect.gen(function* () {
        const to = "ines@example.com"
        const queues = [{ name: "Queue", admitRate: 0, openAt: at(7_200) }]
        const room = yield* Fixture.room({ queues }, { timeZone: "Europe/Paris" })
        assert.match((yield* room.get("")).text, /href="[^"]*place\?show=remind[^"]*">Remind me</)
        const screen = yield* room.get("place?show=remind&lang=de")
        assert.include(textOf(screen), "Erinnere mich")
        const sent = yield* room.submit(screen, "Code senden", { email: to })
        const asked = yield* room.submit(sent, "Anmelden", { code: yield* Fixture.mailedCode(to) })
        assert.include(textOf(asked), "Du erhältst kurz vor der Öffnung eine E-Mail.")
        const { round } = yield* Rounds
        assert.isFalse(yield* round)
        yield* minutes(111)
        const [mail] = yield* mailed(to, 1)
        const { name } = yield* Fixture.brand("GET", "/organizations/me")
        assert.isTrue(mail!.subject.startsWith(`${name}: Öffnet am `), mail!.subject)
        assert.include(mail!.text, `/e/${room.experienceId}`)
        assert.isFalse(yield* round)
        assert.lengthOf(yield* mailsTo(to), 1)
      })
    )

    it.effect("ends the reminder where it asked for it", () =>
      Effect.gen(function* () {
        const to = "zoe@example.com"
        const draws = [{ name: "Draw", winnerCount: 1, openAt: at(7_200), closeAt: at(9_000), drawAt: at(9_600) }]
        const room = yield* Fixture.room({ draws })
        const asked = yield* asks(room, "show=remind", to)
        const ended = yield* room.submit(asked, "Stop these emails")
        assert.include(textOf(ended), "Remind me")
        const again = yield* room.submit(ended, "Remind me")
        assert.include(textOf(again), "You will get an email shortly before it opens.")
        yield* room.submit(again, "Stop these emails")
        yield* minutes(115)
        assert.isFalse(yield* (yield* Rounds).round)
        assert.lengthOf(yield* mailsTo(to), 0)
      })
    )

    it.effect("is not offered a reminder that would come at once, or where a waitlist is open", () =>
      Effect.gen(function* () {
        const soon = yield* Fixture.room({ queues: [{ name: "Queue", admitRate: 0, openAt: at(300) }] })
        assert.notInclude((yield* soon.get("")).text, "show=remind")
        const listed = yield* Fixture.room({
          queues: [{ name: "Queue", admitRate: 0, openAt: at(7_200) }],
          waitlist: { name: "List" }
        })
        assert.notInclude((yield* listed.get("")).text, "show=remind")
      })
    )

    it.effect(
      "learns of each lost lead by email, at most every five minutes, until it ends that by the email's link",
      () =>
        Effect.gen(function* () {
          const to = "bo@example.com"
          const auctions = [{ name: "Lot", startPrice: "10", minBidIncrement: "1", settleAt: at(36_000) }]
          const room = yield* Fixture.room({ auctions })
          const { id } = room.sequence.auctions[0]
          const bid = (visitor: Visitor, amount: string) =>
            Effect.flatMap(visitor.get("place"), (page) =>
              visitor.submit(page, "Place a bid", { amount, confirmed: "1" })
            )
          yield* bid(room, "10")
          const asked = yield* asks(room, `show=outbid&at=${id}`, to)
          assert.include(textOf(asked), "You will get an email when you are outbid.")
          const rival = yield* Fixture.visitor(room.experienceId)
          yield* bid(rival, "11")
          const [mail] = yield* mailed(to, 1)
          assert.match(mail!.subject, /^.+: You have been outbid – Lot$/)

          yield* bid(room, "12")
          yield* bid(rival, "13")
          const { round } = yield* Rounds
          yield* round
          assert.lengthOf(yield* mailsTo(to), 1)
          yield* minutes(6)
          const mails = yield* mailed(to, 2)
          assert.isFalse(yield* round)

          const link = new URL(/\S+\/alert\?token=\S+/.exec(mails[0]!.text)![0])
          const stranger = yield* Fixture.visitor(room.experienceId)
          const path = `alert${link.search}`
          assert.include(textOf(yield* stranger.get(path)), "Stop these emails")
          // A mail program that opens the link ends nothing.
          assert.include(textOf(yield* room.get("place")), "You will get an email when you are outbid.")
          const ended = yield* stranger.postOnce(path, { "List-Unsubscribe": "One-Click" }, {})
          assert.include(textOf(ended), "You will get no more of these emails.")
          yield* bid(room, "14")
          yield* bid(rival, "15")
          yield* minutes(6)
          yield* round
          assert.lengthOf(yield* mailsTo(to), 2)
          assert.include(textOf(yield* room.get("place")), "Email me when I am outbid")
          assert.strictEqual((yield* stranger.get(`${path}x`)).status, 404)
          const other = yield* Fixture.room({ queues: [{ name: "Queue", admitRate: 0 }] })
          assert.strictEqual((yield* other.get("alert?token=a.b.c")).status, 404)
        })
    )
  })
})
