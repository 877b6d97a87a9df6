/**
 * The command line as a real process, with a data folder of its own.
 */
import { Effect, Schedule } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** What a process has printed so far, and how it ended. */
export interface Run {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
}

/** How a process ended: its exit code, or the signal that killed it. */
export interface End {
  readonly code: number | NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A data folder; in the end the database server that may still be in it is killed, and the folder removed. */
export const dataFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const parent = mkdtempSync(join(tmpdir(), "usher-cli-"))
    chmodSync(parent, 0o755)
    return {
      dataDir: join(parent, "data"),
      parent,
      pidFile: join(parent, "data", "postgres", "data", "postmaster.pid")
    }
  }),
  ({ parent, pidFile }) =>
    Effect.sync(() => {
      if (existsSync(pidFile)) kill(Number(readFileSync(pidFile, "utf8").split("\n")[0]))
      rmSync(parent, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
    })
)

const collected = (child: ChildProcess): Run => {
  let stdout = ""
  let stderr = ""
  child.stdout?.on("data", (chunk) => (stdout += chunk))
  child.stderr?.on("data", (chunk) => (stderr += chunk))
  return { child, stdout: () => stdout, stderr: () => stderr }
}

const environment = (settings: Record<string, string>) => ({ PATH: process.env.PATH ?? "", ...settings })

/** Starts `usher` with arguments and settings; it is killed when the scope closes. */
export const start = (args: ReadonlyArray<string>, settings: Record<string, string> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const env = environment(settings)
      return collected(
        spawn(process.execPath, [main, ...args], { env, detached: true, stdio: ["ignore", "pipe", "pipe"] })
      )
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

/**
 * Starts `usher` in a terminal of its own, which the machine's `script` makes. It shows both outputs as one, with the terminal's
 * ends of lines. What is written to its standard input is typed.
 */
export const startInTerminal = (args: ReadonlyArray<string>, settings: Record<string, string> = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const command = ["exec", ...[process.execPath, main, ...args].map((word) => `'${word}'`)].join(" ")
      const isUtilLinux = process.platform === "linux"
      const words = isUtilLinux ? ["-qec", command, "/dev/null"] : ["-q", "/dev/null", "sh", "-c", command]
      return collected(spawn("script", words, { env: environment(settings), detached: true }))
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
  )

/** Waits for the end of a process. */
export const end = (run: Run) =>
  Effect.callback<End>((resume) => {
    const answer = () =>
      resume(
        Effect.succeed({
          code: run.child.exitCode ?? run.child.signalCode,
          stdout: run.stdout(),
          stderr: run.stderr()
        })
      )
    if (run.child.stdout?.closed === true) return answer()
    run.child.once("close", answer)
  })

/** Runs `usher` to its end. */
export const run = (args: ReadonlyArray<string>, settings: Record<string, string> = {}) =>
  Effect.scoped(Effect.flatMap(start(args, settings), end))

/** Waits until a condition holds; at most two minutes. */
export const until = (condition: () => boolean) =>
  Effect.sync(condition).pipe(
    Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("20 millis") }),
    Effect.timeout("2 minutes")
  )

const kill = (pid: number) => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
}
