/**
 * Makes the names of grants. A shop gives a grant's name to its payment provider, and a buyer can choose the reference
 * of some checkouts, so a name must not be guessed from another one. The proof in it is keyed with a secret of this
 * installation, which is not rotated: a grant has the same name as long as it lives.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { createHmac } from "node:crypto"
import { plainName } from "../../domain/mechanism/GrantName.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { serverSecret } from "../../store/coordination/ServerSecrets.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"

/** Characters of a proof, in Base64: 132 bits. */
const proofLength = 22

export class GrantNames extends Context.Service<
  GrantNames,
  {
    /** Returns the name of the grant that the event of this sequence made at this time. */
    of(mechanismId: string, sequence: number, grantedAt: Millis): string
  }
>()("usher/auth/tokens/GrantNames") {
  static readonly layer = Layer.effect(GrantNames)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const [row] = yield* sql<{ readonly valid_from: Date | null }>`
        select valid_from from server_secrets where name = 'grant_names'`.pipe(orUnavailable)
      return make(yield* serverSecret("grant_names"), row?.valid_from?.getTime() ?? -Infinity)
    })
  )

  /** With a secret that is not stored, for tests. */
  static readonly layerMemory = Layer.succeed(GrantNames, make(Buffer.alloc(32), -Infinity))
}

/** Grants made before `validFrom` have no proof in their names: processes of the former release signed such tokens. */
function make(secret: Uint8Array, validFrom: Millis): GrantNames["Service"] {
  const proofOf = (plain: string) =>
    createHmac("sha256", secret).update(plain).digest("base64url").slice(0, proofLength)
  return {
    of: (mechanismId, sequence, grantedAt) => {
      const plain = plainName(mechanismId, sequence)
      return grantedAt < validFrom ? plain : `${plain}.${proofOf(plain)}`
    }
  }
}
