/**
 * Kills the server repeatedly under load and compares the responses that clients received with the journal. Nothing
 * acknowledged may be lost, no read may show an unrecorded state, and the invariants must hold for every kind.
 * Drawings, settlements and expiries happen before, during and after each crash.
 */
import { Apis } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import { type Findings, Setup, noFindings } from "../load/Setup.ts"
import { Ledger } from "../load/Ledger.ts"
import { Load } from "../load/Load.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"

export interface Options {
  readonly kills: number
  readonly seed: number
  /** Guests that visit at the same time. Default: 32. */
  readonly workers?: number
  /** Starts the server for the next round. */
  readonly start: (server: ServerUnderTest, dice: Dice, round: number) => Promise<number>
  /** Kills the server, and returns once it is dead. */
  readonly crash: (server: ServerUnderTest, dice: Dice) => Promise<void>
  /** Called after each round. */
  readonly onRound?: (round: number, figures: Figures) => void
}

export interface Figures extends Findings {
  kills: number
  /** Attempts that clients repeated. */
  retries: number
  /** Milliseconds from process start to ready. */
  readonly restartMillis: Array<number>
}

/** Kills between renewals of the lasting mechanisms, so that their histories stay short. */
const killsPerDrop = 10

/** Runs the proof. Throws only if the server cannot start again. */
export async function crashProof(options: Options): Promise<Figures> {
  const dice = new Dice(options.seed)
  const { workers = 32 } = options
  const figures: Figures = { ...noFindings(), kills: 0, retries: 0, restartMillis: [] }
  await using server = await ServerUnderTest.make()
  await server.start()
  const keys = await server.createOrganization()
  using apis = new Apis(server, keys, workers)
  const setup = await Setup.make(apis, dice)
  await server.terminate()
  await options.start(server, dice, 0)

  const ledger = new Ledger()
  const load = new Load(apis, ledger, dice, workers)
  load.mechanisms = setup.mechanisms
  try {
    while (figures.kills < options.kills) {
      await options.crash(server, dice)
      figures.kills += 1
      figures.restartMillis.push(await options.start(server, dice, figures.kills))
      const resume = await load.paused()
      await setup.check(ledger, figures)
      if (figures.kills < options.kills) {
        if (figures.kills % killsPerDrop === 0) await setup.renewLasting()
        await setup.addBrief(dice)
        load.mechanisms = setup.mechanisms
      }
      figures.retries = load.retries
      options.onRound?.(figures.kills, figures)
      resume()
    }
  } finally {
    await load.stop()
  }
  await setup.summarize(ledger, figures)
  return figures
}
