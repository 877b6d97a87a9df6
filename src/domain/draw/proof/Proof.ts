/**
 * The proof of a draw, as JSON: everything needed to compute its winners again. It has about 55 bytes for each entry,
 * so it is written in pieces.
 */
import { Schema } from "effect"
import { ruleOf } from "../../risk/RiskWeight.ts"
import { toText } from "../../values/Time.ts"
import { algorithm, commitmentOf } from "./Algorithm.ts"
import { beaconNetwork, simulatedNetwork } from "./Beacon.ts"
import { notProven } from "./NotProven.ts"
import { workOnEntries } from "../Selection.ts"
import { entryIdOf, type State } from "../State.ts"

const hexadecimal = { 26: /^[0-9a-f]{26}$/, 64: /^[0-9a-f]{64}$/, 96: /^[0-9a-f]{96}$/ }
const Hex = (digits: keyof typeof hexadecimal) => Schema.String.check(Schema.isPattern(hexadecimal[digits]))

/** An entry's id. It names the entry in everything that is published. */
const EntryId = Hex(26)

/** One entry. With a rule about the risk, a weight of 1 is 100,000,000; else it is 1,000,000. */
const Entry = Schema.Struct({
  id: EntryId,
  weight: Schema.Int.check(Schema.isBetween({ minimum: 1_000_000, maximum: 1_001_000_000 }))
})

export const Proof = Schema.Struct({
  drawId: Schema.String,
  algorithm: Schema.Struct({ name: Schema.String, version: Schema.String }),
  drawAt: Schema.String,
  drawnAt: Schema.String,
  seed: Hex(64),
  seedCommitment: Hex(64),
  entriesDigest: Hex(64),
  /** The randomness of the beacon's round; empty if the draw names no beacon. */
  beacon: Schema.Union([Schema.Literal(""), Hex(64)]),
  /** `simulated` if a test clock made the round. */
  beaconNetwork: Schema.NullOr(Schema.String),
  beaconRound: Schema.NullOr(Schema.Int),
  beaconSignature: Schema.NullOr(Hex(96)),
  notProven: Schema.Array(Schema.String),
  /** The rule about the risk of entries, which the weights follow. Absent if the draw does not weigh it. */
  riskRule: Schema.optionalKey(Schema.String),
  winnerCount: Schema.Int.check(Schema.isGreaterThanOrEqualTo(1)),
  /** In the drawn order. */
  winners: Schema.Array(EntryId),
  /** Entries that left or were denied between the closing and the drawing. */
  withdrawn: Schema.Array(EntryId),
  /** Sorted by id. */
  entries: Schema.Array(Entry)
}).annotate({ identifier: "DrawProof" })
export type Proof = typeof Proof.Type

/** Decodes a proof from a JSON value, or returns what is wrong with its shape. */
export const decodeProof = Schema.decodeUnknownResult(Proof)

/** The proof's text in pieces, to be concatenated. Each piece takes about a millisecond, and may be empty. */
export type ProofText = Generator<string, void>

const entriesPerPiece = 1_000

/** Writes the proof of a draw that has been drawn. The proof never changes after the drawing. */
export function* proofText(state: State, drawId: string): ProofText {
  const { configuration, beacon, beaconRound, winners, withdrawn } = state
  const { riskWeight = 0 } = configuration
  const head: Omit<Proof, "winners" | "withdrawn" | "entries"> = {
    drawId,
    algorithm,
    drawAt: toText(configuration.drawAt),
    drawnAt: toText(state.drawnAt),
    seed: state.seed,
    seedCommitment: commitmentOf(state.seed),
    entriesDigest: state.entriesDigest!,
    beacon: beacon?.randomness ?? "",
    beaconNetwork: networkOf(state),
    beaconRound: beaconRound ?? null,
    beaconSignature: beacon?.signature ?? null,
    notProven: notProven(networkOf(state)),
    ...(riskWeight > 0 && { riskRule: ruleOf("draw", riskWeight) }),
    // From a stock, as many win as there are units.
    winnerCount: configuration.stockId === undefined ? configuration.winnerCount : Math.max(1, winners.length)
  }
  yield JSON.stringify(head).slice(0, -1)
  const idOf = (entry: number): string => `"${entryIdOf(state, entry)}"`
  yield* list("winners", winners.length, (index) => idOf(winners[index]!))
  yield* list("withdrawn", withdrawn.length, (index) => idOf(withdrawn[index]!))
  let entries = workOnEntries(state)
  for (; entries === undefined; entries = workOnEntries(state)) yield ""
  const { id, place } = entries
  yield* list("entries", entries.size, (index) => `{"id":"${id(index)}","weight":${place(index).weight}}`)
  yield "}"
}

const networkOf = ({ beacon }: State): string | null => {
  if (beacon === undefined) return null
  return beacon.isSimulated === true ? simulatedNetwork : beaconNetwork
}

function* list(name: string, size: number, item: (index: number) => string): ProofText {
  yield `,"${name}":[`
  for (let start = 0; start < size; start += entriesPerPiece) {
    let piece = ""
    const end = Math.min(start + entriesPerPiece, size)
    for (let index = start; index < end; index++) piece += index === 0 ? item(index) : `,${item(index)}`
    yield piece
  }
  yield "]"
}
