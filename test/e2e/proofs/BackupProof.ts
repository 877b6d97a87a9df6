/**
 * Kills backups and restores at random instants while a server is under load, then makes a backup that completes, and
 * restores it into an empty database. Every response that clients received before the backup began must be in it, no
 * effect twice, and every projection must follow from its journal.
 */
import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Apis } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import * as FreshDatabase from "../support/FreshDatabase.ts"
import { Setup } from "../load/Setup.ts"
import { Ledger } from "../load/Ledger.ts"
import { Load } from "../load/Load.ts"
import { type Keys, main, ServerUnderTest } from "../support/ServerUnderTest.ts"
import * as Processes from "../support/Processes.ts"

export interface Options {
  readonly times: number
  readonly seed: number
  /** Guests that visit at the same time. Default: 16. */
  readonly workers?: number
  /** Called after each round. */
  readonly onRound?: (round: number, figures: Figures) => void
}

export interface Figures {
  /** Backups that were restored and compared. */
  restored: number
  /** Backups that a kill ended. */
  killedBackups: number
  /** Restores that a kill ended. */
  killedRestores: number
  /** Acknowledged writes when the last backup began. */
  acknowledged: number
  /** Events in the last backup. */
  events: number
  readonly backupMillis: Array<number>
  readonly restoreMillis: Array<number>
  readonly violations: Array<string>
}

/** Writes that a load has acknowledged before each round. */
const acknowledgedMin = 50

/** Rounds between renewals of the lasting mechanisms, so that their histories stay short. */
const roundsPerDrop = 5

/** Runs the proof. */
export async function backupProof({ times, seed, workers = 16, onRound }: Options): Promise<Figures> {
  const dice = new Dice(seed)
  const figures: Figures = {
    restored: 0,
    killedBackups: 0,
    killedRestores: 0,
    acknowledged: 0,
    events: 0,
    backupMillis: [],
    restoreMillis: [],
    violations: []
  }
  const folder = await mkdtemp(join(tmpdir(), "usher-backups-"))
  await using server = await ServerUnderTest.make()
  await server.start()
  const keys = await server.createOrganization()
  using apis = new Apis(server, keys, workers)
  const setup = await Setup.make(apis, dice)
  const ledger = new Ledger()
  const load = new Load(apis, ledger, dice, workers)
  load.mechanisms = setup.mechanisms
  try {
    for (let round = 1; round <= times; round++) {
      await grown(ledger, figures.acknowledged)
      await Processes.pause(dice.between(50, 500))
      const file = join(folder, `${round}.tar`)
      await killBackup(server, `${file}.killed`, dice, figures)
      await backUpAndRestore({ server, keys, setup, ledger, dice, figures, file })
      if (round % roundsPerDrop === 0) await setup.renewLasting()
      await setup.addBrief(dice)
      load.mechanisms = setup.mechanisms
      onRound?.(round, figures)
    }
  } finally {
    await load.stop()
    await rm(folder, { recursive: true, force: true })
  }
  figures.violations.push(...ledger.unexpected)
  return figures
}

/** Waits until clients know more than a number of acknowledged writes. */
const grown = async (ledger: Ledger, acknowledged: number): Promise<void> => {
  while (ledger.writes < acknowledged + acknowledgedMin) await Processes.pause(20)
}

const environmentOf = ({ environment }: FreshDatabase.FreshDatabase): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_OPTIONS: "",
  LOG_LEVEL: "warn",
  ...environment
})

/** Starts a backup and kills it. A file with the backup's name must be complete, also then. */
const killBackup = async (server: ServerUnderTest, file: string, dice: Dice, figures: Figures): Promise<void> => {
  const environment = environmentOf(server.database)
  const longest = Math.max(1_000, ...figures.backupMillis)
  const isKilled = await killed([main, "backup", file], environment, dice.between(100, longest))
  if (!isKilled || existsSync(file)) return
  figures.killedBackups += 1
}

/** Starts a command and kills it after a time. Returns false if it ended before. */
const killed = async (args: ReadonlyArray<string>, environment: NodeJS.ProcessEnv, millis: number) => {
  const run = new Processes.Process([...args], environment)
  await Promise.race([Processes.pause(millis), run.ended])
  return (await run.end("SIGKILL")).signal === "SIGKILL"
}

const backUpAndRestore = async (of: {
  readonly server: ServerUnderTest
  readonly keys: Keys
  readonly setup: Setup
  readonly ledger: Ledger
  readonly dice: Dice
  readonly figures: Figures
  readonly file: string
}): Promise<void> => {
  const { server, keys, setup, ledger, dice, figures, file } = of
  // The snapshot must contain everything that clients know now.
  const known = ledger.copy()
  const backedUp = await timed(() => Processes.run([main, "backup", file, "--json"], environmentOf(server.database)))
  figures.backupMillis.push(backedUp.millis)
  await using database = await FreshDatabase.makeEmpty()
  const environment = environmentOf(database)
  const longest = Math.max(2_000, ...figures.restoreMillis)
  // A killed restore leaves the database empty, so that the next one is not refused.
  if (await killed([main, "restore", file], environment, dice.between(200, longest / 2))) figures.killedRestores += 1
  const restored = await timed(() => restoreAgain(file, environment))
  figures.restoreMillis.push(restored.millis)
  const { verification } = JSON.parse(restored.output)
  if (verification.differences > 0)
    figures.violations.push(`${verification.differences} values differ from the journal`)
  figures.acknowledged = known.writes
  figures.events = verification.events

  await using copy = await ServerUnderTest.make({ database })
  await copy.start()
  using copies = new Apis(copy, keys, 4)
  figures.violations.push(...(await setup.checkCopy(copies, known)))
  figures.restored += 1
  await rm(file)
}

/** Restores after a kill. If the kill came after the commit, the database is restored already, and is verified. */
const restoreAgain = async (file: string, environment: NodeJS.ProcessEnv): Promise<string> => {
  try {
    return await Processes.run([main, "restore", file, "--json"], environment)
  } catch (error) {
    if (!String(error).includes("The database is not empty")) throw error
    const verified = await Processes.run([main, "verify-journal", "--json"], environment)
    return JSON.stringify({ verification: JSON.parse(verified) })
  }
}

const timed = async (run: () => Promise<string>): Promise<{ readonly output: string; readonly millis: number }> => {
  const begun = performance.now()
  const output = await run()
  return { output, millis: performance.now() - begun }
}
