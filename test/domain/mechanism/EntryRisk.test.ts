/** The risk of an entry in every kind of mechanism: recorded with the entry, shown with the place, replayed. */
import { assert, describe, it } from "@effect/vitest"
import { Result, type Schema } from "effect"
import type { Event, PlaceRow } from "../../../src/domain/mechanism/Decider.ts"
import { deciders } from "../../../src/domain/mechanism/Mechanism.ts"
import type { Command } from "../../../src/domain/queue/Queue.ts"
import type { Risk } from "../../../src/domain/risk/Risk.ts"
import { make } from "../../../src/store/journal/JournalCodec.ts"
import * as Appointment from "../appointment/history.ts"
import * as Auction from "../auction/history.ts"
import * as Draw from "../draw/history.ts"
import * as Queue from "../queue/history.ts"
import * as TimedRelease from "../timedRelease/history.ts"
import * as Waitlist from "../waitlist/history.ts"
import { isEvents } from "./support/History.ts"

const risk: Risk = { score: 0.6, reasons: ["SHARED_ADDRESS", "NEW_ACCOUNT"] }

/** A mechanism as the test needs it. */
interface Anything {
  readonly state: unknown
  readonly events: ReadonlyArray<Event & { readonly risk?: Risk }>
  when(instant: number, command: object): unknown
}

/** The part of a decider that the test needs. */
interface AnyDecider {
  readonly event: Schema.Codec<unknown, unknown>
  initial(): unknown
  evolve(state: unknown, event: Event): void
  place(state: unknown, consumerId: string): PlaceRow | undefined
}

interface Example {
  readonly history: () => unknown
  /** The consumer's entry, and something that changes its place later. */
  readonly entry: object
  readonly later: object
}

const examples: { readonly [K in keyof typeof deciders]: Example } = {
  queue: { history: Queue.given, entry: Queue.enter("ada"), later: Queue.admit("ada") },
  draw: { history: Draw.given, entry: Draw.enter("ada"), later: Draw.deny("ada") },
  auction: {
    history: () => Auction.given(Auction.english()),
    entry: Auction.bid("ada", "10"),
    later: Auction.deny("ada")
  },
  appointment: {
    history: Appointment.given,
    entry: Appointment.book("ada", 1),
    later: Appointment.reschedule("ada", 2)
  },
  timed_release: { history: TimedRelease.given, entry: TimedRelease.enter("ada"), later: TimedRelease.complete("ada") },
  waitlist: { history: Waitlist.given, entry: Waitlist.enter("ada"), later: Waitlist.leave("ada") }
}

describe.each(Object.keys(deciders) as Array<keyof typeof deciders>)("An entry into a mechanism of kind %s", (kind) => {
  const { history: given, entry, later } = examples[kind]
  const decider = deciders[kind] as unknown as AnyDecider
  const begun = () => given() as Anything
  const shown = ({ state }: Anything): unknown => decider.place(state, "ada")?.fields["risk"]
  const recorded = ({ events }: Anything): ReadonlyArray<unknown> =>
    events.flatMap((event) => (event.risk === undefined ? [] : [[event._tag, event.risk]]))

  it("is recorded with its risk, in its own event alone, and its place shows it from then on", () => {
    const history = begun()
    assert(isEvents(history.when(1, { ...entry, risk })))
    assert.deepStrictEqual(recorded(history), [[kind === "appointment" ? "Booked" : "Entered", risk]])
    assert.deepStrictEqual(shown(history), risk)
    assert(isEvents(history.when(2, later)))
    assert.deepStrictEqual(shown(history), risk)
    assert.lengthOf(recorded(history), 1)
  })

  it("has no risk if nothing suggests one", () => {
    const history = begun()
    assert(isEvents(history.when(1, entry)))
    assert.isUndefined(shown(history))
    assert.isEmpty(recorded(history))
  })

  it("keeps its first risk if it is repeated", () => {
    const history = begun()
    history.when(1, { ...entry, risk })
    history.when(1, { ...entry, risk: { score: 1, reasons: ["FAST_CHALLENGE"] } })
    assert.deepStrictEqual(shown(history), risk)
  })

  it("has the same risk after a replay of the stored events", () => {
    const history = begun()
    history.when(1, { ...entry, risk })
    history.when(2, later)
    const { encode, decode } = make(decider.event)
    const replayed = decider.initial()
    for (const event of history.events) {
      const data = Result.getOrThrow(encode(event))
      const { _tag: type, at, consumerId = null } = event
      decider.evolve(replayed, Result.getOrThrow(decode({ type, at, consumerId, data })))
    }
    assert.deepStrictEqual(replayed, history.state)
  })
})

describe("A consumer that enters again", () => {
  it("has the risk of its last entry", () => {
    const queue = Queue.given()
    const enterWithRisk: Command = { _tag: "Enter", consumerId: "ada", isGuest: false, loyaltyScore: 0, risk }
    queue.when(1, enterWithRisk)
    queue.when(2, Queue.leave("ada"))
    queue.when(3, Queue.enter("ada"))
    assert.isUndefined(deciders.queue.place(queue.state, "ada")?.fields["risk"])
    queue.when(4, Queue.leave("ada"))
    queue.when(5, enterWithRisk)
    assert.deepStrictEqual(deciders.queue.place(queue.state, "ada")?.fields["risk"], risk)
  })
})
