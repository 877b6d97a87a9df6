/**
 * R17: a mechanism with an unreadable journal next to 50 others, in one process and among three nodes.
 *
 *     npm run prove -- poison --seconds 20
 */
import { poisonProof } from "../e2e/proofs/PoisonProof.ts"
import { conclude, options } from "./Report.ts"

const { seconds } = options({ seconds: 20 })
const shareMin = 0.95

for (const nodes of [1, 3]) {
  const figures = await poisonProof({ nodes, seconds })
  const share = figures.paceDuring / figures.paceBefore
  conclude(
    `a failing mechanism affects no other (${nodes === 1 ? "one process" : `${nodes} nodes, its owner killed`})`,
    {
      "healthy mechanisms": figures.healthy,
      "requests a second before": figures.paceBefore.toFixed(0),
      "requests a second during it": `${figures.paceDuring.toFixed(0)} (${(share * 100).toFixed(1)} %)`,
      "requests that it refused": figures.refused,
      "reported as parked after": `${figures.parkedMillis.toFixed(0)} ms`,
      "served again after unparking": `${figures.servedMillis.toFixed(0)} ms`
    },
    figures.violations,
    share >= shareMin && figures.refused > 0
  )
}
