/**
 * The real server with a failpoint. After SIGUSR2 the process kills itself when it reaches the
 * named step for the given number of times.
 *
 *     node test/e2e/support/failpointServer.ts <step> <passes>
 */
import { NodeCrypto, NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import * as ServerProcess from "../../../src/cli/runtime/ServerProcess.ts"
import { Failpoint, type Step } from "../../../src/store/journal/Failpoint.ts"

const [step, passes] = process.argv.slice(2)
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

NodeRuntime.runMain(
  Layer.launch(ServerProcess.layer.pipe(Layer.provide(Layer.succeed(Failpoint, failpoint)))).pipe(
    Effect.provide([NodeServices.layer, NodeCrypto.layer])
  )
)
