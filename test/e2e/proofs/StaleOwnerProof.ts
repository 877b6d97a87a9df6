/**
 * Suspends a node (SIGSTOP) for longer than its locks last, while other nodes take over and change its mechanisms. The
 * node resumes with requests in its sockets, with overdue timers, and with stale ownership. The database must refuse
 * all its writes, and its responses must not show the state before the suspension.
 */
import { Apis, type Guest } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import { type Findings, Setup, noFindings } from "../load/Setup.ts"
import type { HttpAnswer } from "../support/HttpConnections.ts"
import { read } from "../invariants/Invariants.ts"
import { Ledger } from "../load/Ledger.ts"
import { Load } from "../load/Load.ts"
import { ownedBy, Nodes } from "../support/Nodes.ts"
import { PatientConnections } from "../support/PatientConnections.ts"
import { pause } from "../support/Processes.ts"
import type { ServerUnderTest } from "../support/ServerUnderTest.ts"

export interface Figures extends Findings {
  stops: number
  /** Writes of the old owner that the database refused, according to its log. */
  refused: number
  /** Requests that the old owner received when it resumed. */
  received: number
  /** Those that it completed; the others received a 503. */
  answered: number
}

export interface Options {
  readonly rounds: number
  readonly seed: number
  /** Guests that visit at the same time. Default: 12. */
  readonly workers?: number
  readonly onRound?: (figures: Figures) => void
}

const restMillisMax = 40
const nodesCount = 3
/** Longer than a lock lasts and than the other nodes need to notice. */
const sleepMillis = 5_500
/** Time in which a resumed owner with overdue timers tries to write. */
const awakeMillis = 1_500
const queuesPerRound = 12
const guestsPerQueue = 6
/** Slow enough that consumers still wait and a timer is due when the node resumes. */
const admitRate = 30

export async function staleOwnerProof({ rounds, seed, workers = 12, onRound }: Options): Promise<Figures> {
  const dice = new Dice(seed)
  const figures: Figures = { ...noFindings(), stops: 0, refused: 0, received: 0, answered: 0 }
  await using nodes = await Nodes.make({ count: nodesCount })
  await nodes.start()
  const keys = await nodes.all[0]!.createOrganization()
  using apis = new Apis(nodes.all, keys, workers, PatientConnections)
  const setup = await Setup.make(apis, dice)
  const ledger = new Ledger()
  using clients = new Apis(nodes.all, keys, workers)
  const load = new Load(clients, ledger, dice, workers, { restMillisMax })
  load.mechanisms = setup.mechanisms
  try {
    for (; figures.stops < rounds; figures.stops += 1) {
      const node = dice.pick(nodes.all)
      using others = new Apis(nodes.except(node), keys, workers, PatientConnections)
      using own = new Apis(node, keys, 256)
      await sleepAndWake(node, others, own, ledger, figures)
      await setup.checkUnder(load, ledger, figures, dice)
      onRound?.(figures)
    }
  } finally {
    await load.stop()
  }
  await setup.summarize(ledger, figures)
  return figures
}

/** Runs one round. `others` address all nodes except this one; `own` addresses only this one. */
async function sleepAndWake(
  node: ServerUnderTest,
  others: Apis,
  own: Apis,
  ledger: Ledger,
  figures: Figures
): Promise<void> {
  const queues = await queuesOf(node, others)
  const waiting = new Map<string, ReadonlyArray<Guest>>()
  for (const queueId of queues) {
    const guests = await Promise.all(Array.from({ length: guestsPerQueue }, () => others.guest()))
    for (const guest of guests) ledger.note("write", queueId, guest.consumerId, await others.enter(queueId, guest))
    waiting.set(queueId, guests)
  }
  const late = await Promise.all(queues.map(() => own.guest()))
  const refusedBefore = refusals(node)

  node.signal("SIGSTOP")
  const received: Array<Promise<HttpAnswer | undefined>> = []
  try {
    await pause(sleepMillis)
    // The other nodes take over and admit all waiting consumers.
    for (const [queueId, guests] of waiting) {
      for (const { consumerId } of guests) {
        ledger.note("write", queueId, consumerId, await others.act(queueId, "admit", consumerId))
      }
    }
    const note = (kind: "read" | "write", queueId: string, guest: Guest, sent: Promise<HttpAnswer>) => {
      const noted = sent.then((answer) => {
        if (answer.status !== 503) ledger.note(kind, queueId, guest.consumerId, answer)
        return answer.status === 503 ? undefined : answer
      })
      received.push(noted)
      return noted
    }
    queues.forEach((queueId, index) => {
      for (const guest of waiting.get(queueId)!) {
        const seen = note("read", queueId, guest, own.status(queueId, guest))
        void seen.then((answer) => {
          const status = answer?.body.status
          if (answer !== undefined && status !== "GRANTED")
            figures.violations.push(`the node showed a stale status: ${status}`)
        })
      }
      void note("write", queueId, late[index]!, own.enter(queueId, late[index]!))
    })
    await pause(100)
  } finally {
    node.signal("SIGCONT")
  }
  const answers = await Promise.all(received)
  figures.received += answers.length
  figures.answered += answers.filter((answer) => answer !== undefined).length
  await pause(awakeMillis)
  figures.refused += refusals(node) - refusedBefore
  if (!node.isRunning) figures.violations.push(`the resumed node has exited:\n${node.log}`)
  await judge(queues, others, ledger, figures)
}

/** Creates queues until the node owns some, and returns these. Which node owns a queue follows from its random id. */
async function queuesOf(node: ServerUnderTest, apis: Apis): Promise<ReadonlyArray<string>> {
  for (let tries = 0; tries < 20; tries++) {
    const queueIds = await ownedBy(apis, node, await apis.createQueues(queuesPerRound, { admitRate }))
    if (queueIds.length > 0) return queueIds
  }
  throw new Error("the node to suspend owns no queue")
}

/** Returns the number of refused writes in the node's log. */
const refusals = (node: ServerUnderTest): number => node.log.match(/mechanism failed.*JournalConflict/g)?.length ?? 0

async function judge(queueIds: ReadonlyArray<string>, apis: Apis, ledger: Ledger, figures: Figures): Promise<void> {
  for (const queueId of queueIds) {
    const history = await apis.history(queueId)
    const lost = ledger.missing(queueId, history)
    figures.lost += lost.length
    const problems = [
      ...lost.map((event) => `acknowledged but not in the journal: ${event}`),
      ...read(history).violations
    ]
    figures.violations.push(...problems.map((problem) => `queue ${queueId}: ${problem}`))
  }
}
