/**
 * The published keys of grants in `usher gate`. OpenSSL verifies a signature in the turn of the check, and a signature
 * that was right is remembered, because a visitor's cookie comes with each of its requests.
 */
import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto"
import type { GrantKey, GrantKeys, KeySet } from "../../client/grantKeys.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"

/** Signatures that a key remembers at least, at most twice as many. Each takes some 100 bytes. */
const rememberedMax = 100_000

class Key implements GrantKey {
  readonly x: string
  private readonly key: KeyObject
  /** By the digest of all that was verified, so no other text is taken for it. */
  private readonly right = new SegmentedCache<true>(rememberedMax)

  constructor(x: string) {
    this.x = x
    this.key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" })
  }

  readonly verify = (signature: Uint8Array, signed: Uint8Array): boolean => {
    const digest = createHash("sha256").update(signed).update(signature).digest("binary")
    if (this.right.get(digest) !== undefined) return true
    const isRight = verify(null, signed, this.key, signature)
    if (isRight) this.right.set(digest, true)
    return isRight
  }
}

/** Imports the keys that sign grants. A key that was known before remembers what it has verified. */
export const importKeys = ({ keys }: KeySet, known: GrantKeys = []): GrantKeys =>
  keys.flatMap(({ crv, x }) =>
    crv === "Ed25519" && x !== undefined ? [known.find((key) => key instanceof Key && key.x === x) ?? new Key(x)] : []
  )
