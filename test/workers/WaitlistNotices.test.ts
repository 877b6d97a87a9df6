/** Notifies members of waitlists of the opening, over an engine with a test clock. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, References, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as WaitlistNotices from "../../src/workers/WaitlistNotices.ts"
import { Delivery, type Outcome, senders } from "../../src/delivery/Delivery.ts"
import type { OutgoingMessage } from "../../src/delivery/Message.ts"
import type * as Waitlist from "../../src/domain/waitlist/Waitlist.ts"
import { creationOf } from "../../src/engine/lifecycle/Creation.ts"
import { Engine } from "../../src/engine/Engine.ts"
import { NoticeSchedule } from "../../src/engine/lifecycle/NoticeSchedule.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Unavailable } from "../../src/store/postgres/Unavailable.ts"
import * as JournalMemory from "../../src/store/journal/JournalMemory.ts"
import { type Opening, Waitlists } from "../../src/store/mechanism/Waitlists.ts"
import { Hands, layerJournal } from "../engine/engineFixture.ts"

const start = Date.parse("2026-11-21T18:00:00Z")
const opensAt = start + 600_000

const tenant = { organizationId: "00000000-0000-7000-8000-0000000000a1", mode: "live" } as const
const sequenceId = "00000000-0000-7000-9000-000000000101"
const idOf = (n: number) => `00000000-0000-7000-9000-${n.toString(16).padStart(12, "0")}`
const consumerId = (n: number) => `00000000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`
const numberOf = (id: string) => Number.parseInt(id.slice(-12), 16)
const waitlist = (n = 1) => ({ kind: "waitlist", id: idOf(n), tenant }) as const
const email = (n: number) => `c${n}@example.com`

/** The environment of the processes. */
interface World {
  /** When the sequence opens. */
  opensAt: number | undefined
  /** Sets the outcome of a message. */
  deliver: (message: OutgoingMessage) => Effect.Effect<Outcome>
  /** Whether the database is unavailable. */
  isDown: boolean
}

const aWorld = (): World => ({ opensAt, deliver: () => Effect.succeed("delivered"), isDown: false })

/** Consumers whose number ends in 8 have only a phone, in 9 neither address. Those from 900 on do not exist. */
const recipientOf = (id: string) => {
  const n = numberOf(id)
  const [address, phone] = [n % 10 < 8 ? email(n) : null, n % 10 === 8 ? `+49151${n}` : null]
  return n < 900 ? [{ consumerId: id, email: address, phone, experience: "Sneaker  drop" }] : []
}

/** Returns the waitlists of the journal. */
const openings = (world: World) =>
  Effect.map(JournalMemory.Tables, (tables) =>
    [...tables.keys()].map((waitlistId): Opening => ({ ...tenant, sequenceId, waitlistId, opensAt: world.opensAt }))
  )

/** Starts a process. Returns its engine, the delivered messages, and its end. */
const serve = Effect.fnUntraced(function* (world: World) {
  const messages: Array<OutgoingMessage> = []
  const tables = yield* Effect.context<JournalMemory.Tables>()
  const query = <A>(result: Effect.Effect<A>) =>
    Effect.suspend(() => (world.isDown ? Effect.fail(new Unavailable({ cause: "simulated" })) : result))
  const store = Layer.succeed(Waitlists, {
    openings: () => query(Effect.provide(openings(world), tables)),
    recipients: (_, __, consumerIds) => query(Effect.succeed(consumerIds.flatMap(recipientOf)))
  })
  const delivery = Layer.succeed(Delivery, {
    canSend: () => true,
    send: () => Effect.die("the worker waits for outcomes"),
    deliver: (message) =>
      Effect.tap(world.deliver(message), (outcome) =>
        Effect.sync(() => outcome === "delivered" && messages.push(message))
      ),
    outbox: undefined,
    kept: () => []
  })
  const scope = yield* Scope.make()
  const layer = WaitlistNotices.layerNoDeps.pipe(
    Layer.provide(NoticeSchedule.layerNoDeps),
    Layer.provide(Layer.merge(store, delivery)),
    Layer.provideMerge(Engine.layer({ node: "test" }))
  )
  const engine = Context.get(yield* Layer.buildWithScope(Layer.fresh(layer), scope), Engine)
  return { engine, messages, end: Scope.close(scope, Exit.void) }
})

