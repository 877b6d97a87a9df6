/** The handlers of draws: each one expression around the engine. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Receipts } from "../../../auth/tokens/Receipts.ts"
import type { View } from "../../../domain/draw/Draw.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { ConsumerCommand, MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { CurrentConsumer, CurrentTenant } from "../../credentials/Credentials.ts"
import { Conflict } from "../../errors/Errors.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import * as ServerActions from "../../server/ServerActions.ts"
import { ConsumerApi } from "../Api.ts"
import { DrawState, PublicDraw, type Withdrawn } from "./DrawApi.ts"
import * as DrawProofs from "./DrawProofs.ts"
import * as GrantAnswers from "../mechanism/GrantAnswers.ts"
import * as LiveUpdates from "../mechanism/LiveUpdates.ts"
import * as Loyalty from "../consumer/Loyalty.ts"
import * as Protection from "../experience/Protection.ts"
import { publicView } from "../mechanism/PublicMechanism.ts"

type DrawRef = MechanismRef<"draw">

/** The handlers of the group `draws`; needs the engine, grants, receipts and consumers. */
export const layer = HttpApiBuilder.group(
  ConsumerApi,
  "draws",
  Effect.fnUntraced(function* (handlers) {
    const engine = yield* Engine
    const receipts = yield* Receipts
    const grants = yield* GrantAnswers.make
    const loyaltyScore = yield* Loyalty.make
    const ifInvited = yield* Protection.make
    const { onGrant } = yield* ServerActions.make("draw")
    const proofOf = DrawProofs.make()

    /** A consumer's view as it is sent: a win comes with its grant. */
    const sent = (draw: DrawRef, consumerId: string, view: View): Effect.Effect<DrawState, EngineError> => {
      if (view.status === "NOT_ENTERED") {
        const { status, drawnAt } = view
        return Effect.succeed({ status, ...(drawnAt !== undefined && { drawnAt }) })
      }
      if (view.status !== "WON") return Effect.succeed(view)
      const { grantSequence: _, ...won } = view
      return Effect.map(grants.token(draw, consumerId, grantOf(view)), (admissionGrant) => ({ ...won, admissionGrant }))
    }

    const events = (yield* LiveUpdates.make)("draw", DrawState, sent)

    /** The same with the receipt of the entry. */
    const sentWithReceipt = (draw: DrawRef, consumerId: string, view: View): Effect.Effect<DrawState, EngineError> => {
      if (view.status !== "ENTERED") return sent(draw, consumerId, view)
      const drawOf = Effect.zipWith(engine.identity(draw), engine.facts(draw), (identity, { published }) => ({
        identity,
        seedCommitment: published.seedCommitment
      }))
      return Effect.map(receipts.receipt(view, drawOf), (entryReceipt) => ({ ...view, entryReceipt }))
    }

    /** Runs a command of an organization's server; answers the consumer's standing. */
    const change = (draw: DrawRef, command: ConsumerCommand<"draw">) =>
      Effect.flatMap(engine.send(draw, command), (view) => sent(draw, command.consumerId, view))

    return handlers.handleAll({
      get: ({ params }) =>
        orDrawAnswer(
          Effect.flatMap(CurrentTenant, ({ tenant }) => {
            const draw = drawOf(tenant, params.drawId)
            return Effect.zipWith(engine.inspect(draw), engine.facts(draw), (inspection, { published }) =>
              publicView(PublicDraw, inspection, published)
            )
          })
        ),
      proof: Effect.fnUntraced(function* ({ params: { drawId } }) {
        const { tenant } = yield* CurrentTenant
        const text = yield* orDrawAnswer(engine.proof(drawOf(tenant, drawId)))
        return yield* text === undefined ? notDrawn : orDrawAnswer(proofOf(drawId, text))
      }),
      enter: ({ params }) =>
        orDrawAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId, isGuest }) => {
            const draw = drawOf(tenant, params.drawId)
            const entry = Effect.flatMap(loyaltyScore(draw, consumerId), (score) =>
              engine.send(draw, { _tag: "Enter", consumerId, isGuest, loyaltyScore: score })
            )
            return Effect.flatMap(ifInvited(draw, consumerId, entry), (view) => sentWithReceipt(draw, consumerId, view))
          })
        ),
      leave: ({ params }) =>
        orDrawAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId, by }) =>
            Effect.map(engine.send(drawOf(tenant, params.drawId), { _tag: "Leave", consumerId, by }), withdrawn)
          )
        ),
      status: ({ params }) =>
        orDrawAnswer(
          Effect.flatMap(CurrentConsumer, ({ tenant, consumerId }) => {
            const draw = drawOf(tenant, params.drawId)
            return Effect.flatMap(engine.view(draw, consumerId), (view) => sent(draw, consumerId, view))
          })
        ),
      events: ({ params, headers }) => events(params.drawId, headers),
      deny: ({ params, payload: { consumerId, reason } }) =>
        onGrant({ mechanismId: params.drawId, consumerId }, (draw, by) =>
          change(draw, { _tag: "Deny", consumerId, reason, by })
        ),
      complete: ({ params, payload: { consumerId } }) =>
        onGrant({ mechanismId: params.drawId, consumerId }, (draw, by) =>
          change(draw, { _tag: "Complete", consumerId, by })
        ),
      validate: ({ params, payload }) =>
        onGrant({ mechanismId: params.drawId, consumerId: payload.consumerId }, (draw) =>
          Effect.flatMap(engine.view(draw, payload.consumerId), (view) =>
            grants.validate(draw, payload, standingOf(view))
          )
        )
    })
  })
)

const orDrawAnswer = orAnswer("draw")

const notDrawn = Effect.fail(new Conflict({ error: "Draw has not been drawn", code: "NOT_DRAWN" }))

const drawOf = (tenant: Tenant, id: string): DrawRef => ({ kind: "draw", id, tenant })

/** The answer to leaving: the status of the entry that was withdrawn. */
const withdrawn = (view: View): typeof Withdrawn.Type => {
  if (view.status !== "NOT_ENTERED" || view.leftAt === undefined) throw new Error(`left, and is ${view.status}`)
  return { status: "ENTERED", leftAt: view.leftAt }
}

const grantOf = ({
  grantSequence,
  wonAt,
  expiresAt
}: Extract<View, { readonly status: "WON" }>): GrantAnswers.HeldGrant => ({
  grantSequence,
  grantedAt: wonAt,
  ...(expiresAt !== undefined && { expiresAt })
})

/** What became of the consumer's win, if it had one. */
function standingOf(view: View): GrantAnswers.GrantStatus {
  switch (view.status) {
    case "WON":
      return grantOf(view)
    case "COMPLETED":
      return "completed"
    case "DENIED":
      if (view.reason === "NOT_SELECTED" || view.reason === "DRAW_CLOSED") return "none"
      return view.reason === "ADMISSION_EXPIRED" ? "expired" : "denied"
    default:
      return "none"
  }
}
