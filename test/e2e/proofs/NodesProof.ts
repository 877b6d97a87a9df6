/**
 * Kills nodes and stops others gracefully, one after another, under load of every kind through all nodes. Every second kill
 * comes between the messages of nodes: after a command has arrived, and before its answer leaves. Compares the
 * responses that clients received with the journal. No mechanism may be out of service for long, no timer may be lost,
 * and subscribers must receive every event.
 */
import { Apis, type Guest } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import { SubscribedPlaces } from "../load/SubscribedPlaces.ts"
import { type Findings, Setup, noFindings } from "../load/Setup.ts"
import type { Exchange } from "../support/HttpConnections.ts"
import { Ledger } from "../load/Ledger.ts"
import { Load } from "../load/Load.ts"
import { ownedBy, Nodes } from "../support/Nodes.ts"
import { PatientConnections } from "../support/PatientConnections.ts"
import { pause } from "../support/Processes.ts"
import { Watch } from "./PunctualProof.ts"
import { failingAt, type Keys, type ServerUnderTest } from "../support/ServerUnderTest.ts"

export interface Options {
  /** Seconds during which nodes are killed. */
  readonly seconds: number
  /** The number of nodes that then stop gracefully, one after another. Default: all. */
  readonly leaves?: number
  readonly seed: number
  readonly nodes?: number
  /** Guests that visit at the same time. Default: 16. */
  readonly workers?: number
  /** Seconds between kills; longer if reading the journal takes longer. */
  readonly killSeconds?: number
  readonly onRound?: (round: Round, figures: Figures) => void
}

export type Round = "kill" | "leave"

/** Times are milliseconds. */
export interface Figures extends Findings {
  kills: number
  /** The kills between the message with a command and the one with its answer. */
  killsBetween: number
  leaves: number
  /** The longest wait for a response in each mechanism whose owner was killed or left. */
  readonly waits: { readonly [R in Round]: Array<number> }
  /** The lateness of each timed transition that was due around the time when its owner stopped. */
  readonly late: { readonly [R in Round]: Array<number> }
  /** Live streams that continued or were resumed. */
  streams: number
  /** Requests in flight at a node when it received SIGTERM. */
  inFlight: number
  /** Repeated attempts: refused with 503, or sent to a stopped node. */
  retries: number
  readonly restartMillis: Array<number>
}

const restMillisMax = 40
/** Queues for measuring waits and streams; enough for every node to own some. */
const watchedQueues = 24
const timersPerRound = 12
/** Kills between renewals of the lasting mechanisms, so that their histories stay short. */
const killsPerDrop = 6

export async function nodesProof(options: Options): Promise<Figures> {
  const { seconds, seed, workers = 16, killSeconds = 10 } = options
  const dice = new Dice(seed)
  const figures: Figures = {
    ...noFindings(),
    kills: 0,
    killsBetween: 0,
    leaves: 0,
    waits: { kill: [], leave: [] },
    late: { kill: [], leave: [] },
    streams: 0,
    inFlight: 0,
    retries: 0,
    restartMillis: []
  }
  await using nodes = await Nodes.make({ count: options.nodes ?? 3 })
  await nodes.start(() => failing(dice))
  const keys = await nodes.all[0]!.createOrganization()
  using apis = new Apis(nodes.all, keys, workers, PatientConnections)
  await using watch = await Watch.open(nodes.all[0]!, apis)
  const sequenceId = await apis.createSequence()
  const queueIds = await apis.createQueues(watchedQueues, {}, sequenceId)
  const stage: Stage = { sequenceId, queueIds, guest: await apis.guest() }
  const setup = await Setup.make(apis, dice)
  const ledger = new Ledger()
  using clients = new Apis(nodes.all, keys, workers)
  const load = new Load(clients, ledger, dice, workers, { restMillisMax })
  load.mechanisms = setup.mechanisms

  const play = async (round: Round, node: ServerUnderTest): Promise<void> => {
    try {
      await goneAndBack({ round, node, nodes, keys, stage, watch, clients, dice, figures })
    } catch (error) {
      const logs = nodes.all.map(({ name, log }) => `${name}:\n${log}`).join("\n")
      throw new Error(`in the round "${round}" of ${node.name}:\n${logs}`, { cause: error })
    }
    await setup.checkUnder(load, ledger, figures, dice, figures.kills % killsPerDrop === 0)
    figures.retries = load.retries
    options.onRound?.(round, figures)
  }
  try {
    const begun = performance.now()
    for (
      let next = begun;
      next < begun + seconds * 1_000;
      next = Math.max(next + killSeconds * 1_000, performance.now())
    ) {
      await pause(Math.max(0, next - performance.now()))
      await play("kill", dice.pick(nodes.all))
      figures.kills += 1
    }
    for (const node of nodes.all.slice(0, options.leaves)) {
      await play("leave", node)
      figures.leaves += 1
    }
  } finally {
    await load.stop()
  }
  await setup.summarize(ledger, figures)
  return figures
}

/** The queues that the rounds measure, their sequence, and a guest that sends requests to them. */
interface Stage {
  readonly queueIds: ReadonlyArray<string>
  readonly sequenceId: string
  readonly guest: Guest
}