/** Creates a waitlist, as the Admin API does. */
const createWaitlist = Effect.fnUntraced(function* (n = 1, settings: Partial<Waitlist.Configuration> = {}) {
  const journal = yield* Journal
  const identity = { ...waitlist(n), ...tenant, experienceId: idOf(100), sequenceId }
  const configuration = { name: "Waitlist", timeZone: "UTC", ...settings }
  yield* journal.create([creationOf(identity, configuration, "test", start)])
})

const enter = (engine: Engine["Service"], numbers: ReadonlyArray<number>, n = 1) =>
  Effect.forEach(numbers, (number) => engine.send(waitlist(n), { _tag: "Enter", consumerId: consumerId(number) }), {
    discard: true
  })

/** Returns the status of the consumers and the channel of their notice, as search and lists show them. */
const rows = Effect.fnUntraced(function* (numbers: ReadonlyArray<number>, n = 1) {
  const stored = (yield* JournalMemory.Tables).get(idOf(n))!
  return numbers.map((number) => {
    const { status, fields } = stored.places.get(consumerId(number))!
    const channel = fields["channel"] as Waitlist.Channel | undefined
    return channel === undefined ? status : `${status} ${channel}`
  })
})

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const addresses = (messages: ReadonlyArray<OutgoingMessage>) => messages.map(({ to }) => to)
const millis = (count: number) => TestClock.adjust(count)
const seconds = (count: number) => TestClock.adjust(`${count} seconds`)

/** Starts a process with a waitlist of `count` members, some time before the opening. */
const withMembers = Effect.fnUntraced(function* (world: World, count: number) {
  yield* TestClock.setTime(start)
  yield* createWaitlist()
  const process = yield* serve(world)
  yield* enter(process.engine, upTo(count))
  yield* seconds(60)
  return process
})

const quiet = Layer.merge(layerJournal, Layer.succeed(References.MinimumLogLevel, "None"))

