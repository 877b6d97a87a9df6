/**
 * Access tokens for consumers that are new to the servers. They are signed in advance with the key that the servers
 * trust and stored in a file, one per line. Signing costs about as much as verifying and must not happen during a
 * measurement.
 */
import { createPrivateKey, type JsonWebKey, randomUUID, sign } from "node:crypto"
import { appendFileSync, writeFileSync } from "node:fs"
import type { TokenRange } from "../load/Job.ts"
import * as Progress from "../report/Progress.ts"

/** The parts of a token that do not depend on the consumer. */
export interface TokenIssuer {
  readonly privateKey: JsonWebKey
  readonly keyId: string
  readonly issuer: string
  readonly audience: string
  readonly organizationId: string
  readonly sessionId: string
  /** Further claims of every access token. */
  readonly claims: { readonly [name: string]: unknown }
}

const lifetimeSeconds = 6 * 3600

export class Tokens {
  private count = 0
  private readonly file: string
  private readonly issuer: TokenIssuer

  constructor(issuer: TokenIssuer, file: string) {
    this.issuer = issuer
    this.file = file
    writeFileSync(file, "")
  }

  /** Returns `count` tokens after the first `from`. Signs tokens that do not exist yet. */
  range(count: number, from = 0): TokenRange {
    this.growTo(from + count)
    return { file: this.file, from, count }
  }

  private growTo(count: number): void {
    const key = createPrivateKey({ key: this.issuer.privateKey, format: "jwk" })
    const header = base64Url({ alg: "EdDSA", typ: "JWT", kid: this.issuer.keyId })
    const issuedAt = Math.floor(Date.now() / 1000)
    while (this.count < count) {
      Progress.show(`signing tokens: ${this.count} of ${count}`)
      const block = Math.min(5_000, count - this.count)
      let lines = ""
      for (let index = 0; index < block; index++) {
        const claims = base64Url({
          ...this.issuer.claims,
          consumerId: consumerId(),
          organizationId: this.issuer.organizationId,
          sessionId: this.issuer.sessionId,
          iss: this.issuer.issuer,
          aud: this.issuer.audience,
          jti: randomUUID(),
          iat: issuedAt,
          exp: issuedAt + lifetimeSeconds
        })
        const signed = `${header}.${claims}`
        lines += `${signed}.${sign(null, Buffer.from(signed), key).toString("base64url")}\n`
      }
      appendFileSync(this.file, lines)
      this.count += block
    }
  }
}

/**
 * Returns a UUIDv7 from a random time in the last day. Consumers do not enter a queue in the sequence of their
 * creation, so these ids spread over the indexes.
 */
export function consumerId(): string {
  const createdAt = Math.floor(Date.now() - Math.random() * 86_400_000)
  const time = createdAt.toString(16).padStart(12, "0")
  const random = randomUUID()
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`
}

function base64Url(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url")
}
