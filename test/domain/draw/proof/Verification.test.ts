import { assert, describe, it } from "@effect/vitest"
import { Option, Result } from "effect"
import { verifyBeacon } from "../../../../src/beacon/Quicknet.ts"
import { decider } from "../../../../src/domain/draw/Draw.ts"
import { commitmentOf, weightedScore } from "../../../../src/domain/draw/proof/Algorithm.ts"
import { decodeProof, type Proof } from "../../../../src/domain/draw/proof/Proof.ts"
import { drawnOrder, verify } from "../../../../src/domain/draw/proof/Verification.ts"
import { at, entered, given, leave } from "../history.ts"
import * as Naive from "./naive.ts"
import { scores, type Vector, vector, vectors } from "./vectors.ts"

/** Returns the same text with the digit at `index` changed. */
const changed = (hex: string, index: number): string =>
  hex.slice(0, index) + (hex[index] === "0" ? "1" : "0") + hex.slice(index + 1)

const put = <A>(items: ReadonlyArray<A>, index: number, item: A): ReadonlyArray<A> => items.with(index, item)

/** Returns the entries sorted by their ids. */
const sorted = (entries: Proof["entries"]): Proof["entries"] => entries.toSorted((a, b) => (a.id < b.id ? -1 : 1))

/**
 * True if the winners do not follow from the seed and the list. An altered proof with a matching digest or commitment
 * is the proof of another draw. In a small draw the same entries may win by chance; then there is nothing to detect.
 */
const isWrong = (proof: Proof): boolean =>
  Naive.order(proof, proof.entries)
    .filter((id) => !proof.withdrawn.includes(id))
    .slice(0, proof.winnerCount)
    .join() !== proof.winners.join()

/** Yields altered proofs. Each changes one fact, and everything else that makes the change hard to detect. */
function* altered({ proof, order }: Vector): Generator<readonly [what: string, Proof]> {
  const { entries, winners, withdrawn } = proof
  for (let digit = 0; digit < 64; digit++) {
    const seed = changed(proof.seed, digit)
    yield [`seed digit ${digit}`, { ...proof, seed }]
    const committed = { ...proof, seed, seedCommitment: commitmentOf(seed) }
    if (isWrong(committed)) yield [`seed digit ${digit}, with its commitment`, committed]
    yield [`commitment digit ${digit}`, { ...proof, seedCommitment: changed(proof.seedCommitment, digit) }]
    yield [`digest digit ${digit}`, { ...proof, entriesDigest: changed(proof.entriesDigest, digit) }]
  }
  for (const [index, entry] of entries.entries()) {
    const without = entries.toSpliced(index, 1)
    const heavier = put(entries, index, { ...entry, weight: entry.weight + 1 })
    const renamed = sorted(put(entries, index, { ...entry, id: changed(entry.id, 25) }))
    for (const [what, list] of [
      ["left out", without],
      ["heavier", heavier],
      ["renamed", renamed]
    ] as const) {
      yield [`entry ${index} ${what}`, { ...proof, entries: list }]
      const redigested = { ...proof, entries: list, entriesDigest: Naive.digest(list) }
      if (isWrong(redigested)) yield [`entry ${index} ${what}, with its digest`, redigested]
    }
    yield [`entry ${index} doubled`, { ...proof, entries: put(entries, index, entry).toSpliced(index, 0, entry) }]
    if (index > 0) {
      const swapped = put(put(entries, index, entries[index - 1]!), index - 1, entry)
      yield [`entry ${index} out of order`, { ...proof, entries: swapped }]
      yield [
        `entry ${index} out of order, with its digest`,
        { ...proof, entries: swapped, entriesDigest: Naive.digest(swapped) }
      ]
    }
    if (!winners.includes(entry.id)) {
      for (let rank = 0; rank < winners.length; rank++) {
        yield [`winner ${rank} replaced by entry ${index}`, { ...proof, winners: put(winners, rank, entry.id) }]
      }
      yield [`entry ${index} as one more winner`, { ...proof, winners: [...winners, entry.id] }]
      yield [
        `entry ${index} as one more winner of more`,
        {
          ...proof,
          winners: [...winners, entry.id],
          winnerCount: proof.winnerCount + (order[winners.length + withdrawn.length] === entry.id ? 2 : 1)
        }
      ]
    }
  }
  for (let rank = 0; rank < winners.length; rank++) {
    yield [`winner ${rank} left out`, { ...proof, winners: winners.toSpliced(rank, 1) }]
    yield [`winner ${rank} withdrawn`, { ...proof, withdrawn: [...withdrawn, winners[rank]!] }]
    if (rank > 0)
      yield [
        `winners ${rank} and before swapped`,
        {
          ...proof,
          winners: put(put(winners, rank, winners[rank - 1]!), rank - 1, winners[rank]!)
        }
      ]
  }
  for (const id of withdrawn) {
    const unnamed = { ...proof, withdrawn: withdrawn.filter((other) => other !== id) }
    if (isWrong(unnamed)) yield ["one who withdrew not named", unnamed]
    yield ["one who withdrew named twice", { ...proof, withdrawn: [...withdrawn, id] }]
  }
  yield ["a stranger who withdrew", { ...proof, withdrawn: [...withdrawn, "0".repeat(26)] }]
  if (winners.length > 1) yield ["fewer winners", { ...proof, winnerCount: winners.length - 1 }]
  yield ["another algorithm", { ...proof, algorithm: { ...proof.algorithm, name: "dice" } }]
  yield ["another version", { ...proof, algorithm: { ...proof.algorithm, version: "2" } }]
}

