/**
 * Proof of work by the open protocol of ALTCHA, version 2, with `PBKDF2/SHA-256`. The client tries counters until the
 * derived key begins with the prefix. The server has chosen the counter, so the work has a bound, and it has signed the
 * key, so verification derives nothing: it is two HMACs, some 10 µs.
 *
 * The protocol's own library checks this file in the tests. It is not used here: it takes some 400 µs for each
 * challenge and each verification, because it imports its keys every time.
 */
import { Result } from "effect"
import {
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  pbkdf2Sync,
  randomBytes,
  randomInt,
  timingSafeEqual
} from "node:crypto"
import { lifetimeSeconds } from "../../domain/challenge/Arrivals.ts"
import type { Millis } from "../../domain/values/Time.ts"

/** Iterations of each derivation. Much of an attempt is then hashing, which no client does much faster than others. */
const iterations = 200

const algorithm = "PBKDF2/SHA-256"
const keyBytes = 32
const prefixBytes = 16
const instantBytes = 6

/** The longest solution that is read. */
const solutionLengthMax = 2_000

/** A challenge in the form of the protocol. Fields are in alphabetical order, as they are signed. */
export interface SignedChallenge {
  readonly parameters: {
    readonly algorithm: string
    readonly cost: number
    readonly data: { readonly scope: string; readonly work: number }
    /** Unix seconds. */
    readonly expiresAt: number
    readonly keyLength: number
    readonly keyPrefix: string
    readonly keySignature: string
    readonly nonce: string
    readonly salt: string
  }
  readonly signature: string
}

/** A challenge that was solved. */
export interface Solved {
  /** The challenge's own id. */
  readonly id: string
  readonly scope: string
  readonly work: number
  readonly issuedAt: Millis
  readonly expiresAt: Millis
}

export interface ProofOfWork {
  /** Makes a challenge. Costs one derivation, some 50 µs. */
  issue(scope: string, work: number, now: Millis): SignedChallenge
  /** Returns what was solved; undefined if the text is no solution of a challenge issued here, or came too late. */
  verify(solution: string, now: Millis): Solved | undefined
}

/** Returns a whole number from 1 to `work`: the counter that solves a challenge. */
const anyCounter = (work: number): number => randomInt(1, work + 1)

/** Makes the issuer. Processes with the same secret accept each other's challenges. */
export const make = (secret: Uint8Array, counterOf = anyCounter): ProofOfWork => {
  const signing = keyOf(secret, "challenge")
  const proving = keyOf(secret, "solution")
  return {
    issue: (scope, work, now) => {
      // It begins with the instant of issue, so that the time of the solution is known.
      const nonce = randomBytes(16)
      nonce.writeUIntBE(now, 0, instantBytes)
      const salt = randomBytes(16)
      const derived = derive(nonce, salt, counterOf(work))
      const parameters = {
        algorithm,
        cost: iterations,
        data: { scope, work },
        expiresAt: Math.floor(now / 1_000) + lifetimeSeconds(work),
        keyLength: keyBytes,
        keyPrefix: derived.toString("hex", 0, prefixBytes),
        keySignature: sign(proving, derived),
        nonce: nonce.toString("hex"),
        salt: salt.toString("hex")
      }
      return { parameters, signature: sign(signing, JSON.stringify(parameters)) }
    },
    verify: (solution, now) => {
      const shown = parse(solution)
      if (shown === undefined) return undefined
      const { parameters, signature, derivedKey } = shown
      if (parameters.expiresAt * 1_000 <= now) return undefined
      if (!isEqual(sign(signing, JSON.stringify(parameters)), signature)) return undefined
      if (!isEqual(sign(proving, Buffer.from(derivedKey, "hex")), parameters.keySignature)) return undefined
      const { data, expiresAt, nonce } = parameters
      const issuedAt = Number.parseInt(nonce.slice(0, 2 * instantBytes), 16)
      return { id: nonce, scope: data.scope, work: data.work, issuedAt, expiresAt: expiresAt * 1_000 }
    }
  }
}

const keyOf = (secret: Uint8Array, use: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync("sha256", secret, Buffer.alloc(0), `usher ${use}`, 32)))

const sign = (key: KeyObject, message: string | Uint8Array): string =>
  createHmac("sha256", key).update(message).digest("hex")

function isEqual(ours: string, shown: string): boolean {
  return (
    ours.length === shown.length && timingSafeEqual(Buffer.from(ours), Buffer.from(shown.replace(/[^0-9a-f]/g, "-")))
  )
}

/** Derives the key of one counter. A client does this in each attempt. */
export function derive(nonce: Uint8Array, salt: Uint8Array, counter: number): Buffer {
  const password = Buffer.alloc(nonce.length + 4)
  password.set(nonce)
  password.writeUInt32BE(counter, nonce.length)
  return pbkdf2Sync(password, salt, iterations, keyBytes, "sha256")
}

/** Reads a solution: the protocol's JSON in base64. Its parameters are put into the order in which they were signed. */
function parse(solution: string) {
  if (solution.length > solutionLengthMax) return undefined
  const read = Result.try(() => JSON.parse(Buffer.from(solution, "base64").toString("utf8")) as Shown | null)
  const { challenge, solution: found } = Result.getOrElse(read, () => null) ?? {}
  const signature = challenge?.signature
  const derivedKey = found?.derivedKey
  if (typeof signature !== "string" || typeof derivedKey !== "string" || !/^[0-9a-f]{64}$/.test(derivedKey))
    return undefined
  const { algorithm, cost, data, expiresAt, keyLength, keyPrefix, keySignature, nonce, salt } =
    challenge?.parameters ?? {}
  if (typeof expiresAt !== "number" || typeof keySignature !== "string") return undefined
  const { scope, work } = data ?? {}
  // The signature proves that the other fields are what was issued.
  const signed = { algorithm, cost, data: { scope, work }, expiresAt, keyLength, keyPrefix, keySignature, nonce, salt }
  const parameters = signed as SignedChallenge["parameters"]
  return { parameters, signature, derivedKey }
}

/** The solution that a client sends. It is untrusted until its signature is checked. */
interface Shown {
  readonly challenge?: {
    readonly parameters?: { readonly [name: string]: unknown; readonly data?: { readonly [name: string]: unknown } }
    readonly signature?: unknown
  }
  readonly solution?: { readonly derivedKey?: unknown }
}
