/** The published keys of grants, by Web Crypto. */
import type { TokenParts } from "./grantRules.ts"

/** The type has other names in browsers and in Node. */
export type GrantKeys = ReadonlyArray<Awaited<ReturnType<typeof crypto.subtle.importKey>>>

/** The answer of `/.well-known/jwks.json`, as far as it matters here. */
export interface KeySet {
  readonly keys: ReadonlyArray<{ readonly kty?: string; readonly crv?: string; readonly x?: string }>
}

/** Imports the keys that sign grants. */
export const importKeys = ({ keys }: KeySet): Promise<GrantKeys> =>
  Promise.all(
    keys
      .filter(({ crv }) => crv === "Ed25519")
      .map((key) => crypto.subtle.importKey("jwk", key, "Ed25519", false, ["verify"]))
  )

/** True if one of the keys has signed the token. */
export const isSignedBy = async (keys: GrantKeys, { signature, signed }: TokenParts): Promise<boolean> => {
  for (const key of keys) {
    if (await crypto.subtle.verify("Ed25519", key, signature, signed)) return true
  }
  return false
}
