/**
 * Runs the command line in this process: the same program as `usher`, without the start of a process. Output and exit
 * code are those that the process would have.
 */
import { ConfigProvider, Console, Effect, Layer, Runtime } from "effect"
import { format } from "node:util"
import { program } from "../../src/cli/Usher.ts"
import type { End } from "./usherProcess.ts"

/** `serve` listens for requests to stop until its process ends. Here the scope's end removes these listeners. */
const keepListeners = Effect.acquireRelease(
  Effect.sync(() => ["SIGTERM", "SIGINT", "disconnect"].map((event) => ({ event, before: events.listeners(event) }))),
  (kept) =>
    Effect.sync(() => {
      for (const { event, before } of kept) {
        for (const listener of events.listeners(event)) {
          if (!before.includes(listener)) events.off(event, listener as () => void)
        }
      }
    })
)

const events: NodeJS.EventEmitter = process

/** Runs `usher` with arguments and settings, as this release or as another. Only one call may run at a time. */
export const run = (
  args: ReadonlyArray<string>,
  settings: Record<string, string> = {},
  release: Layer.Layer<never> = Layer.empty
): Effect.Effect<End> =>
  Effect.gen(function* () {
    const printed = { stdout: "", stderr: "" }
    const to = (output: keyof typeof printed) => ({
      value: (...words: ReadonlyArray<unknown>) => void (printed[output] += `${format(...words)}\n`)
    })
    const captured: Console.Console = Object.create(console, { log: to("stdout"), error: to("stderr") })
    yield* keepListeners
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const { argv, env } = process
        process.argv = [...argv.slice(0, 2), ...args]
        process.env = { PATH: env["PATH"] ?? "", ...settings }
        return { argv, env }
      }),
      (before) => Effect.sync(() => void Object.assign(process, before))
    )
    const exit = yield* program.pipe(
      // Otherwise each call reads the settings of the first one.
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv()),
      Effect.provideService(Console.Console, captured),
      Effect.provide(release),
      Effect.exit
    )
    let code = 0
    Runtime.defaultTeardown(exit, (given) => void (code = given))
    return { code, ...printed }
  }).pipe(Effect.scoped)
