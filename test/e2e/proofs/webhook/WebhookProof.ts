/**
 * Kills the server at random times while it delivers webhooks under load, to receivers that fail, hang, redirect and
 * answer slowly. Afterwards each event of the journal has arrived at each receiver, each lane in order, and each event
 * had the same id and body every time.
 *
 * The proof does not wait for two pauses: it ends the lease of a killed process (10 s), and after the last kill it moves
 * the next attempts (1 min) to the present.
 */
import { Apis } from "../../support/Apis.ts"
import { Dice } from "../../support/Dice.ts"
import * as FreshDatabase from "../../support/FreshDatabase.ts"
import { pause } from "../../support/Processes.ts"
import { ServerUnderTest } from "../../support/ServerUnderTest.ts"
import { type Arrival, type Behaviour, behaviours, Receivers } from "./Receivers.ts"

export interface Options {
  readonly kills: number
  readonly seed: number
  /** Called after each kill. */
  readonly onKill?: (kills: number, figures: Figures) => void
}

export interface Figures {
  kills: number
  /** Events that each receiver subscribes to. */
  events: number
  /** Requests that arrived at all receivers, and those that a receiver refused. */
  requests: number
  refused: number
  /** Events that arrived more than once, of all receivers. */
  repeated: number
  /** Events that a receiver never got, or never accepted. */
  missing: number
  /** Milliseconds from the start of a process to its first request. */
  readonly resumedMillis: Array<number>
  readonly violations: Array<string>
}

/** The types of the journal's events. */
const types = new Map([
  ["Entered", "distribution.joined"],
  ["Granted", "distribution.admitted"],
  ["Completed", "distribution.completed"],
  ["Left", "distribution.left"]
])

const queues = 3
const workers = 6
/** The proof fails if nothing new arrives for this long. */
const deliverySecondsMax = 60

export async function webhookProof({ kills, seed, onKill }: Options): Promise<Figures> {
  const dice = new Dice(seed)
  const figures: Figures = {
    kills: 0,
    events: 0,
    requests: 0,
    refused: 0,
    repeated: 0,
    missing: 0,
    resumedMillis: [],
    violations: []
  }
  await using server = await ServerUnderTest.make({ settings: { WEBHOOK_NETWORKS: "127.0.0.0/8" } })
  await server.start()
  using apis = new Apis(server, await server.createOrganization(), workers)
  using receivers = await Receivers.make(dice)
  for (const behaviour of behaviours) await subscribe(apis, receivers, behaviour)
  const queueIds = await apis.createQueues(queues, { admitRate: 100_000 })

  const over = new AbortController()
  const load = Array.from({ length: workers }, async () => {
    while (!over.signal.aborted) await visit(apis, dice.pick(queueIds), dice)
  })
  try {
    while (figures.kills < kills) {
      await pause(dice.between(0, 400))
      await server.kill()
      await skipLeases(server)
      await server.start()
      await resumed(receivers, figures)
      figures.kills += 1
      Object.assign(figures, { requests: receivers.requests, refused: receivers.refused })
      onKill?.(figures.kills, figures)
    }
  } finally {
    over.abort()
    await Promise.all(load)
  }
  await pause(2_000)
  await compare(server, apis, queueIds, receivers, figures)
  return figures
}

async function subscribe(apis: Apis, receivers: Receivers, behaviour: Behaviour): Promise<void> {
  const body = { url: receivers.url(behaviour), events: [...types.values()] }
  const answer = await apis.doAsAdmin("POST", "/webhooks", body)
  if (answer.status !== 201) throw new Error(`POST /webhooks returned ${answer.status}`)
  receivers.secrets.set(behaviour, (answer.body as { readonly secret?: string }).secret!)
}

/** A consumer enters, and completes its grant or leaves. Requests fail while the server is away. */
async function visit(apis: Apis, queueId: string, dice: Dice): Promise<void> {
  try {
    const guest = await apis.guest()
    await apis.enter(queueId, guest)
    await pause(dice.between(20, 200))
    if (dice.chance(0.5)) await apis.act(queueId, "complete", guest.consumerId)
    else await apis.leave(queueId, guest)
  } catch {
    await pause(50)
  }
}

