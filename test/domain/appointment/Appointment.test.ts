import { assert, describe, it } from "@effect/vitest"
import { Arbitrary } from "effect"
import { type Command, type Configuration, decider, offeredSlots } from "../../../src/domain/appointment/Appointment.ts"
import { bookingName } from "../../../src/domain/appointment/Names.ts"
import { askedOf, outcomeOf } from "../mechanism/support/History.ts"
import { itAcceptsAny, itReplays, pick, play, present } from "../mechanism/support/Properties.ts"
import { at, configure, entropy, History, start } from "./history.ts"
import { Reference } from "./Reference.ts"
import { windowOf } from "../mechanism/support/window.ts"

const consumers = ["ada", "bob", "eve", "joe", "kim", "lee"]

const here = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

const openings = (...texts: ReadonlyArray<string>): Configuration["hours"] => ({
  monday: texts.map((text) => ({ from: text.slice(0, 5), to: text.slice(6) }))
})

/** A morning. The first slots begin an hour later. */
const base: Partial<Configuration> = {
  hours: openings("09:00-10:30", "10:45-12:00"),
  slotsFrom: at(0),
  slotsUntil: at(1_000)
}

const settingsArbitrary = Arbitrary.map(
  Arbitrary.all({
    openAt: pick(undefined, undefined, 20, 90),
    closeAt: pick(undefined, undefined, 70, 150),
    slotDurationMinutes: pick(15, 30, 45),
    bufferMinutes: pick(0, 0, 15),
    maxCapacityPerSlot: pick(1, 1, 2),
    locationId: pick(undefined, here)
  }),
  ({ openAt, closeAt, ...settings }): Partial<Configuration> =>
    present({
      ...base,
      ...settings,
      openAt: openAt === undefined ? undefined : at(openAt),
      closeAt: closeAt === undefined ? undefined : at(closeAt)
    })
)

const changes: ReadonlyArray<Partial<Configuration>> = [
  { maxCapacityPerSlot: 3 },
  { maxCapacityPerSlot: 1 },
  { slotDurationMinutes: 30 },
  { slotDurationMinutes: 60 },
  { bufferMinutes: 15 },
  { hours: openings("09:00-12:00") },
  { hours: openings("10:45-12:00") },
  { hours: openings("09:15-12:00") },
  { slotsFrom: at(120) },
  { slotsUntil: at(130) },
  { slotsUntil: at(2_000) },
  { closeAt: at(160) },
  { openAt: at(45) },
  { locationId: here },
  { name: "Renamed" }
]

const kinds = [
  "Book",
  "Book",
  "Book",
  "Book",
  "Reschedule",
  "Reschedule",
  "Cancel",
  "CheckIn",
  "Complete",
  "Miss",
  "Remove",
  "Configure",
  "SetExperienceWindow",
  "Extend",
  "None"
] as const

const stepsArbitrary = (waits: ReadonlyArray<number>) =>
  Arbitrary.array(
    Arbitrary.all({
      wait: pick(...waits),
      kind: pick(...kinds),
      consumerId: pick(...consumers),
      /** When the wanted slot begins, in minutes; all slots begin at multiples of 15. */
      wanted: pick(60, 60, 75, 90, 90, 105, 120, 135, 165, 180, 195, 210, 0),
      locationId: pick(undefined, undefined, undefined, here),
      change: pick(...changes),
      windowOpenAt: pick(undefined, at(10), at(30), at(100)),
      windowCloseAt: pick(undefined, undefined, at(80), at(140)),
      /** Ends or archives the appointment, in few steps. */
      rare: pick(...Array.from({ length: 80 }, (_, index) => index))
    }),
    { minLength: 20, maxLength: 80 }
  )

type Step = ReturnType<typeof stepsArbitrary> extends Arbitrary.Arbitrary<ReadonlyArray<infer S>> ? S : never

