/**
 * R22: the server is killed at random times while it delivers webhooks to receivers that fail, hang, redirect and
 * answer slowly. Before that, it measures the lag of a healthy endpoint at 500 deliveries a second for some seconds, and
 * the time to catch up after the endpoint was away as long. `--lagSeconds 0` leaves that out, `--kills 0` the rest.
 *
 *     npm run prove -- webhooks --kills 1000 --seed 1
 */
import { measureLag } from "../e2e/proofs/webhook/LagMeasurement.ts"
import { webhookProof } from "../e2e/proofs/webhook/WebhookProof.ts"
import { conclude, options, spread } from "./Report.ts"

const { kills, seed, lagSeconds } = options({ kills: 1_000, seed: 1, lagSeconds: 10 })

const lag = lagSeconds === 0 ? undefined : await measureLag(lagSeconds)
if (lag !== undefined) {
  const { millis, missedEvents } = lag
  const at = (share: number) => `${millis[Math.min(millis.length - 1, Math.floor(share * millis.length))]!} ms`
  const figures = {
    "events a second": lag.offeredPerSecond.toFixed(0),
    "deliveries a second": lag.takenPerSecond.toFixed(0),
    "lag, median / p99 / longest": `${at(0.5)} / ${at(0.99)} / ${at(1)}`,
    [`caught up with ${missedEvents} events`]: `${lag.caughtUpSeconds.toFixed(1)} s after ${lagSeconds} s away`
  }
  for (const [name, figure] of Object.entries(figures)) console.log(`${name.padEnd(34)} ${figure}`)
}
if (kills === 0) process.exit(0)

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
