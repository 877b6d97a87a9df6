import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import { awaitsBeacon, type Command, decider } from "../../../src/domain/draw/Draw.ts"
import { roundAfter, timeOfRound } from "../../../src/domain/draw/proof/Beacon.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  at,
  closed,
  complete,
  completed,
  denied,
  deny,
  drawn,
  end,
  entered,
  expired,
  given,
  type History,
  leave,
  left,
  salt,
  seed,
  tornDown,
  withoutFixing,
  won
} from "./history.ts"

const names = ["ada", "bob", "eve", "joe", "kim"]

/** Five entries in a draw with the settings of the test. */
const five = (settings: Parameters<typeof given>[0] = {}): History =>
  given(
    settings,
    names.map((name, index) => entered(index, name))
  )

/** Returns the drawn order of the five entries. */
const order = (settings: Parameters<typeof given>[0] = {}): ReadonlyArray<string> => {
  const draw = five({ ...settings, winnerCount: 5 })
  draw.until(200)
  return draw.winners
}

describe("the seed", () => {
  it("is drawn with the first settings, committed to from then on, and never shown before the drawing", () => {
    const draw = given()
    assert.deepStrictEqual(draw.events[1], { _tag: "SeedDrawn", at: at(0), seed, salt })
    const seedCommitment = createHash("sha256").update(Buffer.from(seed, "hex")).digest("hex")
    assert.deepStrictEqual(decider.publishedFacts!(draw.state), { seedCommitment })
    assert.deepStrictEqual(decider.facts!(draw.state, at(0)), { published: { seedCommitment } })
  })
})

describe("the closing", () => {
  it("fixes the list of entries, and publishes its digest", () => {
    const draw = five()
    assert.strictEqual(decider.wakeAt(draw.state), at(100))
    const brought = draw.until(100)
    const ids = names.map((name) => draw.entryId(name)).toSorted()
    const list = ids.map((id) => `${id},1000000\n`).join("")
    const entriesDigest = createHash("sha256").update(list).digest("hex")
    assert.deepStrictEqual(brought, [closed(100), { _tag: "EntriesFixed", at: at(100), entriesDigest }])
    assert.deepInclude(decider.publishedFacts!(draw.state), { entriesDigest })
    assert.strictEqual(decider.wakeAt(draw.state), at(200))
    assert.strictEqual(draw.status(150, "ada"), "ENTERED")
  })

  it("lists the entries that are valid then, without those that left or were denied before", () => {
    const digest = (draw: History) => {
      draw.until(100)
      return draw.state.entriesDigest
    }
    const draw = five()
    draw.when(50, leave("bob"))
    draw.when(51, deny("eve"))
    const without = given({}, [entered(0, "ada"), left(0, "x"), left(0, "y"), entered(3, "joe"), entered(4, "kim")])
    assert.strictEqual(digest(draw), digest(without))
    assert.notStrictEqual(digest(draw), digest(five()))
  })

  it("lists consumers that leave while the list is computed", () => {
    const draw = five()
    const untouched = five()
    untouched.until(100)
    draw.apply(closed(100))
    draw.apply(left(100, "bob"))
    draw.until(100)
    assert.strictEqual(draw.state.entriesDigest, untouched.state.entriesDigest)
  })
})

