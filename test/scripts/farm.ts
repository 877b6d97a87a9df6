/**
 * S11: a drop of people, and a farm of scripted guests behind a few addresses. With the default gate the farm's share of
 * the grants must be at most a tenth of its share without, also where clients come to a site behind a gate first.
 *
 *     npm run prove -- farm --people 2000 --bots 20000 --addresses 50 --cores 4
 */
import { farmProof } from "../e2e/proofs/attacks/FarmProof.ts"
import { conclude, options, spread } from "./Report.ts"

const chosen = options({ people: 2_000, bots: 20_000, addresses: 50, cores: 4, grants: 1_000, seconds: 60 })

const { without, withGate, behindSite } = await farmProof(chosen)
const percent = (part: number) => `${(100 * part).toFixed(1)} %`
const missing = [without, withGate, behindSite].map(({ people }) => chosen.people - people)

conclude(
  "a farm gets at most a tenth of the share that it had without the gate",
  {
    "without: people, bots in the lobby": `${without.people}, ${without.bots}`,
    "without: the farm's share": percent(without.share),
    "with: people, bots in the lobby": `${withGate.people}, ${withGate.bots}`,
    "with: the farm's share": percent(withGate.share),
    "challenges on a slow phone": spread(withGate.delays),
    "with, behind a site's gate: people, bots in the lobby": `${behindSite.people}, ${behindSite.bots}`,
    "with, behind a site's gate: the farm's share": percent(behindSite.share)
  },
  missing.flatMap((count) => (count > chosen.people / 100 ? [`${count} people did not get in`] : [])),
  withGate.share <= without.share / 10 && behindSite.share <= without.share / 10
)
