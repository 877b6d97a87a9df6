/** Solves the proof of work of the gate for bots, by the protocol of ALTCHA: it finds the counter of a derived key. */

interface ProofOfWork {
  readonly provider: string
  readonly parameters: {
    readonly cost: number
    readonly data: { readonly work: number }
    readonly keyLength: number
    readonly keyPrefix: string
    readonly nonce: string
    readonly salt: string
  }
  readonly signature: string
}

/** Returns the solution as the API takes it; undefined for a challenge of another kind. */
export async function solve(text: string): Promise<string | undefined> {
  const { provider, parameters, signature } = JSON.parse(text) as ProofOfWork
  if (provider !== "proof_of_work" || !crypto.subtle) return undefined
  const { cost: iterations, data, keyLength, keyPrefix } = parameters
  const nonce = bytesOf(parameters.nonce)
  const password = new Uint8Array(nonce.length + 4)
  password.set(nonce)
  const derivation = { name: "PBKDF2", hash: "SHA-256", salt: bytesOf(parameters.salt), iterations }
  for (let counter = 1; counter <= data.work; counter++) {
    new DataView(password.buffer).setUint32(nonce.length, counter)
    const key = await crypto.subtle.importKey("raw", password, "PBKDF2", false, ["deriveBits"])
    const derived = hexOf(new Uint8Array(await crypto.subtle.deriveBits(derivation, key, keyLength * 8)))
    if (!derived.startsWith(keyPrefix)) continue
    return btoa(JSON.stringify({ challenge: { parameters, signature }, solution: { counter, derivedKey: derived } }))
  }
  return undefined
}

const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g)!, (two) => Number.parseInt(two, 16))
const hexOf = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")
