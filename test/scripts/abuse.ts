/**
 * S9: attacks from one address or a few, each beside honest shoppers at other addresses and the shop's own server.
 *
 *     npm run prove -- abuse --seconds 15
 *     npm run prove -- abuse --only "silent connections;bodies of 1 MiB with the public key"
 */
import { abuseProof } from "../e2e/proofs/attacks/AbuseProof.ts"
import { conclude, options } from "./Report.ts"

/** A percentile below this is not told from the noise of a machine that also makes the attack. */
const { seconds, noise, only } = options({ seconds: 15, noise: 20, only: "" })

const { outcomes } = await abuseProof({
  millis: seconds * 1_000,
  ...(only !== "" && { only: only.split(";") })
})

const violations = outcomes.flatMap(({ attack, alone, attacked, failures }) => [
  ...failures.map((failure) => `${attack}: ${failure}`),
  ...(attacked > Math.max(2 * alone, noise)
    ? [`${attack}: p99 of shoppers ${attacked.toFixed(1)} ms, ${alone.toFixed(1)} ms without the attack`]
    : [])
])

conclude(
  "attacks harm nobody else (p99 of shoppers without and with the attack)",
  Object.fromEntries(
    outcomes.map(({ attack, result, alone, attacked }) => [
      attack,
      `${alone.toFixed(1)} → ${attacked.toFixed(1)} ms; ${result}`
    ])
  ),
  violations,
  outcomes.length > 0
)
