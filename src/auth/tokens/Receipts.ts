/**
 * Receipts for entries in a draw: a JWT that states which entry was accepted, when, and under which seed commitment. It
 * is signed with the same keys as grants. Its holder can prove that the entry must be in the list. It contains the
 * entry's pseudonym and not the consumer, so it can be shown publicly. It does not expire.
 *
 * Like a grant token, a receipt is derived again at any time. Recent receipts are cached.
 */
import { Context, Effect, Layer } from "effect"
import type { MechanismIdentity } from "../../domain/mechanism/Mechanism.ts"
import { type Millis, toText } from "../../domain/values/Time.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import { SigningKeys } from "../keys/SigningKeys.ts"
import { issuer } from "./Jwt.ts"
import { sign } from "./Signing.ts"
import * as Time from "../../store/coordination/Time.ts"

const audience = "usher:entry-receipt"

/** Least number of cached receipts, of those shown within the time. */
const rememberedReceipts = 20_000
const rememberedMillis = 60_000

/** An entry as the journal records it. */
export interface Entry {
  /** The entry's pseudonym, unique across all draws. */
  readonly entryId: string
  readonly enteredAt: Millis
}

/** The draw the entry belongs to. */
export interface Draw {
  readonly identity: MechanismIdentity
  readonly seedCommitment: string
}

export class Receipts extends Context.Service<
  Receipts,
  {
    /** Returns the entry's receipt. Runs `draw` only if the receipt is not cached. */
    receipt<E, R>(entry: Entry, draw: Effect.Effect<Draw, E, R>): Effect.Effect<string, E, R>
  }
>()("usher/auth/tokens/Receipts") {
  static readonly layer = Layer.effect(Receipts)(
    Effect.gen(function* () {
      const keys = yield* SigningKeys
      const clock = yield* Time.serverClock
      const cached = new SegmentedCache<string>(rememberedReceipts, {
        afterMillis: rememberedMillis,
        now: () => clock.currentTimeMillisUnsafe()
      })

      const make = (name: string, { entryId, enteredAt }: Entry, { identity, seedCommitment }: Draw): string => {
        const receipt = sign(keys, {
          type: "entry_receipt",
          iss: issuer,
          aud: audience,
          jti: `${identity.id}.${entryId}`,
          organizationId: identity.organizationId,
          drawId: identity.id,
          seedCommitment,
          entryId,
          enteredAt: toText(enteredAt),
          iat: Math.floor(enteredAt / 1000)
        })
        cached.set(name, receipt)
        return receipt
      }

      return {
        receipt: (entry, draw) =>
          Effect.suspend(() => {
            // The name includes the key, so a receipt signed with a former key is signed again.
            const name = `${keys.current.kid}.${entry.entryId}`
            const known = cached.get(name)
            return known === undefined ? Effect.map(draw, (known) => make(name, entry, known)) : Effect.succeed(known)
          })
      }
    })
  )
}
