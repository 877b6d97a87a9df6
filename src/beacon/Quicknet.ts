/**
 * Whether quicknet has signed a round. The signature is a BLS signature in the short form of the scheme
 * `bls-unchained-g1-rfc9380`: a point of G1, over the SHA-256 of the round as 8 bytes, big-endian. The round's randomness
 * is the SHA-256 of the signature.
 *
 * The check is made with `@noble/curves`, which `drand-client` uses too. That client itself is not used: it does not
 * export its check, writes to the console, waits for a relay without end, reads an answer of any size, and brings
 * twelve more packages, most of them for browsers and for older versions of Node.
 */
import { bls12_381 } from "@noble/curves/bls12-381.js"
// Not the whole of Effect: a thread that checks one round would spend most of its time loading it.
import * as Result from "effect/Result"
import { createHash } from "node:crypto"
import { publicKey, type Round } from "./Network.ts"

const domainSeparation = "BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_"

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
