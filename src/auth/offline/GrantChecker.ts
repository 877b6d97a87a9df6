/**
 * Checks grants without asking Usher, for shops. It uses the published keys, and the list of grants that ended before
 * their time. This file and the rules that it imports need only Node's crypto, so that a shop can copy them. The
 * README.md of this folder describes the limits of such a check.
 */
import { createPublicKey, type JsonWebKey, type KeyObject, verify } from "node:crypto"
import { type ClaimProblem, type Expected, type GrantClaims, partsOf, problemOf } from "../../client/grantRules.ts"

/** The answer of `/.well-known/jwks.json`. */
export interface KeySet {
  readonly keys: ReadonlyArray<object>
}

/** The answer of `GET /api/grants/revoked`: a page of the list. Instants are ISO 8601 text. */
export interface RevokedPage {
  readonly data: ReadonlyArray<{ readonly jti: string; readonly expiresAt: string | null }>
  readonly until: string
  readonly next: string | null
}

/** The outcome of a check. */
export type GrantCheck =
  | { readonly valid: true; readonly claims: GrantClaims }
  | { readonly valid: false; readonly code: GrantProblem }

/**
 * Why a grant does not admit. `LIST_STALE`: the list of revoked grants was last complete longer ago than
 * `staleAfterMillis`; ask `POST …/validate` instead.
 */
export type GrantProblem = "INVALID_TOKEN" | ClaimProblem | "GRANT_REVOKED" | "LIST_STALE"

/** How long a complete list counts as fresh, unless the shop says otherwise. */
const staleAfterMillisDefault = 10_000

export class GrantChecker {
  readonly #staleAfterMillis: number
  #keys: ReadonlyArray<KeyObject> = []
  /** By `jti`, the token's expiry in milliseconds. */
  readonly #revoked = new Map<string, number>()
  #since: string | undefined
  #after: string | null = null
  #listStartedAt = -Infinity
  #completeAsOf = -Infinity

  constructor(staleAfterMillis: number = staleAfterMillisDefault) {
    this.#staleAfterMillis = staleAfterMillis
  }

  /** Replaces the keys. Read them again when a token is `INVALID_TOKEN`, but at most once a minute. */
  setKeys({ keys }: KeySet): void {
    this.#keys = keys.map((key) => createPublicKey({ key: key as JsonWebKey, format: "jwk" }))
  }

  /** The query of the next page to read: empty for the first page of the first list. */
  get query(): string {
    const parameters = new URLSearchParams()
    if (this.#since !== undefined) parameters.set("since", this.#since)
    if (this.#after !== null) parameters.set("after", this.#after)
    return parameters.size === 0 ? "" : `?${parameters}`
  }

  /** True if more pages of the present list follow. */
  get hasMore(): boolean {
    return this.#after !== null
  }

  /** The number of revoked grants that are kept. A grant is dropped when its token has expired. */
  get size(): number {
    return this.#revoked.size
  }

  /** Takes in a page that was requested at `now`, in milliseconds since the Unix epoch, with {@link query}. */
  addRevoked({ data, until, next }: RevokedPage, now: number): void {
    if (this.#after === null) this.#listStartedAt = now
    this.#after = next
    for (const { jti, expiresAt } of data) {
      this.#revoked.set(jti, expiresAt === null ? Infinity : Date.parse(expiresAt))
    }
    if (next !== null) return
    this.#since = until
    this.#completeAsOf = this.#listStartedAt
    for (const [jti, expiresAt] of this.#revoked) if (expiresAt <= now) this.#revoked.delete(jti)
  }

  /** Returns whether the token admits at `now`, in milliseconds since the Unix epoch. */
  check(token: string, expected: Expected, now: number): GrantCheck {
    const claims = this.#authentic(token)
    if (claims === undefined) return no("INVALID_TOKEN")
    const problem = problemOf(claims, expected, now)
    if (problem !== undefined) return no(problem)
    if (this.#revoked.has(claims.jti)) return no("GRANT_REVOKED")
    return now - this.#completeAsOf > this.#staleAfterMillis ? no("LIST_STALE") : { valid: true, claims }
  }

  /** Returns the claims of a grant that one of the keys has signed. Nothing of the token is read before. */
  #authentic(token: string): GrantClaims | undefined {
    const parts = partsOf(token)
    const isSigned = this.#keys.some(
      (key) =>
        parts !== undefined && key.asymmetricKeyType === "ed25519" && verify(null, parts.signed, key, parts.signature)
    )
    return isSigned ? parts?.claims() : undefined
  }
}

const no = (code: GrantProblem): GrantCheck => ({ valid: false, code })
