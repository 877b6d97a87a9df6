/**
 * Draws on the Consumer API, with their proofs. The proof of a million entries has 53 MB. It is encoded once, in slices
 * between which other work runs, and kept while there is room.
 */
import { Effect, Semaphore, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { HttpServerResponse } from "effect/http"
import { Receipts } from "../../../auth/tokens/Receipts.ts"
import type { View } from "../../../domain/draw/Draw.ts"
import type { MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { CurrentConsumer, CurrentTenant } from "../../../api/Credentials.ts"
import { Conflict } from "../../../api/Errors.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { makeGrantHandlers } from "../mechanism/GrantHandlers.ts"
import { publicView } from "../mechanism/PublicMechanism.ts"
import { location, DrawState, PublicDraw, type Withdrawn } from "../../../api/consumer/DrawApi.ts"
import { limitByAddress } from "../../limits/RateLimit.ts"

export const layer = HttpApiBuilder.group(ConsumerApi, "draws", (handlers) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const receipts = yield* Receipts
    const proofOf = makeProofs()
    const countProof = yield* proofLimit
    const draw = yield* makeGrantHandlers({
      kind: "draw",
      ...location,
      grantedAt: (view) => view.wonAt,
      standing,
      reasonsWithoutGrant: ["NOT_SELECTED", "DRAW_CLOSED"]
    })

    /** The answer to an entry: the consumer's standing with the receipt of its entry. */
    const withReceipt = (
      ref: MechanismRef<"draw">,
      consumerId: string,
      view: View
    ): Effect.Effect<DrawState, EngineError> => {
      if (view.status !== "ENTERED") return draw.present(ref, consumerId, view)
      const committed = Effect.zipWith(engine.identity(ref), engine.facts(ref), (identity, { published }) => ({
        identity,
        seedCommitment: published.seedCommitment
      }))
      return Effect.map(receipts.receipt(view, committed), (entryReceipt) => ({ ...view, entryReceipt }))
    }

    return handlers.handleAll({
      ...draw.reads,
      ...draw.grantActions,
      get: (request) =>
        draw.orHttpAnswer(
          Effect.flatMap(CurrentTenant, ({ tenant }) => {
            const ref = draw.refOf(tenant, request)
            return Effect.zipWith(engine.inspect(ref), engine.facts(ref), (inspection, { published }) =>
              publicView(PublicDraw, inspection, published)
            )
          })
        ),
      proof: Effect.fnUntraced(function* (request) {
        const { tenant } = yield* CurrentTenant
        const ref = draw.refOf(tenant, request)
        const text = yield* Effect.andThen(countProof, draw.orHttpAnswer(engine.proof(ref)))
        return yield* text === undefined ? notDrawn : draw.orHttpAnswer(proofOf(ref.id, text))
      }),
      enter: draw.loyalEntry(
        (ref, { consumerId, isGuest, risk }, _, loyaltyScore) =>
          engine.send(ref, { _tag: "Enter", consumerId, isGuest, loyaltyScore, risk }),
        withReceipt
      ),
      leave: (request) =>
        draw.orHttpAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId, by }) =>
            Effect.map(engine.send(draw.refOf(tenant, request), { _tag: "Leave", consumerId, by }), withdrawn)
          )
        )
    })
  })
)

const notDrawn = Effect.fail(new Conflict({ error: "Draw has not been drawn", code: "NOT_DRAWN" }))

/** The standing of a consumer that holds no grant. */
const standing = (view: Exclude<View, { readonly status: "WON" }>): DrawState => {
  if (view.status !== "NOT_ENTERED") return view
  const { status, drawnAt } = view
  return { status, ...(drawnAt !== undefined && { drawnAt }) }
}

/** The answer to leaving: the status of the entry that was withdrawn. */
const withdrawn = (view: View): typeof Withdrawn.Type => {
  if (view.status !== "NOT_ENTERED" || view.leftAt === undefined) throw new Error(`left, and is ${view.status}`)
  return { status: "ENTERED", leftAt: view.leftAt }
}

/** Bytes of all kept proofs. The oldest are dropped first; the newest is always kept. */
export const keptBytesMax = 268_435_456

/** Requests of one address for proofs in a minute, of all organizations. */
export const proofRequestsMax = 60

const proofLimit = limitByAddress({ name: "proofs", requestsMax: proofRequestsMax, exemptsServers: true })

type Pieces = ReadonlyArray<Uint8Array>

/** The text of a proof, in pieces. */
type Text<E> = Stream.Stream<string, E>

/** Makes the function that sends proofs. It keeps at most `bytesMax` bytes. */
export const makeProofs = (bytesMax: number = keptBytesMax) => {
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
