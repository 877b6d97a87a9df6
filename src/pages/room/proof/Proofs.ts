/** The proof of a draw as a page and as a file, and the receipt of a visitor's entry. */
import { Clock, Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Receipts } from "../../../auth/tokens/Receipts.ts"
import { toText } from "../../../domain/values/Time.ts"
import type { Assets } from "../../Assets.ts"
import type { ConsumerApiClient } from "../../ApiClients.ts"
import { notFound } from "../../Refusal.ts"
import type { Places } from "../Places.ts"
import { callerOf, type Visit } from "../Visit.ts"
import * as ProofPage from "./ProofPage.ts"

/** A file that a browser saves under this name. */
const saved = (name: string, cacheControl: string) => ({
  headers: { "content-disposition": `attachment; filename="${name}"`, "cache-control": cacheControl }
})

const drawIn = ({ url }: Visit): string => url.get("at") ?? ""

/** Makes the functions that answer with the page, the file and the receipt. */
export const make = Effect.fnUntraced(function* (
  api: ConsumerApiClient["Service"],
  places: Places,
  assets: Assets["Service"]
) {
  const receipts = yield* Receipts
  const page = ProofPage.make(api, places, assets)

  return {
    page: (visit: Visit) => Effect.flatMap(Clock.currentTimeMillis, (now) => page(visit, now)),

    /** The public proof, as a file that `usher verify-draw` checks. */
    file: Effect.fnUntraced(function* (visit: Visit) {
      const caller = { holder: visit.holder }
      yield* api.count(caller, "draws", "proof")
      const proof = yield* api.run(caller, "draws", "proof", { params: { drawId: drawIn(visit) } })
      // The operation answers with a finished response, which is streamed.
      return HttpServerResponse.setHeaders(
        proof as unknown as HttpServerResponse.HttpServerResponse,
        saved("proof.json", "public, max-age=300").headers
      )
    }),

    /** The receipt of the visitor's entry, again. It names the entry and not the visitor. */
    receipt: Effect.fnUntraced(function* (visit: Visit) {
      const caller = callerOf(visit)
      if (caller.access === undefined) return yield* notFound
      yield* api.count(caller, "draws", "status")
      const params = { drawId: drawIn(visit) }
      const draw = yield* api.run({ holder: visit.holder }, "draws", "get", { params })
      const state = yield* api.run(caller, "draws", "status", { params })
      const { entryId } = "entryId" in state ? state : {}
      if (entryId === undefined || state.status === "NOT_ENTERED") return yield* notFound
      const { enteredAt } = state
      const { seedCommitment, sequenceId } = draw
      const { experienceId, tenant } = visit.room
      const identity = { ...tenant, id: draw.id, kind: "draw", experienceId, sequenceId } as const
      const entryReceipt = yield* receipts.receipt({ entryId, enteredAt }, Effect.succeed({ identity, seedCommitment }))
      return HttpServerResponse.jsonUnsafe(
        { drawId: draw.id, entryId, enteredAt: toText(enteredAt), seedCommitment, entryReceipt },
        saved("receipt.json", "no-store")
      )
    })
  }
})
