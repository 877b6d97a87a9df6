/** Worker thread that rehearses what it is given, tells how far it is, and posts the report or a problem in words. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Cause, Clock, Effect, Exit } from "effect"
import { parentPort, workerData } from "node:worker_threads"
import { rehearse, type Step, tidyUp } from "./Rehearsal.ts"
import { bounded } from "./Report.ts"
import type { Given, Said } from "./RehearsalThread.ts"

const stepMillis = 250

/** The share of the work before the clock ends and the copies are archived. */
const playedShare = 0.95

const say = (said: Said): void => parentPort?.postMessage(said)

const makeOnStep = () => {
  let saidAt = -Infinity
  return ({ done, total, now }: Step) =>
    Effect.map(Clock.currentTimeMillis, (at) => {
      if (at - saidAt < stepMillis) return
      saidAt = at
      say({ _tag: "Step", progress: (playedShare * done) / Math.max(done, total), now })
    })
}

const given = workerData as Given

const program = Effect.gen(function* () {
  const wanted = { ...given, onStep: makeOnStep() }
  const report = yield* rehearse(wanted)
  yield* tidyUp(wanted)
  return bounded(report)
}).pipe(
  Effect.matchEffect({
    onSuccess: (report) => Effect.sync(() => say({ _tag: "Done", report })),
    onFailure: ({ message }) => Effect.sync(() => say({ _tag: "Failed", problem: message }))
  }),
  // The certificate is for the public name. These are the addresses of this process's own sockets.
  Effect.provide(NodeHttpClient.layerUndiciOptions({ connect: { rejectUnauthorized: false } }))
)

Effect.runCallback(program, {
  onExit: (exit) => {
    // The text has no headers of requests.
    if (Exit.isFailure(exit)) say({ _tag: "Died", trace: Cause.pretty(exit.cause) })
  }
})
