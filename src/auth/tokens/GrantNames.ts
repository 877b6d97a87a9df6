/**
 * Makes the names of grants. A shop gives a grant's name to its payment provider, and a buyer can choose the reference
 * of some checkouts, so a name must not be guessed from another one. The proof in it is keyed with a secret of this
 * installation, which is not rotated: a grant has the same name as long as it lives.
 */
import { Context, Effect, Layer } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { type NamedGrant, plainName } from "../../domain/mechanism/GrantName.ts"
import { serverSecret } from "../../store/coordination/ServerSecrets.ts"

/** Characters of a proof, in Base64: 132 bits. */
const proofLength = 22

export class GrantNames extends Context.Service<
  GrantNames,
  {
    /** Returns the name of the grant that the event of this sequence made. */
    of(mechanismId: string, sequence: number): string
    /** Whether a text is the whole name of the grant that it names, with the right proof. */
    isWhole(named: NamedGrant): boolean
  }
>()("usher/auth/tokens/GrantNames") {
  static readonly layer = Layer.effect(GrantNames, Effect.map(serverSecret("grant_names"), make))

  /** With a secret that is not stored, for tests. */
  static readonly layerMemory = Layer.succeed(GrantNames, make(Buffer.alloc(32)))
}

function make(secret: Uint8Array): GrantNames["Service"] {
  const proofOf = (plain: string) =>
    createHmac("sha256", secret).update(plain).digest("base64url").slice(0, proofLength)
  const of = (mechanismId: string, sequence: number) => {
    const plain = plainName(mechanismId, sequence)
    return `${plain}.${proofOf(plain)}`
  }
  return {
    of,
    isWhole: ({ mechanismId, sequence, name }) => {
      const expected = Buffer.from(of(mechanismId, sequence))
      const given = Buffer.from(name)
      return given.length === expected.length && timingSafeEqual(given, expected)
    }
  }
}
