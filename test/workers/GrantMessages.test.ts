/** Sends messages about grants from a real database, with outcomes that the test sets. */
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, References, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import * as Worker from "../../src/workers/GrantMessages.ts"
import { Delivery, type Outcome } from "../../src/delivery/Delivery.ts"
import type { OutgoingMessage } from "../../src/delivery/Message.ts"
import type { Tenant } from "../../src/domain/values/Ids.ts"
import type * as Queue from "../../src/domain/queue/Queue.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { GrantMessages } from "../../src/store/message/GrantMessages.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import { Unavailable } from "../../src/store/postgres/Unavailable.ts"
import { Leases } from "../../src/store/coordination/Leases.ts"
import { movableClock } from "../support/movableClock.ts"
import { aConsumer, aQueue, aTenant, layer as records } from "../store/support/recordsFixture.ts"

const minutes = (count: number) => count * 60_000

/** Sets the outcome of each message. */
interface World {
  deliver: (message: OutgoingMessage) => Effect.Effect<Outcome>
  /** Every message that was tried, in order. */
  readonly tried: Array<OutgoingMessage>
}

const aWorld = (): World => ({ deliver: () => Effect.succeed("delivered"), tried: [] })

/** Starts a worker. Returns its rounds, and its end. */
const aProcess = Effect.fnUntraced(function* (
  world: World,
  options: { readonly perSecond?: number; readonly messages?: GrantMessages["Service"] } = {}
) {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const delivery = Layer.succeed(Delivery, {
    canSend: () => true,
    send: () => Effect.die("the worker waits for outcomes"),
    deliver: (message) =>
      Effect.suspend(() => {
        world.tried.push(message)
        return world.deliver(message)
      }),
    outbox: undefined,
    kept: () => []
  })
  const store = options.messages === undefined ? GrantMessages.layer : Layer.succeed(GrantMessages, options.messages)
  const round = yield* Worker.make.pipe(
    Effect.provide(Layer.mergeAll(store, Leases.layer, delivery)),
    Effect.provide(Settings.layerTest({ grantMessagesPerSecond: options.perSecond ?? 10_000 })),
    Scope.provide(scope)
  )
  return {
    round,
    all: Effect.repeat(round, { while: (isMore) => isMore }),
    end: Scope.close(scope, Exit.void)
  }
})

/** Each consumer of the tenant has an address derived from its number. */
const addressOf = (index: number) => `c${index}@example.com`
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index)
const addresses = (messages: ReadonlyArray<OutgoingMessage>) => messages.map(({ to }) => to)

/** Creates a queue of an organization with messages turned on, and grants `count` consumers. */
const grantedQueue = Effect.fnUntraced(function* (
  count: number,
  options: { readonly tenant?: Tenant; readonly before?: ReadonlyArray<Queue.Event> } = {}
) {
  const tenant = options.tenant ?? (yield* aTenant({ grantMessages: "email" }))
  const before = options.before ?? []
  const { id } = yield* aQueue(tenant)
  const journal = yield* Journal
  const at = Date.now()
  const consumerIds = yield* Effect.forEach(upTo(count), (index) => aConsumer(tenant, { email: addressOf(index) }))
  yield* journal.append({
    mechanismId: id,
    kind: "queue",
    expectedSequence: 1,
    events: [
      ...before,
      ...consumerIds.flatMap((consumerId): ReadonlyArray<Queue.Event> => [
        { _tag: "Entered", at, consumerId },
        { _tag: "Granted", at, consumerId }
      ])
    ],
    places: consumerIds.map((consumerId) => ({
      consumerId,
      status: "GRANTED",
      enteredAt: at,
      updatedAt: at,
      fields: {}
    })),
    wakeAt: null
  })
  return { id, tenant, consumerIds }
})

/** Returns the recorded outcomes of a queue's messages. */
const recorded = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly text: string }>`
    select concat_ws(' ', channel, outcome, attempts) as text from grant_messages
    where mechanism_id = ${id} order by sequence`
  return rows.map(({ text }) => text)
})

const services = Layer.merge(records, Layer.succeed(References.MinimumLogLevel, "None"))

