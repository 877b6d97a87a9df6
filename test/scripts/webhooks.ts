/**
 * R22: the server is killed at random times while it delivers webhooks to receivers that fail, hang, redirect and
 * answer slowly.
 *
 *     npm run prove:webhooks -- --kills 1000 --seed 1
 */
import { webhookProof } from "../e2e/proofs/webhook/WebhookProof.ts"
import { conclude, options, spread } from "./Report.ts"

const { kills, seed } = options({ kills: 1_000, seed: 1 })

const figures = await webhookProof({
  kills,
  seed,
  onKill: (kill, { requests, refused, violations }) =>
    console.log(`kill ${kill}: ${requests} requests, ${refused} refused, ${violations.length} violations`)
})

conclude(
  "each event arrives at each receiver at least once, each lane in order, with the same id every time",
  {
    kills: figures.kills,
    "events for each receiver": figures.events,
    requests: figures.requests,
    "refused by receivers": figures.refused,
    "arrived more than once": figures.repeated,
    missing: figures.missing,
    "from ready to the first request": spread(figures.resumedMillis)
  },
  figures.violations,
  figures.kills === kills && figures.missing === 0 && figures.repeated > 0 && figures.events > kills
)
