/**
 * Upgrades nodes to the next release one after another, under load of every kind through all nodes, goes back to the
 * former release, forward again, and finishes the upgrade. Compares the responses that clients received with the journal.
 * No mechanism may be parked or be out of service for long.
 */
import * as FreshDatabase from "../../support/FreshDatabase.ts"
import { Apis, type Guest } from "../../support/Apis.ts"
import { Dice } from "../../support/Dice.ts"
import { type Findings, Setup, noFindings } from "../../load/Setup.ts"
import { Ledger } from "../../load/Ledger.ts"
import { Load } from "../../load/Load.ts"
import { Nodes, nodeSettings, ownedBy } from "../../support/Nodes.ts"
import { PatientConnections } from "../../support/PatientConnections.ts"
import { ServerUnderTest } from "../../support/ServerUnderTest.ts"
import { longestWait, watchExchanges } from "../NodesProof.ts"

/** A release: the file that is its command line. */
export interface Build {
  readonly name: "former" | "next"
  readonly main: string
}

export interface Options {
  readonly former: Build
  readonly next: Build
  readonly seed: number
  /** Default: 2. */
  readonly nodes?: number
  /** How often all nodes go forward and back before the last time. Default: 0, only the first node goes back. */
  readonly returns?: number
  /** Guests that visit at the same time. Default: 16. */
  readonly workers?: number
  readonly onStep?: (step: string, figures: Figures) => void
}

/** Times are milliseconds. */
export interface Figures extends Findings {
  /** Nodes that were stopped and started as the other release. */
  switches: number
  /** The longest wait for a response in each mechanism whose node was switched. */
  readonly waits: Array<number>
  /** Requests in flight at a node when it received SIGTERM. */
  inFlight: number
  retries: number
  /** Mechanisms that were parked at any time. */
  parked: number
  /** The level that the installation writes at the end. */
  level: number
  readonly startMillis: Array<number>
}

const restMillisMax = 40
/** Queues for measuring waits; enough for every node to own some. */
const watchedQueues = 16

export async function upgradeProof(options: Options): Promise<Figures> {
  const { former, next, seed, workers = 16, returns = 0 } = options
  const dice = new Dice(seed)
  const figures: Figures = {
    ...noFindings(),
    switches: 0,
    waits: [],
    inFlight: 0,
    retries: 0,
    parked: 0,
    level: 0,
    startMillis: []
  }
  await using database = await FreshDatabase.makeEmpty()
  await using nodes = await Nodes.make({ count: options.nodes ?? 2, database })
  // The first one makes the tables.
  for (const node of nodes.all) await node.start([former.main, "serve"])
  const keys = await nodes.all[0]!.createOrganization()
  using clients = new Apis(nodes.all, keys, workers)
  using apis = new Apis(nodes.all, keys, workers, PatientConnections)
  const setup = await Setup.make(apis, dice)
  const ledger = new Ledger()
  const load = new Load(clients, ledger, dice, workers, { restMillisMax })
  load.mechanisms = setup.mechanisms
  const queueIds = await apis.createQueues(watchedQueues, {})
  const guest = await apis.guest()

  const switchTo = async (build: Build, node: ServerUnderTest): Promise<void> => {
    using others = new Apis(nodes.except(node), keys, 2 * watchedQueues, PatientConnections)
    await switched({ node, build, others, clients, queueIds, guest, figures })
    await setup.checkUnder(load, ledger, figures, dice)
    figures.parked += await parkedIn(database)
    figures.retries = load.retries
    options.onStep?.(`${node.name} is ${build.name}`, figures)
  }
  const finish = () => nodes.all[0]!.usher(["upgrade", "finish", "--json"], next.main)
  /** Two builds of one release have nothing to finish. */
  const isPending = async () => {
    const text = await nodes.all[0]!.usher(["upgrade", "status", "--json"], next.main)
    return (JSON.parse(text) as { isPending: boolean }).isPending
  }
  const [first] = nodes.all

  try {
    await switchTo(next, first!)
    const isAnother = await isPending()
    if (isAnother) await expectRefusal(finish(), "former", figures)
    await switchTo(former, first!)
    for (let round = 0; round < returns; round++) {
      for (const node of nodes.all) await switchTo(next, node)
      for (const node of nodes.all) await switchTo(former, node)
    }
    for (const node of nodes.all) await switchTo(next, node)
    figures.level = (JSON.parse(await finish()) as { level: number }).level
    const late = await ServerUnderTest.make({ sharing: first!, settings: await nodeSettings() })
    if (isAnother) await expectRefusal(late.start([former.main, "serve"]), "upgrade is finished", figures)
    else await late.start([former.main, "serve"])
    await late[Symbol.asyncDispose]()
    // Meanwhile the load was written at the new level.
    await setup.checkUnder(load, ledger, figures, dice)
  } catch (error) {
    const logs = nodes.all.map(({ name, log }) => `${name}:\n${log}`).join("\n")
    throw new Error(`after ${figures.switches} switches:\n${logs}`, { cause: error })
  } finally {
    await load.stop()
  }
  await setup.summarize(ledger, figures)
  figures.parked += await parkedIn(database)
  return figures
}

interface Scene {
  readonly node: ServerUnderTest
  readonly build: Build
  readonly others: Apis
  /** The load's own connections. */
  readonly clients: Apis
  readonly queueIds: ReadonlyArray<string>
  readonly guest: Guest
  readonly figures: Figures
}

/** Stops a node and starts it as another release. Measures its mechanisms meanwhile. */
async function switched({ node, build, others, clients, queueIds, guest, figures }: Scene): Promise<void> {
  const own = await ownedBy(others, node, queueIds)
  let goneAt = Infinity
  const waits = own.map((queueId) => longestWait(others, queueId, guest, (sentAt) => sentAt > goneAt))
  const stopWatching = watchExchanges(clients, node, "leave", figures)
  const ending = await node.terminate()
  if (ending.code !== 0) {
    figures.violations.push(`a leaving node exited with ${ending.signal ?? ending.code}:\n${node.log}`)
  }
  goneAt = performance.now()
  figures.waits.push(...(await Promise.all(waits)))
  stopWatching()
  figures.startMillis.push(await node.start([build.main, "serve"]))
  figures.switches += 1
}

/** Reports a violation unless the attempt fails with this text. */
async function expectRefusal(attempt: Promise<unknown>, text: string, figures: Figures): Promise<void> {
  const message = await attempt.then(
    () => "it was not refused",
    (error: unknown) => String(error)
  )
  if (!message.includes(text)) figures.violations.push(`expected a refusal with "${text}": ${message}`)
}

const parkedIn = async ({ url }: FreshDatabase.FreshDatabase): Promise<number> => {
  if (url === undefined) return 0
  const rows = await FreshDatabase.query(url, (sql) => sql`select from parked_mechanisms`)
  return rows.length
}
