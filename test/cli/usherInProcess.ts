/**
 * Runs the command line in this process: the same program as `usher`, without the start of a process. Output and exit
 * code are those that the process would have.
 */
import { Console, Effect, Runtime } from "effect"
import { format } from "node:util"
import { program } from "../../src/cli/Usher.ts"
import type { End } from "./usherProcess.ts"

/** Runs `usher` with arguments and settings. Only one call may run at a time. */
export const run = (args: ReadonlyArray<string>, settings: Record<string, string> = {}): Effect.Effect<End> =>
  Effect.gen(function* () {
    const printed = { stdout: "", stderr: "" }
    const to = (output: keyof typeof printed) => ({
      value: (...words: ReadonlyArray<unknown>) => void (printed[output] += `${format(...words)}\n`)
    })
    const captured: Console.Console = Object.create(console, { log: to("stdout"), error: to("stderr") })
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const { argv, env } = process
        process.argv = [...argv.slice(0, 2), ...args]
        process.env = { PATH: env["PATH"] ?? "", ...settings }
        return { argv, env }
      }),
      (before) => Effect.sync(() => void Object.assign(process, before))
    )
    const exit = yield* program.pipe(Effect.provideService(Console.Console, captured), Effect.exit)
    let code = 0
    Runtime.defaultTeardown(exit, (given) => void (code = given))
    return { code, ...printed }
  }).pipe(Effect.scoped)
