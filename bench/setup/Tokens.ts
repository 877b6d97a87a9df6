/**
 * Access tokens for consumers the servers have never seen, signed beforehand with the key that the servers trust and
 * kept in a file, one a line: signing costs about as much as verifying, and must not happen while something is measured.
 */
import { createPrivateKey, type JsonWebKey, randomUUID, sign } from "node:crypto"
import { appendFileSync, writeFileSync } from "node:fs"
import type { TokenRange } from "../load/Job.ts"
import * as Progress from "../report/Progress.ts"

/** Whose tokens they are: everything in a token that is not the consumer. */
export interface TokenIssuer {
  readonly privateKey: JsonWebKey
  readonly keyId: string
  readonly issuer: string
  readonly audience: string
  readonly organizationId: string
  /** Further claims that every access token of this server carries. */
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

  /** The first `count` tokens, then those after `from`; signs those that do not exist yet. */
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
          sessionId: randomUUID(),
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
 * A UUIDv7 of a consumer that came at some moment of the last day: consumers do not enter a queue in the order in which
 * they were created, so indexes over them are hit all over.
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
