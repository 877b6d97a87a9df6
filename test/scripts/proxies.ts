/**
 * A shop behind each installed proxy and `usher gate` is reached by nobody without a grant: attacks, a visitor's way
 * through the room, an ended grant, and an Usher that is killed. Examples:
 *
 *     npm run prove -- proxies
 *     npm run prove -- proxies --only haproxy --each 5
 */
import { firstToReach, proxiesProof, Ushers } from "../e2e/proofs/gates/ProxiesProof.ts"
import { proxyNames, versionOf, type WeaknessName, weaknesses } from "../e2e/support/gates/Proxies.ts"
import { conclude, options } from "./Report.ts"

const { only, each } = options({ only: "", each: 1 })

const closedMillisMax = 1_000
const backMillisMax = 2_000

let ran = 0
for (const name of proxyNames.filter((one) => only === "" || one === only)) {
  const version = versionOf(name)
  if (version === undefined) {
    console.log(`\n${name} is not installed, did not run`)
    continue
  }
  await using ushers = await Ushers.make()
  const found = await proxiesProof(name, ushers, { each })
  const mistakes = Object.keys(weaknesses) as ReadonlyArray<WeaknessName>
  const unseen: Array<string> = []
  for (const mistake of mistakes) {
    if ((await firstToReach(name, ushers, mistake)) === undefined)
      unseen.push(`${name}: no attack finds the mistake "${mistake}"`)
  }
  ran += 1
  conclude(
    `nobody passes ${name} ${version} without a grant`,
    {
      attacks: found.attacks,
      "reached other pages": found.harmless,
      "Usher killed, then as declared": `${found.closedMillis.toFixed(0)} ms, at most ${closedMillisMax}`,
      "Usher back, then as usual": `${found.backMillis.toFixed(0)} ms, at most ${backMillisMax}`,
      "requests with a cookie meanwhile": found.asked,
      "refused of them": found.refused,
      "mistakes in the configuration, found": `${mistakes.length - unseen.length} of ${mistakes.length}`
    },
    [...found.violations, ...unseen],
    found.attacks > 0 && found.closedMillis <= closedMillisMax && found.backMillis <= backMillisMax
  )
}
if (ran === 0) conclude("a shop behind a proxy", { proxies: "none is installed" }, [], false)
