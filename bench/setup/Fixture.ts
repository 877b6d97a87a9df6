/** The organization, key pair and queue that all programs of a run use. */
import type { JsonWebKey } from "node:crypto"
import type { Certificate } from "./Certificate.ts"
import type { TokenIssuer } from "./Tokens.ts"

export interface Fixture {
  readonly organizationId: string
  readonly publishableKey: string
  readonly secretKey: string
  /** That of test mode; absent where Usher does not run. */
  readonly testSecretKey?: string
  readonly queueId: string
  /** The experience of the queue; absent where Usher does not run. */
  readonly experienceId?: string
  /** Per minute. It is 0, so that the line only grows and every program does the same work. */
  readonly admitRate: number
  readonly publicKey: JsonWebKey
  readonly issuer: TokenIssuer
  /** The database that each Usher starts with a copy of. */
  readonly templateDatabase: string
  /** Further header lines of each request, each with its end. */
  readonly headers?: string
  /** The certificate with which every program serves; absent: plain HTTP. */
  readonly certificate?: Certificate
}
