/** Runs the load with a client for many connections, and shows its progress on standard error. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Effect } from "effect"
import { type Options, run } from "../../load/Run.ts"
import { stopRequested } from "./Signals.ts"
import type { Tally } from "../../load/Tally.ts"

/** Runs the load until it ends or is asked to stop. Returns its report. A second request ends it without one. */
export const runLoad = (options: Options) =>
  Effect.raceFirst(
    run(options, show, stopRequested),
    Effect.andThen(stopRequested, Effect.andThen(stopRequested, Effect.interrupt))
  ).pipe(Effect.ensuring(clear), Effect.provide(NodeHttpClient.layerUndici))

const show = (tally: Tally, due: number) =>
  Effect.sync(() => {
    const { lastSecond, total } = tally
    const text =
      `${total("due")} of ${due} arrived, ${tally.waiting} waiting, ${total("granted")} admitted, ` +
      `${lastSecond.entered} entered in the last second, ${total("errors")} errors, ${lastSecond.lag.toFixed(0)} ms late`
    process.stderr.write(process.stderr.isTTY ? `\r\u001b[2K${text}` : `${text}\n`)
  })

const clear = Effect.sync(() => {
  if (process.stderr.isTTY) process.stderr.write("\r\u001b[2K")
})
