/**
 * Receipts for entries in a draw (completions 3, "Draw"): a JWT that says, with the same keys as grants, which entry was
 * accepted, when, and under which seed commitment. Whoever holds one can show that the entry must be in the list. It names
 * the entry by its pseudonym and not the consumer, so that it can be shown to anyone; it does not expire.
 *
 * Like a grant's, its text can be made again at any time, and those made lately are remembered.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { MechanismIdentity } from "../../domain/mechanism/Decider.ts"
import { type Millis, toText } from "../../domain/values/Time.ts"
import { SegmentedCache } from "../sessions/SegmentedCache.ts"
import { SigningKeys } from "../keys/SigningKeys.ts"
import { issuer, sign } from "./Tokens.ts"

const audience = "usher:entry-receipt"

/** Receipts remembered at least, of those that were shown within the time. */
const rememberedReceipts = 20_000
const rememberedMillis = 60_000

/** An entry as the journal has it. */
export interface Entry {
  /** Its pseudonym, which no other entry of any draw has. */
  readonly entryId: string
  readonly enteredAt: Millis
}

/** The draw it is an entry of. */
export interface Draw {
  readonly identity: MechanismIdentity
  readonly seedCommitment: string
}

export class Receipts extends Context.Service<
  Receipts,
  {
    /** The entry's receipt; `draw` is only asked if the receipt is not remembered. */
    receipt<E, R>(entry: Entry, draw: Effect.Effect<Draw, E, R>): Effect.Effect<string, E, R>
  }
>()("usher/auth/tokens/Receipts") {
  static readonly layer = Layer.effect(
    Receipts,
    Effect.gen(function* () {
      const keys = yield* SigningKeys
      const clock = yield* Clock.Clock
      const remembered = new SegmentedCache<string>(rememberedReceipts, {
        afterMillis: rememberedMillis,
        now: () => clock.currentTimeMillisUnsafe()
      })

      const make = Effect.fnUntraced(function* (
        name: string,
        { entryId, enteredAt }: Entry,
        { identity, seedCommitment }: Draw
      ) {
        const receipt = yield* sign(keys, {
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
        remembered.set(name, receipt)
        return receipt
      })

      return {
        receipt: (entry, draw) =>
          Effect.suspend(() => {
            // What a former key signed is signed anew.
            const name = `${keys.current.kid}.${entry.entryId}`
            const known = remembered.get(name)
            return known === undefined
              ? Effect.flatMap(draw, (known) => make(name, entry, known))
              : Effect.succeed(known)
          })
      }
    })
  )
}