const commandOf = (step: Step, current: Configuration): Command | undefined => {
  const { kind, consumerId, wanted, locationId } = step
  if (step.rare === 0) return { _tag: "End", by: "admin" }
  if (step.rare === 1) return { _tag: "Archive", by: "admin" }
  switch (kind) {
    case "Book":
      return { _tag: kind, consumerId, startTime: at(wanted), locationId }
    case "Reschedule":
      return {
        _tag: kind,
        consumerId,
        startTime: wanted === 0 ? undefined : at(wanted),
        ...(wanted > 120 && { by: "admin" })
      }
    case "Configure":
      return { _tag: kind, configuration: { ...current, ...step.change }, by: "admin" }
    case "SetExperienceWindow":
      return { _tag: kind, window: windowOf(step, current), by: "admin" }
    case "Extend":
      return { _tag: kind, to: consumerId === consumers[0] ? { until: at(4) } : { seconds: 1 }, by: "admin" }
    case "None":
      return undefined
    case "Cancel":
      return { _tag: kind, consumerId }
    default:
      return { _tag: kind, consumerId, by: "admin" }
  }
}

/** Returns the event without the instant at the beginning of its booking's id. */
const unnamed = <A>(told: A): A =>
  JSON.parse(JSON.stringify(told, (key, value) => (key === "bookingId" ? String(value).slice(13) : value)))

const reference = () => new Reference(bookingName(0, entropy))

/** Returns every answer that an appointment gives. */
const told = (state: History["state"], now: number): unknown => ({
  ...askedOf(decider, state, consumers, now),
  offered: [...offeredSlots(decider.facts!(state, now), { from: start, to: start + 86_400_000 })]
})

/** Runs the steps; `tick` applies the due transitions before each. */
const run = (settings: Partial<Configuration>, steps: ReadonlyArray<Step>, tick: "noticed" | "until"): History => {
  const history = new History()
  history.when(0, configure(settings))
  play(history, decider, steps, commandOf, tick, 1)
  return history
}

const waits = [0, 0, 0, 1, 5, 14, 15, 16, 30]

describe("an appointment under random commands", () => {
  it.prop(
    "has the same events, views and slots as the reference",
    { settings: settingsArbitrary, steps: stepsArbitrary(waits) },
    ({ settings, steps }) => {
      const history = new History()
      const plain = reference()
      const created = configure(settings)
      assert.deepStrictEqual(outcomeOf(history.when(0, created)), plain.command(created, start))
      let now = 0
      for (const step of steps) {
        now += step.wait
        assert.deepStrictEqual(history.noticed(now), plain.notice(at(now)))
        const command = commandOf(step, plain.configuration)
        if (command !== undefined) {
          const outcome = outcomeOf(history.unnoticed(now, command))
          assert.deepStrictEqual(unnamed(outcome), unnamed(plain.command(command, at(now))))
          history.when(now, command)
        }
        // The reference's views apply no deadlines, so all transitions due until now come first.
        assert.deepStrictEqual(history.noticed(now), plain.notice(at(now)))
        for (const consumerId of consumers) {
          assert.deepStrictEqual(unnamed(history.view(now, consumerId)), unnamed(plain.view(consumerId)))
        }
        const offered = [...offeredSlots(history.facts(now), { from: -Infinity, to: Infinity })]
        assert.deepStrictEqual(offered, plain.offered(at(now)))
        assert.deepStrictEqual<unknown>(decider.counts(history.state), plain.counts())
      }
    },
    { arbitrary: { runs: 300, size: 60 } }
  )

  itReplays(decider, {
    settings: settingsArbitrary,
    steps: stepsArbitrary(waits),
    run,
    told,
    laterMillis: 3_600_000
  })

  it.prop(
    "never goes back in time, never gives more places than a slot has, and never lets booked slots overlap",
    { settings: settingsArbitrary, steps: stepsArbitrary(waits) },
    ({ settings, steps }) => {
      const { events } = run(settings, steps, "noticed")
      const held = new Map<string, readonly [number, number]>()
      let capacity = 0
      let last = 0
      for (const event of events) {
        assert.isAtLeast(event.at, last)
        last = event.at
        if (event._tag === "Configured") capacity = event.configuration.maxCapacityPerSlot
        if (event._tag === "Cancelled") held.delete(event.consumerId)
        if (event._tag !== "Booked" && event._tag !== "Rescheduled") continue
        const { startTime, endTime } = event
        held.set(event.consumerId, [startTime, endTime])
        const others = [...held.values()].filter(([from, to]) => from < endTime && startTime < to)
        assert.isAtMost(others.length, capacity)
        for (const other of others) assert.deepStrictEqual(other, [startTime, endTime])
      }
    },
    { arbitrary: { runs: 300, size: 60 } }
  )

  itAcceptsAny(decider, consumers, told, start, { runs: 200, length: 40 })
})
