/**
 * Ten times as many visitors as may be inside come to a shop behind nginx and `usher gate`. The shop counts for itself:
 * never more inside than the limit, nor more new ones than the rate; nobody inside is refused, and without a crowd
 * nobody notices the gate. Examples:
 *
 *     npm run prove -- site-crowd --seconds 300
 *     npm run prove -- site-crowd --seconds 20 --limit 8
 */
import { siteCrowdProof } from "../e2e/proofs/gates/SiteCrowdProof.ts"
import { versionOf } from "../e2e/support/gates/Proxies.ts"
import { conclude, options } from "./Report.ts"

const { seconds, limit } = options({ seconds: 300, limit: 48 })

const engagedMillisMax = 2_000
/** Visitors who come back from the room are admitted up to so long before the shop sees them. */
const backSecondsMax = 3

if (versionOf("nginx") === undefined) {
  conclude("a crowd at a shop", { nginx: "not installed, did not run" }, [], false)
} else {
  const found = await siteCrowdProof({ seconds, insideLimit: limit })
  const { quiet, crowd, others, ratePerSecond } = found
  const newMax = ratePerSecond * (10 + 1 + backSecondsMax)
  const holds =
    found.insideMax <= limit &&
    found.insideMax > 0 &&
    found.newInTenSecondsMax <= newMax &&
    found.refused === 0 &&
    quiet.redirects === 0 &&
    Object.keys(others).length === 0 &&
    crowd.redirects > 0 &&
    found.engagedMillis <= engagedMillisMax
  conclude(
    "a crowd does not reach a shop, and those inside do not notice it",
    {
      "new visitors in the crowd": `${crowd.visitors}, ${found.arrivalsPerSecond} a second`,
      "entered at once or from the room": `${crowd.entered}, ${crowd.waited} of them from the room`,
      "led to the room": crowd.redirects,
      neither: JSON.stringify(others),
      "inside at once, as the shop counts": `${found.insideMax}, at most ${limit}`,
      "new ones in 10 s, as the shop counts": `${found.newInTenSecondsMax}, at most ${newMax}`,
      "page views inside, refused": `${found.views}, ${found.refused}`,
      "without a crowd, led to the room": `${quiet.redirects} of ${quiet.visitors}`,
      "engaged after": `${found.engagedMillis.toFixed(0)} ms, at most ${engagedMillisMax}`,
      "not engaged any more after": `${found.disengagedMillis.toFixed(0)} ms`,
      "longest pause of the visitors' own process": `${found.pausedMillisMax.toFixed(0)} ms`
    },
    holds ? [] : found.notes,
    holds
  )
}
