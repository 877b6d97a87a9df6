/**
 * Kills a server, or one of several nodes, at random instants while two mechanisms, orders, cancellations and staff work
 * on one variant. After each kill every unit is in one place, and no more are sold than there are.
 */
import type { TransferStep } from "../../../src/store/journal/Failpoint.ts"
import { stageOf, StockLoad } from "../load/StockLoad.ts"
import { Apis } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import { type Reading, readStock } from "../invariants/StockReader.ts"
import { Nodes } from "../support/Nodes.ts"
import { PatientConnections } from "../support/PatientConnections.ts"
import { pause } from "../support/Processes.ts"
import { failingAt, ServerUnderTest } from "../support/ServerUnderTest.ts"

export interface Options {
  readonly kills: number
  readonly seed: number
  /** 1: a server without a cluster. */
  readonly nodes: number
  /** Where the server kills itself, in turn. Default: it is killed at random instants. Only on one process. */
  readonly steps?: ReadonlyArray<TransferStep>
  /** Clients at the same time. Default: 16. */
  readonly workers?: number
  readonly onRound?: (kill: number, reading: Reading, figures: Figures) => void
}

export interface Figures {
  kills: number
  /** The kills after which units were between the stock and a mechanism. */
  killsUnderway: number
  readonly done: StockLoad["done"]
  readonly violations: Array<string>
}

/** Kills before another stock follows, so that journals stay short. */
const killsPerStock = 10

const units = 30

/** The steps between the two events of a transfer. */
export const transferSteps: ReadonlyArray<TransferStep> = ["unitsUntold", "unitsTold"]

/** Passes of a failpoint until the kill. */
const passesMax = 12

/** The longest time until the load has reached a failpoint, on a machine with many times more work than cores. */
const failsSecondsMax = 240

/** Tenths of a second until the first order has to be written. */
const firstOrderWaitsMax = 1_200

/** Runs the proof. Throws only if a server cannot start again. */
export async function stockProof(options: Options): Promise<Figures> {
  const { kills, seed, nodes: count, steps, workers = 16 } = options
  const dice = new Dice(seed)
  await using nodes = count === 1 ? await alone() : await Nodes.make({ count })
  const programOf = (kill: number) => steps && failingAt(steps[kill % steps.length]!, dice.between(1, passesMax))
  await Promise.all(nodes.all.map((node) => node.start(programOf(0))))
  const [first] = nodes.all
  const url = first!.database.url
  if (url === undefined) throw new Error("needs a Postgres server: start one, or name it in DATABASE_URL")
  using apis = new Apis(nodes.all, await first!.createOrganization(), workers, PatientConnections)
  const load = new StockLoad(apis, dice, workers)
  const figures: Figures = { kills: 0, killsUnderway: 0, done: load.done, violations: [] }
  let stage = await stageOf(apis, units)
  load.stage = stage
  // A slow machine writes no order in the seconds before a first kill.
  for (let waits = 0; load.done.orders === 0 && waits < firstOrderWaitsMax; waits++) await pause(100)
  try {
    while (figures.kills < kills) {
      const node = dice.pick(nodes.all)
      await pause(dice.between(100, 3_000))
      await (steps === undefined ? node.kill() : untilFailed(node))
      figures.kills++
      await node.start(programOf(figures.kills))
      const resume = await load.paused()
      const reading = await readStock(url, stage.stockId, stage.kinds)
      note(figures, reading, load)
      options.onRound?.(figures.kills, reading, figures)
      const isNext = figures.kills % killsPerStock === 0
      if (isNext) {
        for (const [id, kind] of Object.entries(stage.kinds)) {
          await apis.doAsAdmin("POST", `/${kind === "queue" ? "queues" : "timed-releases"}/${id}/end`)
        }
        stage = await stageOf(apis, units)
      }
      resume(stage)
    }
  } finally {
    await load.stop()
  }
  return figures
}

const untilFailed = async (server: ServerUnderTest) => {
  server.signal("SIGUSR2")
  const ending = await server.untilEnded(failsSecondsMax)
  if (ending?.signal !== "SIGKILL") throw new Error(`the failpoint did not fire:\n${server.log}`)
}

const alone = async () => {
  const server = await ServerUnderTest.make()
  return { all: [server], [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

const note = (figures: Figures, { underway, violations }: Reading, load: StockLoad): void => {
  if (underway > 0) figures.killsUnderway++
  figures.violations.push(
    ...violations.map((violation) => `after kill ${figures.kills}: ${violation}`),
    ...load.unexpected.splice(0).map((answer) => `before kill ${figures.kills}: ${answer}`)
  )
}
