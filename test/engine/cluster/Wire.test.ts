import { assert, describe, it } from "@effect/vitest"
import { Equal, Result } from "effect"
import { decider as appointments, offeredSlots } from "../../../src/domain/appointment/Appointment.ts"
import { decider as auctions } from "../../../src/domain/auction/Auction.ts"
import { decider as draws } from "../../../src/domain/draw/Draw.ts"
import type { Kind } from "../../../src/domain/mechanism/Mechanism.ts"
import { decider as queues } from "../../../src/domain/queue/Queue.ts"
import * as Refusals from "../../../src/domain/mechanism/Refusals.ts"
import { Overloaded } from "../../../src/engine/actor/Actor.ts"
import {
  type Answer,
  answerFromWire,
  answerToWire,
  decode,
  encode,
  type Question,
  type WireAnswer
} from "../../../src/engine/cluster/Wire.ts"
import { MechanismNotFound } from "../../../src/engine/Engine.ts"
import { Parked } from "../../../src/engine/registry/Registry.ts"
import { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import * as Appointment from "../../domain/appointment/history.ts"
import * as Auction from "../../domain/auction/history.ts"
import * as Draw from "../../domain/draw/history.ts"
import * as Queue from "../../domain/queue/history.ts"
import { enter, queue } from "../engineFixture.ts"

/** The answer as the other node decodes it. */
const transferred = (question: Question, answer: Answer): Answer =>
  answerFromWire(question, decode<WireAnswer>(encode(answerToWire(question, answer))))

const roundTrip = <A>(value: A): A => decode<A>(encode(value))

const factsOf = (kind: Kind): Question => ({ method: "facts", mechanism: { ...queue(), kind } })

/** The facts as the other node decodes them. */
const arrived = <A>(kind: Kind, facts: A): A =>
  Result.getOrThrow(transferred(factsOf(kind), Result.succeed(facts))) as A

describe("a refusal that another node gives", () => {
  const send: Question = { method: "send", mechanism: queue(), command: enter(1) }
  const fields: { readonly [tag: string]: object } = {
    NotOpen: { opensAt: 1_795_294_020_123 },
    Full: { retryAfterSeconds: 7 },
    SoldOut: { retryAfterSeconds: 3 },
    WrongStatus: { status: "GRANTED" },
    ConfigurationFixed: { setting: "admitRate" },
    BidTooLow: { minimumBid: "10.00000001" },
    BidTooHigh: { maximumBid: "99.99" },
    BidUnlikely: { maximumBid: "1000" },
    AmountNotWhole: { amount: "1.001", fractionDigits: 2 },
    AlreadyCompleted: { grantSequence: 3 },
    AlreadyRedeemed: { grantSequence: 3 },
    MechanismNotFound: { kind: "draw" },
    Parked: { mechanismId: queue().id, restarts: 4 }
  }
  const classes = Object.entries({ ...Refusals, MechanismNotFound, Overloaded, Parked })

  for (const [name, Refusal] of classes) {
    it(`arrives unchanged: ${name}`, () => {
      const given = new Refusal((fields[name] ?? {}) as never)
      const answer = transferred(send, Result.fail(given))
      assert(Result.isFailure(answer))
      assert.strictEqual(answer.failure.constructor, Refusal)
      assert.deepStrictEqual({ ...answer.failure }, { ...given })
    })
  }

  it("arrives without fields that it does not have", () => {
    const answer = transferred(send, Result.fail(new Refusals.SoldOut({})))
    assert(Result.isFailure(answer))
    assert.deepStrictEqual({ ...answer.failure }, { ...new Refusals.SoldOut({}) })
  })

  it("arrives as Unavailable with any cause as text", () => {
    for (const [cause, text] of [
      ["the mechanism's actor has stopped", "the mechanism's actor has stopped"],
      [new Error("the database is away"), "Error: the database is away"]
    ]) {
      const answer = transferred(send, Result.fail(new Unavailable({ cause })))
      assert(Result.isFailure(answer) && answer.failure instanceof Unavailable)
      assert.strictEqual(answer.failure.cause, text)
    }
  })

  it("that this node does not know arrives as Unavailable", () => {
    const answer = transferred(send, Result.fail({ _tag: "Unheard" }))
    assert(Result.isFailure(answer))
    assert.instanceOf(answer.failure, Unavailable)
  })
})

describe("the facts that another node returns", () => {
  it("of an appointment are those of its owner: the slots and their bookings", () => {
    const fitting = Appointment.given({ maxCapacityPerSlot: 3 })
    for (const [consumerId, slot] of [
      ["ada", 0],
      ["bob", 0],
      ["eve", 5]
    ] as const) {
      fitting.when(1, Appointment.book(consumerId, slot))
    }
    const facts = appointments.facts!(fitting.state, Appointment.at(2))
    const received = arrived("appointment", facts)
    assert(Equal.equals(received.taken, facts.taken))
    const span = { from: Appointment.start, to: Appointment.at(2 * 1_440) }
    assert.deepStrictEqual([...offeredSlots(received, span)], [...offeredSlots(facts, span)])
    assert.isNotEmpty([...offeredSlots(received, span)])
  })

  it("of an auction have amounts exact to the last decimal", () => {
    const lot = Auction.given()
    lot.when(1, Auction.confirmedBid("ada", "900719925474.09"))
    const facts = auctions.facts!(lot.state, Auction.at(2))
    assert.deepStrictEqual(arrived("auction", facts), facts)
    assert.strictEqual(arrived("auction", facts).latestBids[0]!.amount, "900719925474.09")
  })

  it("of a draw are the published ones, without its proof", () => {
    const raffle = Draw.given()
    raffle.enter(1, "ada", "bob")
    const before = draws.facts!(raffle.state, Draw.at(2))
    assert.deepStrictEqual(arrived("draw", before), before)
    raffle.until(200)
    const { proof, ...known } = draws.facts!(raffle.state, Draw.at(201))
    assert.isDefined(proof)
    assert.deepStrictEqual(arrived("draw", { proof, ...known }), known)
  })

  it("of a queue and a timed release tell an endless supply from a number", () => {
    const line = Queue.given()
    line.when(1, { _tag: "Pause", by: "admin", reason: "OTHER" })
    const facts = queues.facts!(line.state, Queue.at(2))
    assert.deepStrictEqual(arrived("queue", facts), facts)
    assert.deepInclude(facts, {
      pause: { since: Queue.at(1), by: "admin", reason: "OTHER" },
      admissionsLeft: Infinity
    })
    assert.deepStrictEqual(arrived("timed_release", { unitsLeft: Infinity }), { unitsLeft: Infinity })
  })

  it("of a mechanism that has none are none", () => {
    assert.isUndefined(arrived("waitlist", undefined))
  })
})

describe("a command to another node", () => {
  it("arrives as it was sent, amounts included", () => {
    const command = { _tag: "Bid", consumerId: "ada", amount: "90071992.54740993" } as const
    const question: Question = { method: "send", mechanism: { ...queue(), kind: "auction" }, command }
    assert.deepStrictEqual(roundTrip(question), question)
  })
})
