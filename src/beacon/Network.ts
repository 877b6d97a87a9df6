/**
 * The public randomness beacon: drand's network "quicknet", run by the League of Entropy. The network signs the number
 * of a round every three seconds. A round is unknown before it is signed, and no minority of the network can choose it.
 * Anyone can verify it later with the network's public key alone.
 */

/**
 * The network's name in a relay's paths. It is a digest of the public key, the time of the first round and the period.
 */
export const chainHash = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"

/** The network's public key: a compressed point of G2, as hex. */
export const publicKey =
  "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451" +
  "0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"

/** One round of the beacon, as relays return it. */
export interface Round {
  /** 1 or more. */
  readonly round: number
  /** 32 bytes as hex, in lower case. */
  readonly randomness: string
  /** 48 bytes as hex, in lower case. */
  readonly signature: string
}
