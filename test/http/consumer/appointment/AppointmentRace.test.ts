/** Consumers race for the places of slots, over HTTP. Each run depends on a seed, which a failure reports. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { decider, type Event, slotStart } from "../../../../src/domain/appointment/Appointment.ts"
import { Journal } from "../../../../src/store/journal/Journal.ts"
import { Dice } from "../../../e2e/support/Dice.ts"
import { anotherEngine } from "../../../engine/engineFixture.ts"
import { type Answer, type Guest, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { anAppointment } from "./appointmentFixture.ts"

const seeds = [1, 2, 3]

const crowdOf = (size: number) =>
  Effect.gen(function* () {
    const { guest } = yield* Usher
    return yield* Effect.all(
      Array.from({ length: size }, () => guest()),
      { concurrency: 10 }
    )
  })

/** Runs all effects at once, each after a random delay. */
const race = <A>(dice: Dice, callers: ReadonlyArray<Guest>, act: (caller: Guest, index: number) => Effect.Effect<A>) =>
  Effect.forEach(
    callers.map((caller, index) => ({ caller, index, millis: dice.between(0, 30) })),
    ({ caller, index, millis }) => Effect.delay(act(caller, index), millis),
    { concurrency: "unbounded" }
  )

const isBooked = ({ status, body }: Answer) => status === 200 && body.status === "BOOKED"

/** Replays the recorded events, and returns the state. Checks after each event that no slot exceeds its capacity. */
const replayed = Effect.fnUntraced(function* (id: string, capacity: number, run: string) {
  const journal = yield* Journal
  const head = yield* journal.head(id)
  const pages = yield* Stream.runCollect(journal.read(head!, 0))
  const state = decider.initial()
  for (const { event } of pages.flat()) {
    decider.evolve(state, event as Event)
    for (const [, { places }] of state.taken) assert.isAtMost(places, capacity, run)
  }
  return state
})

describe("A race for an appointment", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("gives ten of a hundred consumers a place in the slot, in any arrival order, also after a rebuild", () =>
      Effect.gen(function* () {
        const capacity = 10
        const { brand } = yield* Usher
        const crowd = yield* crowdOf(100)
        for (const seed of seeds) {
          const run = `seed ${seed}`
          const dice = new Dice(seed)
          const { id, offered, book } = yield* anAppointment({ maxCapacityPerSlot: capacity })
          const slot = (yield* offered)[1]!
          // Some consumers send several requests, and each still counts as one consumer.
          const callers = crowd.flatMap((consumer) => Array.from({ length: dice.between(1, 2) }, () => consumer))
          const answers = yield* race(dice, callers, (consumer) =>
            Effect.map(book(consumer, slot.id), (answer) => ({ consumerId: consumer.consumerId, answer }))
          )
          const holders = new Set(answers.filter(({ answer }) => isBooked(answer)).map(({ consumerId }) => consumerId))
          assert.strictEqual(holders.size, capacity, run)
          for (const { consumerId, answer } of answers) {
            if (holders.has(consumerId)) assert.isTrue(isBooked(answer), run)
            else assert.deepStrictEqual([answer.status, answer.body.code], [409, "SLOT_FULL"], run)
          }
          assert.strictEqual((yield* offered).find((other) => other.id === slot.id)!.available, 0, run)

          const appointment = { kind: "appointment", id, tenant: { ...brand, mode: "live" } } as const
          const { engine, close } = yield* anotherEngine(`rebuilt after ${run}`)
          for (const { consumerId } of crowd) {
            const { status } = yield* engine.view(appointment, consumerId)
            assert.strictEqual(status, holders.has(consumerId) ? "BOOKED" : "NOT_BOOKED", run)
          }
          const late = crowd.find(({ consumerId }) => !holders.has(consumerId))!
          const startTime = slotStart(id, slot.id)
          const refused = yield* Effect.flip(
            engine.send(appointment, { _tag: "Book", consumerId: late.consumerId, startTime })
          )
          assert.strictEqual(refused._tag, "SlotFull", run)
          yield* close
        }
      })
    )

    it.effect("neither loses nor duplicates a place while fifty consumers at a time move between a few slots", () =>
      Effect.gen(function* () {
        const capacity = 12
        const crowd = yield* crowdOf(50)
        for (const seed of seeds) {
          const run = `seed ${seed}`
          const dice = new Dice(seed)
          const { id, offered, book, reschedule, me } = yield* anAppointment({ maxCapacityPerSlot: capacity })
          const slots = (yield* offered).slice(1, 6)
          const names = new Map<string, string>()
          for (const [index, consumer] of crowd.entries()) {
            const answer = yield* book(consumer, slots[index % slots.length]!.id)
            names.set(consumer.consumerId, answer.body.bookingId)
          }
          let moves = 0
          for (let round = 0; round < 3; round++) {
            const wanted = crowd.map(() => dice.pick(slots).id)
            const answers = yield* race(dice, crowd, (consumer, index) => reschedule(consumer, wanted[index]!))
            for (const [index, answer] of answers.entries()) {
              const { slotId } = (yield* me(crowd[index]!)).body
              if (answer.status === 200)
                assert.deepStrictEqual([answer.body.slotId, slotId], [wanted[index], slotId], run)
              else assert.deepStrictEqual([answer.status, answer.body.code], [409, "SLOT_FULL"], run)
              if (isBooked(answer)) moves++
            }
          }
          assert.isAbove(moves, 30, run)
          const bookings = yield* Effect.forEach(crowd, (consumer) => me(consumer))
          for (const { body } of bookings) assert.strictEqual(body.bookingId, names.get(body.consumerId), run)
          for (const { id: slotId, available } of (yield* offered).slice(1, 6)) {
            const here = bookings.filter(({ body }) => body.slotId === slotId && body.status === "BOOKED").length
            assert.strictEqual(here + available, capacity, run)
          }
          const state = yield* replayed(id, capacity, run)
          assert.strictEqual(decider.counts(state)["BOOKED"], crowd.length, run)
          assert.strictEqual(
            [...state.taken].reduce((sum, [, { places }]) => sum + places, 0),
            crowd.length,
            run
          )
        }
      })
    )
  })
})
