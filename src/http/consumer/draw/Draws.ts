/** Declares draws for the Consumer API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
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
import * as DrawProofs from "./DrawProofs.ts"

/** The handlers of the group `draws`. */
export const layer = HttpApiBuilder.group(ConsumerApi, "draws", (handlers) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const receipts = yield* Receipts
    const proofOf = DrawProofs.make()
    const admitProof = yield* DrawProofs.admission
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
        const text = yield* Effect.andThen(admitProof, draw.orHttpAnswer(engine.proof(ref)))
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
