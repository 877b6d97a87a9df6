/**
 * The proofs of draws as they are sent. The proof of a million entries has 53 MB: it is put together once, in slices
 * between which others have their turn, and kept while there is room.
 */
import { Effect, Semaphore, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import type { Facts } from "../../domain/Draw.ts"

/** Bytes of all proofs that are kept; the oldest go first, the newest stays whatever its size. */
export const keptBytesMax = 268_435_456

type Pieces = ReadonlyArray<Uint8Array>
type MakeProof = NonNullable<Facts["proof"]>

/** The proofs of one process; `bytesMax` bounds what is kept. */
export const make = (bytesMax: number = keptBytesMax) => {
  /** By draw, the oldest first. */
  const kept = new Map<string, { readonly pieces: Pieces; readonly bytes: number }>()
  let keptBytes = 0

  const keep = (drawId: string, pieces: Pieces): void => {
    const bytes = sizeOf(pieces)
    kept.set(drawId, { pieces, bytes })
    keptBytes += bytes
    for (const [oldest, { bytes: freed }] of kept) {
      if (keptBytes <= bytesMax || oldest === drawId) return
      kept.delete(oldest)
      keptBytes -= freed
    }
  }

  const piecesOf = Effect.fnUntraced(function* (drawId: string, proof: MakeProof) {
    const known = kept.get(drawId)
    if (known !== undefined) return known.pieces
    const pieces: Array<Uint8Array> = []
    for (const piece of proof(drawId)) {
      if (piece !== "") pieces.push(Buffer.from(piece))
      yield* Effect.yieldNow
    }
    keep(drawId, pieces)
    return pieces
  })

  // One at a time: of those who ask for the same proof at once only the first puts it together.
  const oneAtATime = Semaphore.makeUnsafe(1)

  /** The proof of a draw, which has been drawn. */
  return (drawId: string, proof: MakeProof): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.map(Semaphore.withPermit(oneAtATime, piecesOf(drawId, proof)), (pieces) =>
      HttpServerResponse.stream(Stream.fromIterable(pieces), {
        contentType: "application/json",
        contentLength: sizeOf(pieces)
      })
    )
}

const sizeOf = (pieces: Pieces): number => pieces.reduce((bytes, piece) => bytes + piece.length, 0)
