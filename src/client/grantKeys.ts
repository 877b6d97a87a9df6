/** The published keys of grants. */
import type { TokenParts } from "./grantRules.ts"

/** A published key. */
export interface GrantKey {
  /** True if the key has signed this. */
  readonly verify: (signature: Uint8Array<ArrayBuffer>, signed: Uint8Array<ArrayBuffer>) => boolean | Promise<boolean>
}

export type GrantKeys = ReadonlyArray<GrantKey>

/** The answer of `/.well-known/jwks.json`, as far as it matters here. */
export interface KeySet {
  readonly keys: ReadonlyArray<{ readonly kty?: string; readonly crv?: string; readonly x?: string }>
}

/** Imports the keys that sign grants, by Web Crypto. */
export const importKeys = ({ keys }: KeySet): Promise<GrantKeys> =>
  Promise.all(
    keys
      .filter(({ crv }) => crv === "Ed25519")
      .map(async (key) => {
        const imported = await crypto.subtle.importKey("jwk", key, "Ed25519", false, ["verify"])
        return { verify: (signature, signed) => crypto.subtle.verify("Ed25519", imported, signature, signed) }
      })
  )

/** True if one of the keys has signed the token. */
export const isSignedBy = async (keys: GrantKeys, { signature, signed }: TokenParts): Promise<boolean> => {
  for (const key of keys) {
    if (await key.verify(signature, signed)) return true
  }
  return false
}
