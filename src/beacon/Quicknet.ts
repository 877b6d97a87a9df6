/**
 * Verifies that quicknet signed a round. The signature is a BLS signature in the short form of the scheme
 * `bls-unchained-g1-rfc9380`: a point of G1, over the SHA-256 of the round as 8 bytes, big-endian. The round's
 * randomness is the SHA-256 of the signature.
 *
 * Uses `@noble/curves`, as `drand-client` does. That client itself is not used. It does not export its verification,
 * writes to the console, waits for a relay without a time limit and reads a response of any size. It also adds twelve
 * packages, most of them for browsers and old versions of Node. Pages run this file in browsers too, so it uses nothing of
 * Node.
 */
import { bls12_381 } from "@noble/curves/bls12-381.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js"
// Imports only this module of Effect: loading the whole package would take most of the worker thread's time.
import * as Result from "effect/Result"
import { publicKey, type Round } from "./Network.ts"

const domainSeparation = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"

/**
 * True if the network signed this round and the randomness matches the signature. Needs no network access. Takes tens
 * of milliseconds.
 */
export const verifyBeacon = ({ round, randomness, signature }: Round): boolean =>
  Number.isSafeInteger(round) &&
  round >= 1 &&
  /^[0-9a-f]{96}$/.test(signature) &&
  bytesToHex(sha256(hexToBytes(signature))) === randomness &&
  Result.getOrElse(
    Result.try(() => isSigned(round, hexToBytes(signature))),
    () => false
  )

/** Throws if the signature is not a point of the group. */
const isSigned = (round: number, signature: Uint8Array): boolean => {
  const number = new Uint8Array(8)
  new DataView(number.buffer).setBigUint64(0, BigInt(round))
  const { hash, verify } = bls12_381.shortSignatures
  return verify(signature, hash(sha256(number), domainSeparation), hexToBytes(publicKey))
}
