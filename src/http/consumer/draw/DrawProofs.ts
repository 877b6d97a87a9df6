/**
 * The proofs of draws as they are sent. The proof of a million entries has 53 MB. It is encoded once, in slices between
 * which other work runs, and kept while there is room.
 */
import { Effect, Semaphore, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { addressAdmission } from "../../limits/RateLimit.ts"

/** Bytes of all kept proofs. The oldest are dropped first; the newest is always kept. */
export const keptBytesMax = 268_435_456

/** Requests of one address for proofs in a minute, of all organizations. */
export const requestsMax = 60

/** Makes the admission of these requests. */
export const admission = addressAdmission({ name: "proofs", requestsMax, exemptsServers: true })

type Pieces = ReadonlyArray<Uint8Array>

/** The text of a proof, in pieces. */
type Text<E> = Stream.Stream<string, E>

/** Makes the function that sends proofs. It keeps at most `bytesMax` bytes. */
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

  const piecesOf = Effect.fnUntraced(function* <E>(drawId: string, text: Text<E>) {
    const known = kept.get(drawId)
    if (known !== undefined) return known.pieces
    const pieces: Array<Uint8Array> = []
    yield* Stream.runForEach(text, (piece) => Effect.sync(() => piece !== "" && pieces.push(Buffer.from(piece))))
    keep(drawId, pieces)
    return pieces
  })

  // One at a time, so that a proof that several callers want at once is encoded once.
  const oneAtATime = Semaphore.makeUnsafe(1)

  /** The response with the proof of a draw that has been drawn. */
  return <E>(drawId: string, text: Text<E>): Effect.Effect<HttpServerResponse.HttpServerResponse, E> =>
    Effect.map(Semaphore.withPermit(oneAtATime, piecesOf(drawId, text)), (pieces) =>
      HttpServerResponse.stream(Stream.fromIterable(pieces), {
        contentType: "application/json",
        contentLength: sizeOf(pieces)
      })
    )
}

const sizeOf = (pieces: Pieces): number => pieces.reduce((bytes, piece) => bytes + piece.length, 0)