/** Ends the leases of the killed process, so that the next one need not wait until they expire. */
const skipLeases = async ({ database: { url } }: ServerUnderTest): Promise<void> => {
  if (url !== undefined) await FreshDatabase.query(url, (sql) => sql`delete from leases where name like 'webhook %'`)
}

/** Makes the next attempts due at once. */
const skipPauses = async ({ database: { url } }: ServerUnderTest): Promise<void> => {
  if (url === undefined) return
  await FreshDatabase.query(url, (sql) => sql`update webhook_held set retry_at = now() where retry_at > now()`)
}

/** Waits until the started process delivers. */
async function resumed(receivers: Receivers, figures: Figures): Promise<void> {
  const startedAt = performance.now()
  const before = receivers.requests
  while (receivers.requests === before) {
    if (performance.now() - startedAt > deliverySecondsMax * 1_000) {
      figures.violations.push(`no request within ${deliverySecondsMax} s after kill ${figures.kills + 1}`)
      return
    }
    await pause(5)
  }
  figures.resumedMillis.push(performance.now() - startedAt)
}

/** Waits for the deliveries, and compares what arrived with the journal. */
async function compare(
  server: ServerUnderTest,
  apis: Apis,
  queueIds: ReadonlyArray<string>,
  receivers: Receivers,
  figures: Figures
): Promise<void> {
  const expected = (await Promise.all(queueIds.map((id) => reported(apis, id)))).flat()
  const missingAt = (behaviour: Behaviour) =>
    expected.filter((id) => receivers.arrivals.get(behaviour)!.get(id)?.acceptedOrder === undefined)
  const missing = () => behaviours.map((one) => missingAt(one).length).reduce((sum, count) => sum + count)
  let fewest = Infinity
  let progressAt = performance.now()
  for (let left = missing(); left > 0; left = missing()) {
    if (left < fewest) progressAt = performance.now()
    else if (performance.now() - progressAt > deliverySecondsMax * 1_000) break
    fewest = Math.min(fewest, left)
    await skipPauses(server)
    await pause(1_000)
  }
  figures.events = expected.length
  const known = new Set(expected)
  for (const behaviour of behaviours) {
    const arrivals = receivers.arrivals.get(behaviour)!
    const missed = missingAt(behaviour)
    figures.missing += missed.length
    figures.violations.push(...missed.map((id) => `${id} was never accepted at ${behaviour}`))
    figures.repeated += [...arrivals.values()].filter(({ count }) => count > 1).length
    for (const id of arrivals.keys()) if (!known.has(id)) figures.violations.push(`${id} is not in the journal`)
    figures.violations.push(...disorder(behaviour, [...arrivals.values()]))
  }
  figures.violations.push(...receivers.violations)
  Object.assign(figures, { requests: receivers.requests, refused: receivers.refused })
}

/** The ids that the journal's events have in webhooks. */
async function reported(apis: Apis, queueId: string): Promise<ReadonlyArray<string>> {
  const events = (await apis.history(queueId)).filter(({ type }) => types.has(type))
  return events.map(({ sequence }) => `evt_${queueId.replaceAll("-", "")}_${sequence}_0`)
}

/** Finds events that first arrived before the event ahead of them in their lane was accepted. */
function disorder(behaviour: Behaviour, arrivals: ReadonlyArray<Arrival>): ReadonlyArray<string> {
  const lanes = Map.groupBy(arrivals, ({ lane }) => lane)
  return [...lanes.values()].flatMap((lane) => {
    const sorted = lane.toSorted((a, b) => a.sequence - b.sequence)
    return sorted
      .slice(1)
      .filter(({ firstOrder }, index) => firstOrder < (sorted[index]!.acceptedOrder ?? Infinity))
      .map(({ lane, sequence }) => `${behaviour}: event ${sequence} of ${lane} arrived before the one ahead of it`)
  })
}
