/**
 * W1: what webhooks cost entries, how late an event arrives under a steady load, and how fast an endpoint that was away
 * catches up.
 */
import { type Bench, describe, inTurns, type Measured, measureEntries, withProgram } from "../Bench.ts"
import { atLeast, atMost, figures, median, ratios, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { type Inspectable, usher } from "../programs/Usher.ts"
import { WebhookEndpoints } from "../load/WebhookEndpoints.ts"
import { connections } from "./DurableEntries.ts"

/** More runs would take longer than four minutes. */
const roundsMax = 3

const subscribed = 10
const without = "usher, no webhook"
const withTen = "usher, ten webhooks"

/** Deliveries a second of the steady load. An entry is one event. */
const steadyPerSecond = 500

/** The longest wait for an endpoint that catches up. What is left then is a figure. */
const catchUpSecondsMax = 30

/** Webhooks may reach this machine. */
const reachable = { WEBHOOK_NETWORKS: "127.0.0.0/8" }

/** No pace but that of the endpoint. */
const unpaced = { ...reachable, WEBHOOKS_PER_SECOND: "10000" }

export async function webhooks(bench: Bench): Promise<ScenarioResult> {
  const endpoints = await WebhookEndpoints.listen()
  try {
    const fewer = { ...bench, rounds: Math.min(bench.rounds, roundsMax) }
    const inRounds = await inTurns(fewer, "W1", [{ name: without }, { name: withTen }], ({ name }) =>
      withProgram(usher(bench.setup, {}, reachable), 0, async (running) => {
        if (name === withTen) {
          for (let n = 0; n < subscribed; n++) await subscribe(bench, running, endpoints.url(`/${running.port}/${n}`))
        }
        const options = { connections, waiting: 0, spans: bench.spans }
        return describe(await measureEntries(bench, running, options), running, "entry")
      })
    )
    const steady = await withProgram(usher(bench.setup, {}, unpaced), 0, (running) =>
      measureSteady(bench, running, endpoints)
    )
    const caughtUp = {
      "one event a request": await withProgram(usher(bench.setup, {}, unpaced), 0, (running) =>
        measureCatchUp(bench, running, endpoints, "single")
      ),
      "batches of 100": await withProgram(usher(bench.setup, {}, unpaced), 0, (running) =>
        measureCatchUp(bench, running, endpoints, "batches")
      )
    }
    const against = ratios(inRounds, withTen, "entriesPerSecond")
    const single = Object.fromEntries(Object.entries(caughtUp).map(([name, measured]) => [name, figures([measured])]))
    return scenarioResult({
      title: `W1  Entries with ${subscribed} webhooks subscribed, in turns with none; lag and catching up of one`,
      figures: { ...inRounds, [`${steadyPerSecond} events a second`]: figures([steady]), ...single },
      ratios: { "no webhook": against[without]! },
      targets: [
        atLeast(`entries a second with ${subscribed} webhooks ≥ 0.97 × without`, against[without], 0.97),
        atMost("p99 of the lag ≤ 2 s at 500 deliveries a second", steady["lagP99Milliseconds"], 2_000)
      ],
      notes: [
        `Ten webhooks get each entry, at the default pace of the process: 500 deliveries a second for all of them. The rest waits for them.`,
        `The lag is from an event's own time to the arrival of its request. It and catching up are measured with WEBHOOKS_PER_SECOND=10000, one run each.`,
        `Catching up: the endpoint is disabled while entries arrive in a closed loop, then enabled, for at most ${catchUpSecondsMax} s. An hour at a rate takes an hour's events divided by the figure.`
      ]
    })
  } finally {
    endpoints.close()
  }
}

/** Lets consumers enter at a steady rate, and measures how late their events arrive. */
async function measureSteady(bench: Bench, running: Inspectable, endpoints: WebhookEndpoints): Promise<Measured> {
  const path = `/steady/${running.port}`
  await subscribe(bench, running, endpoints.url(path))
  // A process that has just started reads few events in a round.
  const spans = { ...bench.spans, warmup: bench.arguments.quick ? 2 : 5 }
  const outcome = await measureEntries(bench, running, {
    connections: 32,
    waiting: 0,
    spans,
    perSecond: steadyPerSecond
  })
  const entered = outcome.statuses["200"] ?? 0
  const missing = await untilArrived(endpoints, path, entered)
  const arrivals = [...(endpoints.arrivals.get(path)?.values() ?? [])]
  // The load begins once its tokens are signed.
  const from = arrivals.reduce((first, { at }) => Math.min(first, at), Infinity)
  const until = from + (spans.warmup + spans.measured) * 1_000
  const lags = arrivals
    .filter(({ at }) => at >= from + spans.warmup * 1_000 && at < until)
    .map(({ lagMillis }) => lagMillis)
    .toSorted((one, other) => one - other)
  return {
    deliveriesPerSecond: lags.length / spans.measured,
    lagP50Milliseconds: median(lags),
    lagP99Milliseconds: lags[Math.floor(0.99 * (lags.length - 1))] ?? Number.NaN,
    eventsMissing: missing
  }
}

/** Disables an endpoint while consumers enter, and measures how fast it gets their events afterwards. */
async function measureCatchUp(
  bench: Bench,
  running: Inspectable,
  endpoints: WebhookEndpoints,
  delivery: "single" | "batches"
): Promise<Measured> {
  const path = `/${delivery}/${running.port}`
  const id = await subscribe(bench, running, endpoints.url(path), delivery)
  await post(bench, running, `/webhooks/${id}/disable`, {})
  const outcome = await measureEntries(bench, running, { connections, waiting: 0, spans: bench.pointSpans })
  const missed = outcome.statuses["200"] ?? 0
  const from = performance.now()
  await post(bench, running, `/webhooks/${id}/enable`, { from: "cursor" })
  const left = await untilArrived(endpoints, path, missed)
  const seconds = (performance.now() - from) / 1_000
  return { eventsPerSecond: (missed - left) / seconds, eventsMissed: missed, catchUpSeconds: seconds, eventsLeft: left }
}

/** Waits until so many events have arrived, or the time is up. Returns how many are missing. */
async function untilArrived(endpoints: WebhookEndpoints, path: string, count: number): Promise<number> {
  const from = performance.now()
  while (endpoints.count(path) < count && performance.now() - from < catchUpSecondsMax * 1_000) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return count - endpoints.count(path)
}

/** Creates a webhook for entries. Returns its id. */
async function subscribe(
  bench: Bench,
  running: Inspectable,
  url: string,
  delivery: "single" | "batches" = "single"
): Promise<string> {
  const events = ["distribution.joined"]
  const { id } = await post(bench, running, "/webhooks", { url, events, delivery })
  return id
}

async function post({ setup: { fixture } }: Bench, { adminUrl }: Inspectable, path: string, body: object) {
  const headers = { authorization: `Bearer ${fixture.secretKey}`, "content-type": "application/json" }
  const answer = await fetch(`${adminUrl}/api${path}`, { method: "POST", headers, body: JSON.stringify(body) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${text}`)
  return JSON.parse(text) as { readonly id: string }
}
