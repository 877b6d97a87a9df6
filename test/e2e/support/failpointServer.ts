/**
 * The command line with a failpoint. After SIGUSR2 the process kills itself when it reaches the named step for the given
 * number of times.
 *
 *     node test/e2e/support/failpointServer.ts serve <step> <passes>
 */
import { Effect } from "effect"
import { enableCompileCache } from "node:module"
import type { Step } from "../../../src/store/journal/Failpoint.ts"

// As `main.ts` does, before anything else is loaded: otherwise a start takes twice as long.
enableCompileCache()
const { program, runMain } = await import("../../../src/cli/Usher.ts")
const { Failpoint } = await import("../../../src/store/journal/Failpoint.ts")

const [step, passes] = process.argv.splice(-2)
let passesLeft = Number(passes)
let isArmed = false
process.on("SIGUSR2", () => {
  isArmed = true
})

const failpoint = (reached: Step) =>
  Effect.sync(() => {
    if (!isArmed || reached !== step) return
    passesLeft -= 1
    if (passesLeft <= 0) process.kill(process.pid, "SIGKILL")
  })

runMain(Effect.provideService(program, Failpoint, failpoint))