describe("the drawing", () => {
  it("happens at its time without a caller: the winners first, then the end of the drawing", () => {
    const draw = five({ winnerCount: 2, admissionExpirationSeconds: 600 })
    draw.until(199.999)
    assert.isEmpty(draw.winners)
    const brought = draw.until(200)
    const [first, second] = draw.winners as [string, string]
    const rest = names.filter((name) => !draw.winners.includes(name))
    assert.deepStrictEqual(brought, [
      won(200, first),
      won(200, second),
      drawn(200),
      ...rest.map((name) => denied(200, name, "NOT_SELECTED"))
    ])
    assert.deepStrictEqual(draw.view(200, first), {
      status: "WON",
      enteredAt: at(names.indexOf(first)),
      entryId: draw.entryId(first),
      wonAt: at(200),
      expiresAt: at(800),
      grantSequence: draw.events.indexOf(brought[0]!) + 1,
      drawnAt: at(200)
    })
    assert.deepInclude(decider.publishedFacts!(draw.state), { drawnAt: "2026-11-21T18:03:20.000Z" })
  })

  it("draws the entries in the order of their scores", () => {
    const all = order()
    assert.sameMembers([...all], names)
    for (const winnerCount of [1, 2, 3, 4]) {
      const draw = five({ winnerCount })
      draw.until(200)
      assert.deepStrictEqual(draw.winners, all.slice(0, winnerCount))
    }
  })

  it("happens once, and dates the wins when they are made if the process was down at its time", () => {
    const draw = five({ winnerCount: 1, admissionExpirationSeconds: 60 })
    const brought = withoutFixing(draw.noticed(5_000))
    const [winner] = draw.winners as [string]
    assert.deepStrictEqual(brought.slice(0, 3), [closed(100), won(5_000, winner), drawn(5_000)])
    assert.deepInclude(draw.view(5_000, winner), { status: "WON", expiresAt: at(5_060) })
    assert.isEmpty(draw.noticed(5_001))
  })

  it("lets all entries win if there are no more than winners", () => {
    const draw = five({ winnerCount: 7 })
    assert.deepStrictEqual(draw.until(200).at(-1), drawn(200))
    assert.sameMembers([...draw.winners], names)
  })

  it("ends at its time without entries, and the draw is over", () => {
    const draw = given()
    assert.deepStrictEqual(withoutFixing(draw.until(200)), [closed(100), drawn(200), tornDown(200)])
    assert.isUndefined(decider.wakeAt(draw.state))
  })

  it("shows a consumer that is not drawn as denied at once, before the denial is recorded", () => {
    const draw = five()
    draw.until(199)
    const all = order()
    draw.apply(won(200, all[0]!))
    assert.strictEqual(draw.status(200, all[1]!), "ENTERED")
    draw.apply(drawn(200))
    const shown = {
      status: "DENIED",
      enteredAt: at(names.indexOf(all[1]!)),
      entryId: draw.entryId(all[1]!),
      reason: "NOT_SELECTED",
      deniedAt: at(200),
      drawnAt: at(200)
    } as const
    assert.deepStrictEqual(draw.view(200, all[1]!), shown)
    assertRefused(draw.unnoticed(200, leave(all[1]!)), "WrongStatus", { status: "DENIED" })
    assert.deepStrictEqual(draw.unnoticed(200, deny(all[1]!)), [])
    draw.apply(completed(230, all[0]!))
    draw.until(250)
    assert.deepStrictEqual(draw.view(250, all[1]!), shown)
    assert.strictEqual(decider.place(draw.state, all[1]!)!.updatedAt, at(200))
  })

  it("skips consumers that left or were denied after the closing", () => {
    const all = order()
    const draw = five({ winnerCount: 2 })
    draw.until(150)
    draw.when(150, leave(all[0]!))
    draw.when(150, deny(all[2]!))
    draw.until(200)
    assert.deepStrictEqual(draw.winners, [all[1]!, all[3]!])
  })

  it("happens at drawAt even if that is closeAt", () => {
    const draw = five({ closeAt: at(100), drawAt: at(100) })
    draw.until(100)
    assert.lengthOf(draw.winners, 1)
  })
})