describe("the test vectors", () => {
  for (const { name, order, proof } of vectors) {
    it(`${name} holds, and gives its order`, () => {
      const report = verify(proof, Option.some(verifyBeacon))
      assert.deepStrictEqual(
        report.checks.filter(({ holds }) => !holds),
        []
      )
      assert.isTrue(report.isValid)
      assert.deepStrictEqual(report.order, order)
      assert.deepStrictEqual(drawnOrder(proof), Naive.order(proof, proof.entries))
    })
  }

  it("have the scores that another program computed", () => {
    for (const [u, weight, score] of scores) assert.strictEqual(weightedScore(u, weight), score)
  })
})

describe("a proof that was altered", () => {
  for (const { name, proof, order } of vectors) {
    it(`is refused, whatever was altered: ${name}`, () => {
      const accepted: Array<string> = []
      let tried = 0
      for (const [what, lie] of altered({ name, proof, order })) {
        tried++
        if (verify(lie).isValid) accepted.push(what)
      }
      assert.deepStrictEqual(accepted, [])
      assert.isAbove(tried, 190)
    })
  }

  it("is refused if its beacon was altered", () => {
    const { proof } = vector("beacon")
    const { beacon, beaconSignature } = proof
    const lies: ReadonlyArray<Partial<Proof>> = [
      { beacon: changed(beacon, 63) },
      { beacon: "" },
      { beaconSignature: changed(beaconSignature!, 95) },
      { beaconSignature: null },
      { beaconRound: 1_001 },
      { beaconRound: null },
      { beaconNetwork: "fastnet" },
      { drawAt: "2023-08-23T15:59:20.000Z" },
      { beacon: "", beaconSignature: null, beaconRound: null, beaconNetwork: null }
    ]
    for (const lie of lies) assert.isFalse(verify({ ...proof, ...lie }).isValid, JSON.stringify(lie))
    const named = { ...vector("equal").proof, beaconRound: 1_000 }
    assert.isFalse(verify(named).isValid)
  })

  it("is refused for a signature that the network did not make, if signatures are checked", () => {
    const { proof } = vector("beacon")
    assert.isFalse(
      verify(
        proof,
        Option.some(() => false)
      ).isValid
    )
    assert.isTrue(verify(proof).isValid)
    assert.match(verify(proof).notProven[0]!, /beaconSignature/)
    assert.notMatch(verify(proof, Option.some(verifyBeacon)).notProven.join(), /beaconSignature/)
  })
})

describe("the list of facts that a proof cannot show", () => {
  it("is in every report, and is longer without a beacon", () => {
    const silent = { ...vector("equal").proof, notProven: [] }
    assert.match(verify(silent).notProven[0]!, /public randomness beacon/)
    assert.notMatch(verify(vector("beacon").proof, Option.some(verifyBeacon)).notProven.join(), /randomness beacon/)
  })
})

