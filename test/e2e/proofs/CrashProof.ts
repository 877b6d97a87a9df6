/**
 * Kills the server again and again under load and holds what clients were told against what is on record afterwards:
 * nothing acknowledged is lost, nothing unrecorded was ever seen, and the invariants of every mechanism hold, whatever its
 * kind. Draws are drawn, auctions settled and grants expire while it dies, is dead and comes back.
 */
import { Apis } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import { type Findings, Ground, noFindings } from "../load/Ground.ts"
import { Ledger } from "../load/Ledger.ts"
import { Load } from "../load/Load.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"

export interface Options {
  readonly kills: number
  readonly seed: number
  /** The proof is broken off, and has failed, if it takes longer. */
  readonly secondsMax?: number
  /** How the server is started for the next round. */
  readonly start: (server: ServerUnderTest, dice: Dice, round: number) => Promise<number>
  /** Returns when the server is dead. */
  readonly crash: (server: ServerUnderTest, dice: Dice) => Promise<void>
  /** Told after each round. */
  readonly onRound?: (round: number, figures: Figures) => void
}

export interface Figures extends Findings {
  kills: number
  /** Attempts of clients that had to be repeated. */
  retries: number
  /** From process start to ready, in milliseconds. */
  readonly restartMillis: Array<number>
}

const workers = 32
/** New lasting mechanisms after so many kills, so that what is read back stays small. */
const killsPerDrop = 10

/** Runs the proof; fails only if the server cannot be started again. */
export async function crashProof(options: Options): Promise<Figures> {
  const dice = new Dice(options.seed)
  const figures: Figures = { ...noFindings(), kills: 0, retries: 0, restartMillis: [] }
  await using server = await ServerUnderTest.make()
  await server.start()
  const keys = await server.createOrganization()
  using apis = new Apis(server, keys, workers)
  const ground = await Ground.make(apis, dice)
  await server.terminate()
  await options.start(server, dice, 0)

  const begun = performance.now()
  const ledger = new Ledger()
  const load = new Load(apis, ledger, dice, workers)
  load.mechanisms = ground.mechanisms
  try {
    while (figures.kills < options.kills) {
      if (performance.now() - begun > (options.secondsMax ?? Infinity) * 1000) {
        figures.violations.push(`only ${figures.kills} kills within ${options.secondsMax} s`)
        break
      }
      await options.crash(server, dice)
      figures.kills += 1
      figures.restartMillis.push(await options.start(server, dice, figures.kills))
      const goOn = await load.paused()
      await ground.check(ledger, figures)
      if (figures.kills < options.kills) {
        if (figures.kills % killsPerDrop === 0) await ground.renewLasting()
        await ground.addBrief(dice)
        load.mechanisms = ground.mechanisms
      }
      figures.retries = load.retries
      options.onRound?.(figures.kills, figures)
      goOn()
    }
  } finally {
    await load.stop()
  }
  await ground.summarize(ledger, figures)
  return figures
}
