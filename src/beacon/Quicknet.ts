/**
 * The public randomness beacon: drand's network "quicknet", run by the League of Entropy, which signs the number of a
 * round every three seconds. Nobody knows a round before it is signed, and nobody, not even a minority of the network,
 * can choose it; anyone can check it afterwards with the network's public key alone.
 *
 * The signature is a BLS signature in the short form of the scheme `bls-unchained-g1-rfc9380`: a point of G1, over the
 * SHA-256 of the round as 8 bytes, big-endian. The round's randomness is the SHA-256 of the signature.
 *
 * The check is made with `@noble/curves`, which `drand-client` uses too. That client itself is not used: it does not
 * export its check, writes to the console, waits for a relay without end, reads an answer of any size, and brings
 * twelve more packages, most of them for browsers and for older versions of Node.
 */
import { bls12_381 } from "@noble/curves/bls12-381.js"
// Not the whole of Effect: a thread that checks one round would spend most of its time loading it.
import * as Result from "effect/Result"
import { createHash } from "node:crypto"

/** The network's name in a relay's paths; itself a digest over the public key, the first round's time and the period. */
export const chainHash = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"

/** The network's public key: a compressed point of G2, as hex. */
export const publicKey =
  "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451" +
  "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"

const domainSeparation = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"

/** One round of the beacon, as relays give it. */
export interface Round {
  /** 1 or more. */
  readonly round: number
  /** 32 bytes as hex, in lower case. */
  readonly randomness: string
  /** 48 bytes as hex, in lower case. */
  readonly signature: string
}

/**
 * True if the network has signed this round, and the randomness is that of the signature. Needs no network, and takes
 * tens of milliseconds.
 */
export const verifyBeacon = ({ round, randomness, signature }: Round): boolean =>
  Number.isSafeInteger(round) &&
  round >= 1 &&
  /^[0-9a-f]{96}$/.test(signature) &&
  sha256(Buffer.from(signature, "hex")).toString("hex") === randomness &&
  Result.getOrElse(
    Result.try(() => isSigned(round, Buffer.from(signature, "hex"))),
    () => false
  )

/** Throws if the signature is no point of the group. */
const isSigned = (round: number, signature: Uint8Array): boolean => {
  const number = Buffer.alloc(8)
  number.writeBigUInt64BE(BigInt(round))
  const { hash, verify } = bls12_381.shortSignatures
  return verify(signature, hash(sha256(number), domainSeparation), Buffer.from(publicKey, "hex"))
}

const sha256 = (bytes: Uint8Array): Buffer => createHash("sha256").update(bytes).digest()