describe("a win", () => {
  it("expires, and no other consumer wins in its place", () => {
    const draw = five({ admissionExpirationSeconds: 60 })
    draw.until(200)
    const [winner] = draw.winners as [string]
    assert.deepInclude(draw.view(260, winner), { status: "DENIED", reason: "ADMISSION_EXPIRED", deniedAt: at(260) })
    assertRefused(draw.unnoticed(260, complete(winner)), "WrongStatus", { status: "DENIED" })
    assert.deepStrictEqual(draw.until(260), [expired(260, winner), tornDown(260)])
    assert.deepInclude(draw.view(261, winner), { status: "DENIED", reason: "ADMISSION_EXPIRED", deniedAt: at(260) })
  })

  it("is completed once, and then never expires", () => {
    const draw = five({ admissionExpirationSeconds: 60 })
    draw.until(200)
    const [winner] = draw.winners as [string]
    assert.deepStrictEqual(draw.when(210, complete(winner)), [completed(210, winner)])
    const completedGrant = draw.events.findIndex((event) => event._tag === "Won" && event.consumerId === winner) + 1
    assertRefused(draw.when(211, complete(winner)), "AlreadyCompleted", { grantSequence: completedGrant })
    assertRefused(draw.when(211, deny(winner)), "WrongStatus", { status: "COMPLETED" })
    assert.deepStrictEqual(draw.view(300, winner), {
      status: "COMPLETED",
      enteredAt: at(names.indexOf(winner)),
      entryId: draw.entryId(winner),
      completedAt: at(210),
      completedGrant,
      drawnAt: at(200)
    })
  })

  it("can be denied", () => {
    const draw = five()
    draw.until(200)
    const [winner] = draw.winners as [string]
    assert.deepStrictEqual(draw.when(210, deny(winner)), [denied(210, winner)])
    assert.deepStrictEqual(draw.until(211), [tornDown(210)])
  })

  it("stays valid until it is used if wins do not expire", () => {
    const draw = five()
    draw.until(100_000)
    const [winner] = draw.winners as [string]
    assert.notProperty(draw.view(100_000, winner), "expiresAt")
    assert.strictEqual(decider.lifecycle(draw.state, at(100_000)), "settling")
    draw.when(100_001, complete(winner))
    assert.deepStrictEqual(draw.until(100_001), [tornDown(100_001)])
    assert.strictEqual(decider.lifecycle(draw.state, at(100_001)), "closed")
  })
})

describe("continued selection", () => {
  const settings = { winnerCount: 2, continueSelectingUntilCompleted: true, admissionExpirationSeconds: 60 }

  it("keeps the others in the draw, and gives an expired or denied win to the next consumer", () => {
    const all = order()
    const draw = five(settings)
    draw.until(200)
    assert.deepStrictEqual(draw.winners, all.slice(0, 2))
    assert.strictEqual(draw.status(201, all[2]!), "ENTERED")
    draw.when(210, deny(all[0]!))
    assert.deepStrictEqual(draw.until(210), [won(210, all[2]!)])
    assert.deepStrictEqual(draw.until(260), [expired(260, all[1]!), won(260, all[3]!)])
    assert.deepInclude(draw.view(260, all[3]!), { status: "WON", wonAt: at(260), expiresAt: at(320) })
  })

  it("ends when as many consumers have completed as were to win", () => {
    const all = order()
    const draw = five(settings)
    draw.until(200)
    draw.when(210, complete(all[0]!))
    assert.strictEqual(draw.status(210, all[4]!), "ENTERED")
    draw.when(220, complete(all[1]!))
    assert.deepInclude(draw.view(220, all[4]!), { status: "DENIED", reason: "NOT_SELECTED", deniedAt: at(220) })
    const rest = names.filter((name) => !all.slice(0, 2).includes(name))
    assert.deepStrictEqual(draw.until(220), [...rest.map((name) => denied(220, name, "NOT_SELECTED")), tornDown(220)])
  })

  it("ends when no consumer is left", () => {
    const draw = five(settings)
    draw.until(1_000)
    assert.lengthOf(draw.winners, 5)
    assert.deepStrictEqual(draw.events.at(-1), tornDown(380))
    assert.isUndefined(decider.wakeAt(draw.state))
  })

  it("continues after a restart in the same order", () => {
    const all = order()
    const draw = five(settings)
    draw.until(200)
    const restarted = given()
    const state = decider.initial()
    for (const event of draw.events) decider.evolve(state, event)
    Object.assign(restarted.state, state)
    restarted.until(260)
    assert.deepStrictEqual(
      restarted.events.flatMap((event) => (event._tag === "Won" ? [event.consumerId] : [])),
      all.slice(2, 4)
    )
  })

  it("does not count the time in which the process was down against a win", () => {
    const draw = five(settings)
    draw.until(200)
    const brought = draw.noticed(10_000)
    assert.deepStrictEqual(
      brought.map(({ _tag, at: when }) => [_tag, when]),
      [
        ["Expired", at(260)],
        ["Expired", at(260)],
        ["Won", at(10_000)],
        ["Won", at(10_000)]
      ]
    )
  })

  it("stops when an admin ends the draw: the wins stay, and no consumer follows", () => {
    const draw = five(settings)
    draw.until(200)
    const [first, second] = draw.winners as [string, string]
    draw.when(210, end)
    const rest = names.filter((name) => !draw.winners.includes(name))
    for (const name of rest) assert.deepInclude(draw.view(210, name), { reason: "NOT_SELECTED", deniedAt: at(210) })
    assert.deepStrictEqual(
      draw.until(210),
      rest.map((name) => denied(210, name, "NOT_SELECTED"))
    )
    assert.sameDeepMembers([...draw.until(300)], [expired(260, first), expired(260, second), tornDown(260)])
  })

  it("counts consumers that complete while the first wins are still being recorded", () => {
    const all = order()
    const draw = five({ ...settings, winnerCount: 1 })
    draw.until(199)
    draw.apply(won(200, all[0]!))
    draw.apply(completed(200, all[0]!))
    assert.strictEqual(draw.status(200, all[1]!), "ENTERED")
    draw.until(200)
    assert.lengthOf(draw.winners, 1)
    assert.deepStrictEqual(draw.events.at(-1), tornDown(200))
  })
})

