/** Streams the proof of a draw, which may be too large for one reply. */
import { Effect, Stream } from "effect"
import type { FactsOf, MechanismRef } from "../../domain/mechanism/Mechanism.ts"

/** Returns the proof that a draw's facts hold, in pieces; undefined before the drawing. */
export const proofOf = (draw: MechanismRef<"draw">, { proof }: FactsOf<"draw">): Stream.Stream<string> | undefined =>
  proof === undefined ? undefined : inSlices(() => proof(draw.id))

/** Emits the pieces one by one, and yields to other fibers after each. */
export const inSlices = (pieces: () => Iterable<string>): Stream.Stream<string> =>
  Stream.suspend(() => Stream.fromIterable(pieces(), { chunkSize: 1 })).pipe(Stream.tap(() => Effect.yieldNow))
