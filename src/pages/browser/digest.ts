/** SHA-256 and HMAC-SHA256 in a browser, as `domain/values/Digest.ts` in Node, for the texts of draws. */
import { hmac } from "@noble/hashes/hmac.js"
import { sha256 } from "@noble/hashes/sha2.js"
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js"

export const sha256OfHex = (hex: string): string => bytesToHex(sha256(hexToBytes(hex)))

export const runningSha256 = () => {
  const running = sha256.create()
  return {
    add: (piece: string): void => void running.update(utf8ToBytes(piece)),
    digest: (): string => bytesToHex(running.digest())
  }
}

export const hmacSha256 = (key: string, beginning: string): ((ending: string) => string) => {
  const begun = hmac.create(sha256, hexToBytes(key)).update(utf8ToBytes(beginning))
  return (ending) => bytesToHex(begun.clone().update(utf8ToBytes(ending)).digest())
}
