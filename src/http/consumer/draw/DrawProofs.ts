/**
 * The proofs of draws as they are sent. The proof of a million entries has 53 MB: it is put together once, in slices
 * between which others have their turn, and kept while there is room.
 */
import { Effect, Semaphore, Stream } from "effect"
import { HttpServerResponse } from "effect/http"

/** Bytes of all proofs that are kept; the oldest go first, the newest stays whatever its size. */
export const keptBytesMax = 268_435_456

type Pieces = ReadonlyArray<Uint8Array>

/** A proof's text, piece by piece. */
type Text<E> = Stream.Stream<string, E>

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

  const piecesOf = Effect.fnUntraced(function* <E>(drawId: string, text: Text<E>) {
    const known = kept.get(drawId)
    if (known !== undefined) return known.pieces
    const pieces: Array<Uint8Array> = []
    yield* Stream.runForEach(text, (piece) => Effect.sync(() => piece !== "" && pieces.push(Buffer.from(piece))))
    keep(drawId, pieces)
    return pieces
  })

  // One at a time: of those who ask for the same proof at once only the first puts it together.
  const oneAtATime = Semaphore.makeUnsafe(1)

  /** The proof of a draw, which has been drawn. */
  return <E>(drawId: string, text: Text<E>): Effect.Effect<HttpServerResponse.HttpServerResponse, E> =>
    Effect.map(Semaphore.withPermit(oneAtATime, piecesOf(drawId, text)), (pieces) =>
      HttpServerResponse.stream(Stream.fromIterable(pieces), {
        contentType: "application/json",
        contentLength: sizeOf(pieces)
      })
    )
}

const sizeOf = (pieces: Pieces): number => pieces.reduce((bytes, piece) => bytes + piece.length, 0)