interface Scene {
  readonly round: Round
  readonly node: ServerUnderTest
  readonly nodes: Nodes
  readonly keys: Keys
  readonly stage: Stage
  readonly watch: Watch
  /** The load's own connections. */
  readonly clients: Apis
  readonly dice: Dice
  readonly figures: Figures
}

/** Stops one node and starts it again. Observes all its mechanisms meanwhile. */
async function goneAndBack({ round, node, nodes, keys, stage, watch, clients, dice, figures }: Scene): Promise<void> {
  const survivors = nodes.except(node)
  using others = new Apis(survivors, keys, 2 * watchedQueues, PatientConnections)
  const own = await ownedBy(others, node, stage.queueIds)
  if (own.length === 0) throw new Error(`none of ${watchedQueues} queues are owned by ${node.name}`)
  const places = await SubscribedPlaces.open(others, node, survivors, dice.pick(own), dice)

  const goesAt = Date.now() + 1_200
  const timers = await timersAbout(others, stage.sequenceId, goesAt, dice)
  const ownTimers = await ownedBy(others, node, [...timers.keys()])
  const awaited = ownTimers.map((mechanismId) => ({
    name: round,
    dueAt: timers.get(mechanismId)!,
    shows: { in: "journal", mechanismId, type: "Closed" } as const
  }))
  const seen = watch.awaitAll(awaited, 0)

  let goneAt = Infinity
  const waits = own.map((queueId) => longestWait(others, queueId, stage.guest, (sentAt) => sentAt > goneAt))
  await pause(Math.max(0, goesAt - Date.now()))
  const stopWatching = watchExchanges(clients, node, round, figures)
  if (round === "kill") await killed(node, figures)
  else {
    const ending = await node.terminate()
    if (ending.code !== 0)
      figures.violations.push(`a leaving node exited with ${ending.signal ?? ending.code}:\n${node.log}`)
  }
  goneAt = performance.now()

  figures.waits[round].push(...(await Promise.all(waits)))
  for (const {
    at,
    awaited: { dueAt }
  } of await seen) {
    if (at === undefined) figures.violations.push(`${round}: a timer was lost`)
    else figures.late[round].push(at - dueAt)
  }
  const problems = await places.resume(round === "kill" ? "cut" : "ended")
  figures.streams += 3
  figures.violations.push(...problems.map((problem) => `${round}: ${problem}`))
  stopWatching()
  figures.restartMillis.push(await node.start(failing(dice)))
}

/** A node that kills itself when an actor has decided, committed or answered, but before the answers leave the node. */
const failing = (dice: Dice) => failingAt(dice.pick(["decided", "committed", "answered"]), dice.between(1, 20))

/** Every other kill comes between messages. The queues that the round measures are asked all the time. */
async function killed(node: ServerUnderTest, figures: Figures): Promise<void> {
  if (figures.kills % 2 !== 0) return node.kill()
  node.signal("SIGUSR2")
  const ending = await node.untilEnded(240)
  if (ending?.signal !== "SIGKILL") throw new Error(`the failpoint of ${node.name} did not fire`)
  figures.killsBetween += 1
}

/** Creates timed releases that close around the time when the node stops. Returns their closing times by id. */
async function timersAbout(
  apis: Apis,
  sequenceId: string,
  goesAt: number,
  dice: Dice
): Promise<ReadonlyMap<string, number>> {
  const timers = new Map<string, number>()
  for (let number = 0; number < timersPerRound; number++) {
    const closeAt = goesAt + dice.between(300, 3_000)
    const settings = { sequenceId, name: "timer", closeAt: new Date(closeAt).toISOString() }
    timers.set(await apis.create("/timed-releases", settings), closeAt)
  }
  return timers
}

/**
 * Enters and leaves repeatedly until `isOver` returns true for a completed request. Returns the guest's longest wait
 * for a response, retries included.
 */
export async function longestWait(
  apis: Apis,
  queueId: string,
  guest: Guest,
  isOver: (sentAt: number) => boolean
): Promise<number> {
  let longest = 0
  for (;;) {
    for (const action of ["enter", "leave"] as const) {
      const sentAt = performance.now()
      await apis[action](queueId, guest)
      longest = Math.max(longest, performance.now() - sentAt)
      if (isOver(sentAt)) return longest
      await pause(20)
    }
  }
}

/** Reports failed requests. Only requests to the stopping node may fail, and none that a leaving node had started. */
export function watchExchanges(
  { consumer }: Apis,
  node: ServerUnderTest,
  round: Round,
  figures: Pick<Figures, "inFlight" | "violations">
): () => void {
  const goesAt = performance.now()
  consumer.onEnd = ({ to, what, sentAt, endedAt, outcome }: Exchange) => {
    const isOfNode = to === node.consumerUrl
    const wasInFlight = sentAt < goesAt && endedAt > goesAt
    if (isOfNode && wasInFlight && round === "leave") figures.inFlight += 1
    const mayFail = isOfNode && (round === "kill" || !wasInFlight)
    const hasFailed = typeof outcome === "string" || (outcome >= 500 && outcome !== 503)
    if (hasFailed && !mayFail)
      figures.violations.push(`${round}: ${what} at ${isOfNode ? "the stopping node" : "another node"}: ${outcome}`)
  }
  return () => (consumer.onEnd = undefined)
}