describe("Consumers with a grant", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("get one message each, and its outcome is recorded", () =>
      Effect.gen(function* () {
        const { id, consumerIds } = yield* grantedQueue(50)
        const world = aWorld()
        const { all, round } = yield* aProcess(world)
        yield* all
        assert.sameMembers(addresses(world.tried), upTo(50).map(addressOf))
        assert.strictEqual(world.tried.find(({ to }) => to === addressOf(0))!.id, `${id}.3`)
        assert.deepStrictEqual(
          yield* recorded(id),
          consumerIds.map(() => "email delivered 1")
        )
        assert.isFalse(yield* round)
        assert.lengthOf(world.tried, 50)
      })
    )

    it.effect("are found behind thousands of other events", () =>
      Effect.gen(function* () {
        const at = Date.now()
        const before = upTo(4_500).map((): Queue.Event => ({ _tag: "Entered", at, consumerId: randomUUID() }))
        yield* grantedQueue(3, { before })
        const world = aWorld()
        const { all } = yield* aProcess(world)
        yield* all
        assert.sameMembers(addresses(world.tried), upTo(3).map(addressOf))
      })
    )

    it.effect(
      "get their messages although the process ends in between, with only messages in progress sent twice",
      () =>
        Effect.gen(function* () {
          yield* grantedQueue(30)
          const world = aWorld()
          const stuck = yield* Deferred.make<void>()
          // From the tenth on a message is delivered, but the process ends before it receives the outcome.
          world.deliver = () =>
            world.tried.length < 10
              ? Effect.succeed("delivered")
              : Effect.andThen(Deferred.succeed(stuck, undefined), Effect.never)
          const first = yield* aProcess(world)
          const running = yield* Effect.forkChild(first.all)
          yield* Deferred.await(stuck)
          yield* Fiber.interrupt(running)
          yield* first.end
          const before = addresses(world.tried)

          const after = aWorld()
          const second = yield* aProcess(after)
          yield* second.all
          assert.sameMembers([...new Set([...before, ...addresses(after.tried)])], upTo(30).map(addressOf))
          const twice = addresses(after.tried).filter((address) => before.includes(address))
          assert.isAbove(twice.length, 0)
          assert.isAtMost(twice.length, 4)
          const ids = [...world.tried, ...after.tried].map(({ id, to }) => `${id} ${to}`)
          assert.strictEqual(new Set(ids).size, 30, "a duplicate has the same Message-ID")
        })
    )

    it.effect("get no second message when the process is stopped while their messages are in progress", () =>
      Effect.gen(function* () {
        const { id } = yield* grantedQueue(4)
        const world = aWorld()
        const [isUnderWay, mayGo] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        world.deliver = () =>
          Deferred.succeed(isUnderWay, undefined).pipe(
            Effect.andThen(Deferred.await(mayGo)),
            Effect.as<Outcome>("delivered")
          )
        const { all } = yield* aProcess(world)
        const running = yield* Effect.forkChild(all)
        yield* Deferred.await(isUnderWay)
        const ending = yield* Effect.forkChild(Fiber.interrupt(running), { startImmediately: true })
        yield* Deferred.succeed(mayGo, undefined)
        yield* Fiber.join(ending)
        assert.deepStrictEqual(
          yield* recorded(id),
          upTo(4).map(() => "email delivered 1")
        )
      })
    )

    it.effect("do not wait for unreachable ones, which are retried after a minute, two, and so on", () =>
      Effect.gen(function* () {
        const { id } = yield* grantedQueue(3)
        const world = aWorld()
        world.deliver = ({ to }) => Effect.succeed(to === addressOf(1) ? "failed" : "delivered")
        const clock = movableClock()
        const { all } = yield* aProcess(world)
        const later = (minutesLater: number) =>
          Effect.andThen(clock.putForward(minutes(minutesLater)), Effect.provide(all, clock.layer))
        yield* later(0)
        assert.deepStrictEqual(yield* recorded(id), ["email delivered 1", "email waiting 1", "email delivered 1"])
        yield* later(0.5)
        assert.lengthOf(world.tried, 3)
        yield* later(0.6)
        assert.deepStrictEqual(addresses(world.tried.slice(3)), [addressOf(1)])
        yield* later(1.5)
        assert.lengthOf(world.tried, 4)
        world.deliver = () => Effect.succeed("delivered")
        yield* later(0.6)
        assert.deepStrictEqual(yield* recorded(id), ["email delivered 1", "email delivered 3", "email delivered 1"])
        yield* later(600)
        assert.lengthOf(world.tried, 5)
      })
    )

    it.effect("are not retried after a final refusal, or after two hours", () =>
      Effect.gen(function* () {
        const { id } = yield* grantedQueue(2)
        const world = aWorld()
        world.deliver = ({ to }) => Effect.succeed(to === addressOf(0) ? "undeliverable" : "failed")
        const clock = movableClock()
        const { all } = yield* aProcess(world)
        for (let hour = 0; hour < 12; hour++) {
          yield* Effect.provide(all, clock.layer)
          yield* clock.putForward(minutes(65))
        }
        assert.deepStrictEqual(yield* recorded(id), ["email undeliverable 1", "email abandoned 8"])
        assert.lengthOf(world.tried, 9)
      })
    )

    it.effect("are not retried once their grant has ended, or they are archived", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { id, consumerIds } = yield* grantedQueue(3)
        const world = aWorld()
        world.deliver = () => Effect.succeed("failed")
        const clock = movableClock()
        const { all } = yield* aProcess(world)
        yield* all
        yield* sql`update places set status = 'COMPLETED' where mechanism_id = ${id} and consumer_id = ${consumerIds[0]!}`
        yield* sql`update consumers set archived = true where id = ${consumerIds[1]!}`
        world.deliver = () => Effect.succeed("delivered")
        yield* clock.putForward(minutes(2))
        yield* Effect.provide(all, clock.layer)
        assert.deepStrictEqual(yield* recorded(id), ["email abandoned 1", "email abandoned 1", "email delivered 2"])
        assert.deepStrictEqual(addresses(world.tried.slice(3)), [addressOf(2)])
      })
    )

    it.effect("get no second message when recording the outcome fails at first", () =>
      Effect.gen(function* () {
        const { id } = yield* grantedQueue(1)
        const world = aWorld()
        const store = yield* Effect.provide(GrantMessages, GrantMessages.layer)
        let failures = 1
        const messages: GrantMessages["Service"] = {
          ...store,
          record: (...what) =>
            Effect.suspend(() =>
              failures-- > 0 ? Effect.fail(new Unavailable({ cause: "simulated" })) : store.record(...what)
            )
        }
        const { all } = yield* aProcess(world, { messages })
        yield* all
        assert.deepStrictEqual([world.tried.length, yield* recorded(id)], [1, ["email delivered 1"]])
      })
    )

    it.effect("are served by one process of several, and by another once that one has ended or is silent", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [one, two, three] = [aWorld(), aWorld(), aWorld()]
        const first = yield* aProcess(one)
        const second = yield* aProcess(two)
        const third = yield* aProcess(three)
        yield* grantedQueue(1)
        yield* first.all
        yield* grantedQueue(1)
        assert.isFalse(yield* second.round)
        yield* first.end
        yield* second.all
        yield* grantedQueue(1)
        assert.isFalse(yield* third.round)
        // As if the process had been silent for ten seconds.
        yield* sql`update leases set held_until = now() where name = 'grant messages'`
        yield* third.all
        yield* second.round
        assert.deepStrictEqual(
          [one, two, three].map(({ tried }) => tried.length),
          [1, 1, 1]
        )
      })
    )

    it.effect("get no messages once these are turned off, although more wait in the same queue", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { tenant } = yield* grantedQueue(50)
        const world = aWorld()
        const turnOff = sql`update organizations set settings = '{}' where id = ${tenant.organizationId}`
        world.deliver = () => Effect.as(Effect.orDie(turnOff), "delivered" as const)
        const { all } = yield* aProcess(world)
        yield* all
        assert.lengthOf(world.tried, 20)
      })
    )

    it.effect("get messages at the configured rate, for all organizations together", () =>
      Effect.gen(function* () {
        yield* grantedQueue(6)
        yield* grantedQueue(6)
        const world = aWorld()
        const { all } = yield* aProcess(world, { perSecond: 20 })
        const startedAt = performance.now()
        yield* all
        assert.lengthOf(world.tried, 12)
        assert.isAtLeast(performance.now() - startedAt, (11 * 1_000) / 20 - 20)
      })
    )

    it.effect("of a small mechanism do not wait for all messages of a large one", () =>
      Effect.gen(function* () {
        const large = yield* grantedQueue(100)
        const small = yield* grantedQueue(1)
        const world = aWorld()
        const { all } = yield* aProcess(world)
        yield* all
        const position = world.tried.findIndex(({ id }) => id!.startsWith(small.id))
        assert.isBelow(position, 25)
        assert.strictEqual(world.tried.filter(({ id }) => id!.startsWith(large.id)).length, 100)
      })
    )

    it.effect("of other organizations get messages although those of one organization cannot be read", () =>
      Effect.gen(function* () {
        const broken = yield* grantedQueue(1)
        yield* grantedQueue(1)
        const world = aWorld()
        const store = yield* Effect.provide(GrantMessages, GrantMessages.layer)
        const messages: GrantMessages["Service"] = {
          ...store,
          newGrants: (source, now) =>
            source.mechanismId === broken.id ? Effect.die("broken") : store.newGrants(source, now)
        }
        const { all } = yield* aProcess(world, { messages })
        yield* all
        assert.lengthOf(world.tried, 1)
        yield* (yield* aProcess(world)).all
      })
    )
  })
})
