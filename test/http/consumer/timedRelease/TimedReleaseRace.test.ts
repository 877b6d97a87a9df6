/** A hundred consumers race for ten units, over HTTP. Each run depends on a seed, which a failure reports. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { type Event, decider } from "../../../../src/domain/timedRelease/TimedRelease.ts"
import { Journal } from "../../../../src/store/journal/Journal.ts"
import { Dice } from "../../../e2e/support/Dice.ts"
import { anotherEngine } from "../../../engine/engineFixture.ts"
import { type Answer, type Guest, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { aMechanism, inMechanism } from "../mechanism/mechanismFixture.ts"

const capacity = 10
const seeds = [1, 2, 3, 4, 5]

const crowdOf = (size: number) =>
  Effect.gen(function* () {
    const { guest } = yield* Usher
    return yield* Effect.all(
      Array.from({ length: size }, () => guest()),
      { concurrency: 10 }
    )
  })

/** Creates a release with ten units, and returns the requests of the consumers. */
const aRelease = Effect.gen(function* () {
  const id = yield* aMechanism("timed-releases", { capacity })
  const { byConsumer } = yield* inMechanism("timed-releases", id)
  return { id, enter: byConsumer("POST", "/enter"), leave: byConsumer("POST", "/leave") }
})

const shuffled = <A>(dice: Dice, items: ReadonlyArray<A>): ReadonlyArray<A> =>
  items
    .map((item) => [dice.next(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item)

/** Runs all effects at once, each after a random delay. */
const race = <A>(dice: Dice, consumers: ReadonlyArray<Guest>, act: (consumer: Guest) => Effect.Effect<A>) =>
  Effect.forEach(
    consumers.map((consumer) => [consumer, dice.between(0, 30)] as const),
    ([consumer, millis]) => Effect.delay(act(consumer), millis),
    { concurrency: "unbounded" }
  )

const hasOne = ({ status, body }: Answer) => status === 200 && body.status === "ENTERED"

/** Returns the recorded events, and the state that they produce. */
const replayed = Effect.fnUntraced(function* (releaseId: string) {
  const journal = yield* Journal
  const head = yield* journal.head(releaseId)
  const pages = yield* Stream.runCollect(journal.read(head!, 0))
  const state = decider.initial()
  let most = 0
  for (const { event } of pages.flat()) {
    decider.evolve(state, event as Event)
    most = Math.max(most, decider.counts(state)["ENTERED"]! + decider.counts(state)["COMPLETED"]!)
  }
  return { state, most }
})

describe("A race for a timed release", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("gives ten of a hundred consumers one unit each, in any arrival order, also after a rebuild", () =>
      Effect.gen(function* () {
        const { brand } = yield* Usher
        const crowd = yield* crowdOf(100)
        for (const seed of seeds) {
          const run = `seed ${seed}`
          const dice = new Dice(seed)
          const { id, enter } = yield* aRelease
          // Many consumers send several requests, and each still counts as one consumer.
          const callers = crowd.flatMap((consumer) => Array.from({ length: dice.between(1, 3) }, () => consumer))
          const answers = yield* race(dice, shuffled(dice, callers), (consumer) =>
            Effect.map(enter(consumer), (answer) => ({ consumerId: consumer.consumerId, answer }))
          )
          const holders = new Set(answers.filter(({ answer }) => hasOne(answer)).map(({ consumerId }) => consumerId))
          assert.strictEqual(holders.size, capacity, run)
          for (const { consumerId, answer } of answers) {
            if (holders.has(consumerId)) assert.isTrue(hasOne(answer), run)
            else assert.deepStrictEqual([answer.status, answer.body.code], [409, "SOLD_OUT"], run)
          }
          const release = { kind: "timed_release", id, tenant: { ...brand, mode: "live" } } as const
          const { engine, close } = yield* anotherEngine(`rebuilt after ${run}`)
          const { counts } = (yield* engine.inspect(release)).live
          assert.deepStrictEqual(counts, { ENTERED: capacity, COMPLETED: 0, DENIED: 0, EXPIRED: 0, LEFT: 0 }, run)
          for (const { consumerId } of crowd) {
            const { status } = yield* engine.view(release, consumerId)
            assert.strictEqual(status, holders.has(consumerId) ? "ENTERED" : "NOT_ENTERED", run)
          }
          const late = crowd.find(({ consumerId }) => !holders.has(consumerId))!
          const refused = yield* Effect.flip(
            engine.send(release, { _tag: "Enter", consumerId: late.consumerId, isGuest: true })
          )
          assert.strictEqual(refused._tag, "SoldOut", run)
          yield* close
        }
      })
    )

    it.effect("never has an eleventh holder, even while units are returned", () =>
      Effect.gen(function* () {
        const crowd = yield* crowdOf(100)
        for (const seed of seeds) {
          const run = `seed ${seed}`
          const dice = new Dice(seed)
          const { id, enter, leave } = yield* aRelease
          const fickle = new Set(crowd.filter(() => dice.chance(0.5)).map(({ consumerId }) => consumerId))
          yield* race(dice, shuffled(dice, [...crowd, ...crowd]), (consumer) =>
            Effect.flatMap(enter(consumer), (answer) =>
              hasOne(answer) && fickle.has(consumer.consumerId) ? leave(consumer) : Effect.succeed(answer)
            )
          )
          const patient = crowd.filter(({ consumerId }) => !fickle.has(consumerId))
          const answers = yield* race(dice, shuffled(dice, patient), enter)
          assert.lengthOf(answers.filter(hasOne), capacity, run)
          const { state, most } = yield* replayed(id)
          assert.strictEqual(most, capacity, run)
          assert.strictEqual(decider.counts(state)["ENTERED"], capacity, run)
          assert.isAbove(decider.counts(state)["LEFT"]!, 0, run)
        }
      })
    )
  })
})
