/** P20: how long after its grant has lapsed a unit is offered to somebody else, by way of the stock, with and without load. */
import { type Bench, inTurns, measureEntries, type Measured, withProgram } from "../Bench.ts"
import { type Inspectable, usher } from "../programs/Usher.ts"
import { atMost, type ScenarioResult, scenarioResult } from "../report/Figures.ts"
import { adminOf, sequenceOf } from "./Bids.ts"
import { connections } from "./DurableEntries.ts"
import { createStock } from "./StockSales.ts"

const names = { idle: "usher, idle", loaded: "usher, entries in another queue" } as const

/** Grants that lapse. */
const units = 300

/** People who hold a grant, or wait for one, enter in groups, so that grants lapse over some seconds. */
const groupSize = 10
const pauseMillis = 150

const expirationSeconds = 10

/** Entries a second in the other queue. */
const perSecond = 1_500

export async function lapsedUnits(bench: Bench): Promise<ScenarioResult> {
  const variants = [{ name: names.idle }, { name: names.loaded }]
  const figures = await inTurns(bench, "P20", variants, ({ name }) =>
    withProgram(usher(bench.setup), 0, async (running): Promise<Measured> => {
      const { queueId, waitlistId } = await createSellers(bench, running)
      const entries = enterBoth(bench, running, { queueId, waitlistId })
      const seconds = ((units / groupSize) * 2 * pauseMillis) / 1_000 + expirationSeconds
      const spans = { ...bench.spans, warmup: 0, measured: Math.ceil(seconds) }
      if (name === names.loaded) await measureEntries(bench, running, { connections, waiting: 0, spans, perSecond })
      await entries
      return delaysOf(await offersAfterLapses(bench, running, { queueId, waitlistId }))
    })
  )
  return scenarioResult({
    title: `P20  A lapsed unit is offered again: ${units} grants of a queue, and a waitlist that gets its units`,
    figures,
    targets: Object.values(names).map((name) =>
      atMost(`p99 ≤ 1 s (${name})`, figures[name]?.["delayP99Milliseconds"]?.median, 1_000)
    ),
    notes: [
      "The delay is from the instant at which a grant lapses to that of the offer, in the journals of the two mechanisms, in their order.",
      `The load is ${perSecond.toLocaleString("en")} entries a second into another queue of the same process, open loop.`
    ]
  })
}

/** Creates a queue that sells all units of a stock, and a waitlist that offers what the queue does not sell. */
async function createSellers(bench: Bench, running: Inspectable) {
  const admin = adminOf(bench, running)
  const sequenceId = await sequenceOf(bench, running)
  const stockId = await createStock(bench, running, units)
  const shared = { sequenceId, stockId }
  const own = { admitRate: 60_000, admissionExpirationSeconds: expirationSeconds }
  const { id: queueId } = await admin("POST", "/queues", { ...shared, ...own, name: "Sells first" })
  const offering = { offers: true, admissionExpirationSeconds: 3_600 }
  const { id: waitlistId } = await admin("POST", "/waitlists", { ...shared, ...offering, name: "Gets the rest" })
  const takers = [{ distributionId: queueId, upTo: units }, { distributionId: waitlistId }]
  await admin("PUT", `/stocks/${stockId}`, { takers })
  return { queueId: queueId as string, waitlistId: waitlistId as string }
}

interface Sellers {
  readonly queueId: string
  readonly waitlistId: string
}

/** Lets people into the queue until it has given away all units, and as many others into the waitlist. */
async function enterBoth(bench: Bench, running: Inspectable, { queueId, waitlistId }: Sellers): Promise<void> {
  const { secretKey } = bench.setup.fixture
  const admin = adminOf(bench, running)
  const consumers = Array.from({ length: 2 * units }, (_, number) => ({ externalId: `lapsed-${number}` }))
  const ids: Array<string> = []
  for (let from = 0; from < consumers.length; from += units) {
    const { data } = await admin("POST", "/consumers/batch", { consumers: consumers.slice(from, from + units) })
    ids.push(...(data as ReadonlyArray<{ id: string }>).map(({ id }) => id))
  }
  const enter = async (path: string, consumerId: string) => {
    const headers = { authorization: `Bearer ${secretKey}`, "x-consumer-id": consumerId }
    const answer = await fetch(`http://127.0.0.1:${running.port}/api${path}/enter`, { method: "POST", headers })
    if (!answer.ok) throw new Error(`an entry answered ${answer.status}: ${await answer.text()}`)
  }
  for (const [path, some] of [
    [`/queues/${queueId}`, ids.slice(0, units)],
    [`/waitlists/${waitlistId}`, ids.slice(units)]
  ] as const) {
    for (let from = 0; from < some.length; from += groupSize) {
      await Promise.all(some.slice(from, from + groupSize).map((id) => enter(path, id)))
      await new Promise((resume) => setTimeout(resume, pauseMillis))
    }
  }
}

/** The longest time until every unit is offered again. */
const offersMillisMax = 60_000

/** Waits until every unit is offered. Returns the milliseconds from each lapse to the offer of its place. */
async function offersAfterLapses(bench: Bench, running: Inspectable, { queueId, waitlistId }: Sellers) {
  const until = Date.now() + offersMillisMax
  for (;;) {
    const lapses = await instantsOf(bench, running, queueId, "Expired")
    const offers = await instantsOf(bench, running, waitlistId, "Offered")
    if (lapses.length === units && offers.length === units) return offers.map((at, place) => at - lapses[place]!)
    if (Date.now() > until) throw new Error(`${lapses.length} grants lapsed, and ${offers.length} units were offered`)
    await new Promise((resume) => setTimeout(resume, 500))
  }
}

/** Returns when the events of a type happened, in their order. */
async function instantsOf(bench: Bench, running: Inspectable, id: string, type: string) {
  const found: Array<number> = []
  for (let after = ""; ;) {
    const page = await adminOf(bench, running)("GET", `/distributions/${id}/history?first=100${after}`)
    const events = page["data"] as ReadonlyArray<{ readonly type: string; readonly at: string }>
    found.push(...events.filter((event) => event.type === type).map(({ at }) => Date.parse(at)))
    if (events.length < 100) return found
    after = `&after=${encodeURIComponent((page["pageInfo"] as { endCursor: string }).endCursor)}`
  }
}

const delaysOf = (delays: ReadonlyArray<number>): Measured => {
  const sorted = delays.toSorted((a, b) => a - b)
  const rank = (share: number) => sorted[Math.ceil(share * sorted.length) - 1]!
  return { delayP99Milliseconds: rank(0.99), delayP50Milliseconds: rank(0.5), delayMaxMilliseconds: sorted.at(-1)! }
}
