/**
 * Measures the gate for bots and the risk of entries: processor time of a caller that passes, of its risk, of issuing and
 * verifying a challenge, and of one attempt of a client that uses OpenSSL. Each figure is the median of seven runs.
 *
 *     npm run bench:challenge
 */
import { Context, Effect, Layer } from "effect"
import { pbkdf2Sync } from "node:crypto"
import * as ProofOfWork from "../../src/auth/challenge/ProofOfWork.ts"
import { EntryRisks } from "../../src/auth/risk/EntryRisks.ts"
import { SegmentedCache } from "../../src/domain/values/SegmentedCache.ts"
import {
  type AddressArrivals,
  admitted,
  attempt,
  leastWork,
  noAddressArrivals,
  noScopeArrivals,
  workOf
} from "../../src/domain/challenge/Arrivals.ts"
import { countedNetwork } from "../../src/http/server/Origins.ts"
import { perCall } from "./perCall.ts"

const now = Date.now()
const proofs = ProofOfWork.make(new Uint8Array(32).fill(1))
const challenge = proofs.issue("guest", 50, now)
const solution = solve(challenge)
const text = Buffer.from(JSON.stringify({ challenge, solution })).toString("base64")
if (proofs.verify(text, now) === undefined) throw new Error("The solution is not accepted")

const addresses = new SegmentedCache<AddressArrivals>(100_000)
const scope = noScopeArrivals(now)
perCall("a caller that passes (its counts)", 200_000, (index) => {
  const key = `entry 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a 10.0.${(index >> 8) & 255}.${index & 255}`
  const address = addresses.get(key) ?? noAddressArrivals(now)
  addresses.set(key, address)
  attempt(address, scope, now + index * 1_000)
  if (workOf("adaptive", address, scope) === 0) admitted(address)
})
const consumerIds = Array.from(
  { length: 1_000 },
  (_, index) => `0199b2a1-7c3e-7d7a-b0f2-${`${index}`.padStart(12, "0")}`
)
const risks = Context.get(await Effect.runPromise(Effect.scoped(Layer.build(EntryRisks.layer))), EntryRisks)
perCall("the risk of its entry", 200_000, (index) => {
  const entry = {
    experienceId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a",
    consumerId: consumerIds[index % 1_000]!,
    address: `10.0.${(index >> 8) & 255}.${index & 255}`,
    networkOf: countedNetwork,
    challenge: undefined
  }
  risks.of(entry)
})
perCall("issue a challenge", 5_000, () => void proofs.issue("guest", leastWork, now))
perCall("verify a solution", 20_000, () => void proofs.verify(text, now))
perCall("refuse what is no solution", 20_000, () => void proofs.verify(`AAAA${text.slice(4)}`, now))
const salt = Buffer.alloc(16)
const password = Buffer.alloc(20)
perCall(
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
