/**
 * Measures the gate for bots: processor time of a caller that passes, of issuing and verifying a challenge, and of one
 * attempt of a client that uses OpenSSL. Each figure is the median of seven runs.
 *
 *     npm run bench:challenge
 */
import { pbkdf2Sync } from "node:crypto"
import * as ProofOfWork from "../../src/auth/challenge/ProofOfWork.ts"
import { SegmentedCache } from "../../src/auth/sessions/SegmentedCache.ts"
import {
  type AddressArrivals,
  admitted,
  attempt,
  leastWork,
  noAddressArrivals,
  noScopeArrivals,
  workOf
} from "../../src/domain/challenge/Arrivals.ts"

/** Prints the processor time of one call, in microseconds. */
function measure(name: string, calls: number, call: (index: number) => void): void {
  for (let index = 0; index < calls; index++) call(index)
  const micros = Array.from({ length: 7 }, () => {
    const before = process.cpuUsage()
    for (let index = 0; index < calls; index++) call(index)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / calls
  }).toSorted((a, b) => a - b)
  console.log(`${name.padEnd(34)} ${micros[3]!.toFixed(2)} µs (best ${micros[0]!.toFixed(2)})`)
}

const now = Date.now()
const proofs = ProofOfWork.make(new Uint8Array(32).fill(1))
const challenge = proofs.issue("guest", 50, now)
const solution = solve(challenge)
const text = Buffer.from(JSON.stringify({ challenge, solution })).toString("base64")
if (proofs.verify(text, now) === undefined) throw new Error("The solution is not accepted")

const addresses = new SegmentedCache<AddressArrivals>(100_000)
const scope = noScopeArrivals(now)
measure("a caller that passes (its counts)", 200_000, (index) => {
  const key = `entry 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a 10.0.${(index >> 8) & 255}.${index & 255}`
  const address = addresses.get(key) ?? noAddressArrivals(now)
  addresses.set(key, address)
  attempt(address, scope, now + index * 1_000)
  if (workOf("adaptive", address, scope) === 0) admitted(address)
})
measure("issue a challenge", 5_000, () => void proofs.issue("guest", leastWork, now))
measure("verify a solution", 20_000, () => void proofs.verify(text, now))
measure("refuse what is no solution", 20_000, () => void proofs.verify(`AAAA${text.slice(4)}`, now))
const salt = Buffer.alloc(16)
const password = Buffer.alloc(20)
measure(
  "one attempt of a client (OpenSSL)",
  5_000,
  () => void pbkdf2Sync(password, salt, challenge.parameters.cost, 32, "sha256")
)

/** Tries counters until the key has the prefix. */
function solve({ parameters }: ProofOfWork.SignedChallenge): { readonly counter: number; readonly derivedKey: string } {
  const salted = Buffer.from(parameters.salt, "hex")
  for (let counter = 0; ; counter++) {
    const tried = Buffer.alloc(20)
    tried.set(Buffer.from(parameters.nonce, "hex"))
    tried.writeUInt32BE(counter, 16)
    const key = pbkdf2Sync(tried, salted, parameters.cost, parameters.keyLength, "sha256").toString("hex")
    if (key.startsWith(parameters.keyPrefix)) return { counter, derivedKey: key }
  }
}