describe("a draw with a beacon", () => {
  const signature = "ab".repeat(48)
  const randomness = createHash("sha256").update(Buffer.from(signature, "hex")).digest("hex")
  const round = roundAfter(at(200))
  const provide: Command = { _tag: "ProvideBeacon", round, randomness, signature }
  const provided = (seconds: number) => ({ _tag: "BeaconProvided", at: at(seconds), round, randomness, signature })

  it("publishes its round when entry closes, and waits for it without wake-ups", () => {
    const draw = five({ beacon: "drand" })
    assert.isUndefined(awaitsBeacon(draw.state))
    assert.deepInclude(draw.until(100).at(-1), { _tag: "EntriesFixed", beaconRound: round })
    assert.strictEqual(awaitsBeacon(draw.state), round)
    assert.deepInclude(decider.publishedFacts!(draw.state), { beaconRound: round })
    assert.isUndefined(decider.wakeAt(draw.state))
    assert.deepStrictEqual(draw.noticed(100_000), [])
  })

  it("is drawn when it has the round, with its randomness", () => {
    const draw = five({ beacon: "drand", winnerCount: 5, admissionExpirationSeconds: 60 })
    draw.until(300)
    assert.deepStrictEqual<unknown>(draw.when(300, provide), [provided(300)])
    assert.isUndefined(awaitsBeacon(draw.state))
    draw.until(300)
    assert.lengthOf(draw.winners, 5)
    assert.notDeepEqual(draw.winners, order())
    assert.deepInclude(draw.view(300, "ada"), { status: "WON", expiresAt: at(360) })
    assert.deepStrictEqual(draw.when(301, provide), [])
  })

  it("is not drawn before its time, even if it has the round", () => {
    const draw = five({ beacon: "drand" })
    draw.until(150)
    draw.when(150, provide)
    assert.deepStrictEqual(draw.until(199), [])
    draw.until(200)
    assert.lengthOf(draw.winners, 1)
  })

  it("ignores a round that it does not wait for, and an invalid one", () => {
    const draw = five({ beacon: "drand" })
    assert.deepStrictEqual(draw.when(50, provide), [])
    draw.until(150)
    assert.deepStrictEqual(draw.when(200, { ...provide, round: round + 1 }), [])
    assert.deepStrictEqual(draw.when(200, { ...provide, randomness: "00".repeat(32) }), [])
    assert.deepStrictEqual(five().when(150, provide), [])
    assert.strictEqual(awaitsBeacon(draw.state), round)
  })

  it("stops waiting when it is ended", () => {
    const draw = five({ beacon: "drand" })
    draw.when(300, end)
    assert.isUndefined(awaitsBeacon(draw.state))
    assert.deepStrictEqual(draw.when(301, provide), [])
    assert.strictEqual(draw.status(301, "ada"), "DENIED")
  })

  it("waits for the first round that is published after its time", () => {
    const genesis = timeOfRound(1)
    assert.strictEqual(genesis, 1_692_803_367_000)
    assert.deepStrictEqual(
      [-1, 0, 1, 2_999, 3_000, 3_001].map((after) => roundAfter(genesis + after)),
      [1, 2, 2, 2, 3, 3]
    )
    assert.isAbove(timeOfRound(round), at(200))
    assert.isAtMost(timeOfRound(round - 1), at(200))
  })
})