describe("a value that is not a proof", () => {
  it("is refused because of its shape", () => {
    const { proof } = vector("equal")
    const malformed: ReadonlyArray<unknown> = [
      null,
      [],
      {},
      { ...proof, seed: "00" },
      { ...proof, seed: proof.seed.toUpperCase().replace("0", "A") },
      { ...proof, beacon: "00" },
      { ...proof, winnerCount: 0 },
      { ...proof, entries: [{ id: "0".repeat(26), weight: 999_999 }] },
      { ...proof, entries: [{ id: "0".repeat(26), weight: 1_001_000_001 }] },
      { ...proof, entries: [{ id: "0".repeat(26), weight: 1_000_000.5 }] },
      { ...proof, entries: [{ id: "0".repeat(25), weight: 1_000_000 }] }
    ]
    for (const value of malformed) assert.isTrue(Result.isFailure(decodeProof(value)), JSON.stringify(value))
  })
})

describe("the proof of a draw", () => {
  const proofOf = (draw: ReturnType<typeof given>): Proof => {
    const text = [...decider.facts!(draw.state, at(10_000)).proof!("the draw")].join("")
    return Result.getOrThrow(decodeProof(JSON.parse(text)))
  }

  it("is valid, and contains the draw's events", () => {
    const draw = given({ winnerCount: 2, loyaltyBiasEnabled: true }, [
      entered(1, "ada"),
      entered(2, "bob", 0.5),
      entered(3, "eve", 1),
      entered(4, "joe")
    ])
    draw.when(150, leave("eve"))
    draw.until(200)
    const proof = proofOf(draw)
    assert.isTrue(verify(proof).isValid)
    assert.deepInclude(proof, {
      drawId: "the draw",
      drawAt: "2026-11-21T18:03:20.000Z",
      drawnAt: "2026-11-21T18:03:20.000Z",
      beacon: "",
      winnerCount: 2,
      winners: draw.winners.map((winner) => draw.entryId(winner)),
      withdrawn: [draw.entryId("eve")]
    })
    assert.deepStrictEqual(
      proof.entries.find(({ id }) => id === draw.entryId("bob")),
      { id: draw.entryId("bob"), weight: 1_500_000 }
    )
  })

  it("stays the same, whatever happens to the wins", () => {
    const settings = { winnerCount: 2, continueSelectingUntilCompleted: true, admissionExpirationSeconds: 10 }
    const draw = given(
      settings,
      ["ada", "bob", "eve", "joe", "kim"].map((name) => entered(1, name))
    )
    draw.until(200)
    const proof = proofOf(draw)
    draw.until(1_000)
    assert.lengthOf(draw.winners, 5)
    assert.deepStrictEqual(proofOf(draw), proof)
    assert.lengthOf(proof.winners, 2)
    assert.isTrue(verify(proof).isValid)
  })

  it("is the same after a replay of the events", () => {
    const draw = given(
      { winnerCount: 2 },
      ["ada", "bob", "eve"].map((name) => entered(1, name))
    )
    draw.when(120, leave("bob"))
    draw.until(300)
    const state = decider.initial()
    for (const event of draw.events) decider.evolve(state, event)
    assert.strictEqual(
      [...decider.facts!(state, 0).proof!("d")].join(""),
      [...decider.facts!(draw.state, 0).proof!("d")].join("")
    )
  })

  it("contains the beacon's round and its signature", () => {
    const { proof } = vector("beacon")
    const drawAt = Date.parse(proof.drawAt)
    const seconds = (drawAt - at(0)) / 1000
    const draw = given({ closeAt: drawAt - 1_000, drawAt, beacon: "drand" }, [], seconds - 100)
    draw.enter(seconds - 50, "ada", "bob")
    draw.when(seconds + 2, {
      _tag: "ProvideBeacon",
      round: 1_000,
      randomness: proof.beacon,
      signature: proof.beaconSignature!
    })
    draw.until(seconds + 3)
    const made = proofOf(draw)
    assert.deepInclude(made, {
      beacon: proof.beacon,
      beaconNetwork: "quicknet",
      beaconRound: 1_000,
      beaconSignature: proof.beaconSignature
    })
    assert.isTrue(verify(made, Option.some(verifyBeacon)).isValid)
  })
})