describe("The members of a waitlist", () => {
  const test = (
    what: string,
    body: () => Effect.Effect<void, unknown, Journal | Hands | JournalMemory.Tables | Scope.Scope>
  ) => it.effect(what, () => Effect.provide(body(), quiet))

  test("are notified when the sequence opens, without a request, not before, and once", () =>
    Effect.gen(function* () {
      const { engine, messages, end } = yield* withMembers(aWorld(), 2)
      yield* TestClock.setTime(opensAt - 1)
      assert.deepStrictEqual([messages, yield* rows([1, 2])], [[], ["ENTERED", "ENTERED"]])
      yield* millis(250)
      assert.deepStrictEqual(addresses(messages), [email(1), email(2)])
      assert.deepStrictEqual(
        { ...messages[0], tenant },
        {
          tenant,
          id: `${idOf(1)}.${consumerId(1)}`,
          consumerId: consumerId(1),
          channel: "email",
          purpose: "OPENING",
          to: email(1),
          subject: "Sneaker drop is open",
          text: "Sneaker drop is open now.\n\nYou asked to be told when it opens. This is the only message about it.\n"
        }
      )
      assert.deepStrictEqual(yield* rows([1, 2]), ["NOTIFIED email", "NOTIFIED email"])
      const view = yield* engine.view(waitlist(), consumerId(2))
      assert.deepInclude(view, { status: "NOTIFIED", position: 2 })
      yield* seconds(7_200)
      assert.lengthOf(messages, 2)
      yield* end
    }))

  test("are told at the very instant, without a look at the clock", () =>
    Effect.gen(function* () {
      const world = aWorld()
      world.opensAt = opensAt + 337
      const { messages, end } = yield* withMembers(world, 1)
      yield* TestClock.setTime(opensAt + 336)
      assert.deepStrictEqual(messages, [])
      yield* millis(1)
      assert.deepStrictEqual(addresses(messages), [email(1)])
      yield* end
    }))

  test("are notified in time also where no waitlist was active for long", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(start)
      const { engine, messages, end } = yield* serve(aWorld())
      yield* seconds(590)
      yield* createWaitlist()
      yield* enter(engine, [1])
      yield* TestClock.setTime(opensAt - 1)
      assert.deepStrictEqual(messages, [])
      yield* millis(250)
      assert.deepStrictEqual(addresses(messages), [email(1)])
      yield* end
    }))

  test("are notified by email, else by SMS; members without either, or without a consumer record, are only marked", () =>
    Effect.gen(function* () {
      const { engine, messages, end } = yield* withMembers(aWorld(), 1)
      yield* enter(engine, [8, 9, 901])
      yield* TestClock.setTime(opensAt + 250)
      assert.deepStrictEqual(addresses(messages), [email(1), "+491518"])
      assert.strictEqual(messages[1]!.text, "Sneaker drop is open now. You asked to be told.")
      assert.deepStrictEqual(yield* rows([1, 8, 9, 901]), ["NOTIFIED email", "NOTIFIED phone", "NOTIFIED", "NOTIFIED"])
      yield* end
    }))

  test("are notified at once if they enter after the opening", () =>
    Effect.gen(function* () {
      const { engine, messages, end } = yield* withMembers(aWorld(), 1)
      yield* TestClock.setTime(opensAt + 60_000)
      yield* enter(engine, [2])
      yield* millis(250)
      assert.deepStrictEqual(addresses(messages), [email(1), email(2)])
      yield* end
    }))

  test("are all notified once, in the order of their entry, never more at once than there are senders", () =>
    Effect.gen(function* () {
      const world = aWorld()
      let underWay = 0
      let most = 0
      world.deliver = () =>
        Effect.sync(() => (most = Math.max(most, ++underWay))).pipe(
          Effect.andThen(Effect.sleep(5)),
          Effect.andThen(Effect.sync(() => void underWay--)),
          Effect.as("delivered" as const)
        )
      const numbers = upTo(310).filter((n) => n % 10 < 8)
      yield* TestClock.setTime(start)
      yield* createWaitlist()
      const { engine, messages, end } = yield* serve(world)
      yield* enter(engine, numbers)
      yield* TestClock.setTime(opensAt)
      yield* seconds(10)
      assert.deepStrictEqual(addresses(messages), numbers.map(email))
      assert.strictEqual(most, senders)
      yield* end
    }))

  test("are notified after a restart, if the sequence opened while no process ran", () =>
    Effect.gen(function* () {
      const world = aWorld()
      const first = yield* withMembers(world, 3)
      yield* first.end
      yield* TestClock.setTime(opensAt + 3_600_000)
      assert.deepStrictEqual(first.messages, [])
      const second = yield* serve(world)
      yield* seconds(1)
      assert.deepStrictEqual(addresses(second.messages), upTo(3).map(email))
      yield* second.end
      const third = yield* serve(world)
      yield* seconds(120)
      assert.deepStrictEqual(third.messages, [])
      yield* third.end
    }))

  test("are all notified although the process dies in between; only messages in progress may be sent twice", () =>
    Effect.gen(function* () {
      const world = aWorld()
      world.deliver = () => Effect.as(Effect.sleep(50), "delivered" as const)
      const first = yield* withMembers(world, 60)
      yield* TestClock.setTime(opensAt + 260)
      yield* first.end
      const before = addresses(first.messages)
      assert.isTrue(before.length > 0 && before.length < 48, `${before.length} notified`)
      const second = yield* serve(world)
      yield* seconds(10)
      const after = addresses(second.messages)
      const everyone = upTo(60).flatMap((n) =>
        recipientOf(consumerId(n)).flatMap(({ email, phone }) => email ?? phone ?? [])
      )
      assert.sameMembers([...new Set([...before, ...after])], everyone)
      const twice = before.filter((address) => after.includes(address))
      assert.isAtMost(twice.length, senders)
      const ids = [...first.messages, ...second.messages].map(({ id, to }) => `${id} ${to}`)
      assert.strictEqual(new Set(ids).size, everyone.length)
      yield* second.end
    }))

  test("do not wait for unreachable ones, which are notified when they can be reached", () =>
    Effect.gen(function* () {
      const world = aWorld()
      world.deliver = ({ channel }) => Effect.succeed(channel === "email" ? "failed" : "delivered")
      const { messages, end } = yield* withMembers(world, 210)
      yield* TestClock.setTime(opensAt + 5_000)
      assert.lengthOf(messages, 21)
      assert.deepStrictEqual(yield* rows([1, 8, 9, 208]), ["ENTERED", "NOTIFIED phone", "NOTIFIED", "NOTIFIED phone"])
      yield* seconds(120)
      world.deliver = () => Effect.succeed("delivered")
      yield* seconds(31)
      assert.lengthOf(messages, 189)
      assert.strictEqual(new Set(addresses(messages)).size, 189)
      yield* end
    }))

  test("are given up after an hour if unreachable, and at once after a final refusal", () =>
    Effect.gen(function* () {
      const world = aWorld()
      let tries = 0
      world.deliver = ({ to }) =>
        Effect.sync(() => {
          tries++
          return to === email(1) ? "undeliverable" : "failed"
        })
      const { messages, end } = yield* withMembers(world, 2)
      yield* TestClock.setTime(opensAt + 250)
      assert.deepStrictEqual(yield* rows([1, 2]), ["NOTIFIED", "ENTERED"])
      yield* seconds(3_500)
      assert.deepStrictEqual(yield* rows([1, 2]), ["NOTIFIED", "ENTERED"])
      assert.isAbove(tries, 100)
      yield* seconds(150)
      assert.deepStrictEqual([messages, yield* rows([1, 2])], [[], ["NOTIFIED", "NOTIFIED"]])
      yield* end
    }))

  test("get no second message when marking them fails at first", () =>
    Effect.gen(function* () {
      const hands = yield* Hands
      const world = aWorld()
      world.deliver = () => Effect.as(hands.failNext, "delivered" as const)
      const { messages, end } = yield* withMembers(world, 1)
      yield* TestClock.setTime(opensAt)
      yield* seconds(30)
      const writes = hands.commits.filter(({ events }) => events.some(({ _tag }) => _tag === "Notified"))
      assert.lengthOf(writes, 2)
      assert.deepStrictEqual([messages.length, yield* rows([1])], [1, ["NOTIFIED email"]])
      yield* end
    }))

  test("are notified later if the database is unavailable", () =>
    Effect.gen(function* () {
      const world = aWorld()
      const { messages, end } = yield* withMembers(world, 2)
      world.isDown = true
      yield* TestClock.setTime(opensAt + 60_000)
      assert.deepStrictEqual(messages, [])
      world.isDown = false
      yield* millis(250)
      assert.lengthOf(messages, 2)
      yield* end
    }))

  test("wait for the new time when the opening moves, without a notification to the waitlist", () =>
    Effect.gen(function* () {
      const world = aWorld()
      const { messages, end } = yield* withMembers(world, 1)
      world.opensAt = opensAt + 60_000
      yield* TestClock.setTime(opensAt + 59_999)
      assert.deepStrictEqual(messages, [])
      yield* millis(250)
      assert.lengthOf(messages, 1)
      yield* end
    }))

  test("are not notified if the sequence does not open, or after their waitlist was ended", () =>
    Effect.gen(function* () {
      const world = aWorld()
      world.opensAt = undefined
      const { engine, messages, end } = yield* withMembers(world, 1)
      yield* createWaitlist(2)
      yield* enter(engine, [2], 2)
      yield* engine.sendAdmin(waitlist(2), { _tag: "End", by: "test" })
      yield* TestClock.setTime(opensAt + 60_000)
      world.opensAt = opensAt
      yield* seconds(31)
      assert.deepStrictEqual(addresses(messages), [email(1)])
      yield* end
    }))
})
