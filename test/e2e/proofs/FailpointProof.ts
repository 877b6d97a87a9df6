/**
 * Makes the server kill itself between decision, commit, response and the writing of places, under load. To clients it
 * must look like a broken connection only.
 */
import type { WriteStep } from "../../../src/store/journal/Failpoint.ts"
import * as CrashProof from "./CrashProof.ts"
import { pause } from "../support/Processes.ts"
import { failingAt } from "../support/ServerUnderTest.ts"

const steps: ReadonlyArray<WriteStep> = ["decided", "committed", "answered", "placesTaken", "placesWritten"]

/** The longest time until the load has reached a failpoint, on a machine with many times more work than cores. */
const firesSecondsMax = 240

export interface Figures extends CrashProof.Figures {
  /** The number of times that each failpoint fired. */
  readonly fired: { readonly [S in WriteStep]: number }
}

export interface Options {
  /** The number of times that each failpoint has to fire. */
  readonly each: number
  readonly seed: number
  readonly workers?: number
  readonly onRound?: (round: number, figures: CrashProof.Figures) => void
}

export async function failpointProof({ each, seed, ...others }: Options): Promise<Figures> {
  const fired = { decided: 0, committed: 0, answered: 0, placesTaken: 0, placesWritten: 0 }
  const kills = each * steps.length
  let step: WriteStep = "decided"
  const figures = await CrashProof.crashProof({
    kills,
    seed,
    start: (server, dice, round) => {
      step = steps[round % steps.length]!
      // One statement writes the places of many commits.
      return server.start(failingAt(step, dice.between(1, step.startsWith("places") ? 2 : 150)))
    },
    crash: async (server, dice) => {
      await pause(dice.between(20, 200))
      server.signal("SIGUSR2")
      const ending = await server.untilEnded(firesSecondsMax)
      if (ending?.signal !== "SIGKILL") throw new Error(`the failpoint did not fire:\n${server.log}`)
      fired[step] += 1
    },
    ...others
  })
  return { ...figures, fired }
}
