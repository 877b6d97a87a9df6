/** Runs the command line as a real process, with its own data folder. */
import { Effect, Exit, Schedule, Scope } from "effect"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** A running process, and its output so far. */
export interface Run {
  readonly child: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
}

/** The end of a process: its exit code, or the signal that killed it. */
export interface End {
  readonly code: number | NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A data folder. When the scope closes, a database server in it is killed, and the folder is removed. */
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

/** A data folder with a migrated database, copied from one that the first caller makes. */
export const migratedFolder = Effect.gen(function* () {
  const folder = yield* dataFolder
  execFileSync("cp", ["-a", (yield* migratedTemplate).dataDir, folder.dataDir])
  return folder
})

/** It lives until the process exits. */
const migratedTemplate = Effect.runSync(
  Effect.cached(
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const folder = yield* Scope.provide(dataFolder, scope)
      process.once("exit", () => Effect.runSync(Scope.close(scope, Exit.void)))
      const { code, stderr } = yield* run(["migrate"], { DATA_DIR: folder.dataDir })
      if (code !== 0) throw new Error(stderr)
      return folder
    })
  )
)

const collected = (child: ChildProcess): Run => {
  let stdout = ""
  let stderr = ""
  child.stdout?.on("data", (chunk) => (stdout += chunk))
  child.stderr?.on("data", (chunk) => (stderr += chunk))
  return { child, stdout: () => stdout, stderr: () => stderr }
}

const environment = (settings: Record<string, string>) => ({ PATH: process.env.PATH ?? "", ...settings })

/** Starts `usher` with arguments and settings. The process is killed when the scope closes. */
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
 * Starts `usher` in its own terminal, which the machine's `script` command creates. Both outputs appear as one, with
 * the line ends of a terminal. Text written to its standard input is typed.
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
    const finish = () =>
      resume(
        Effect.succeed({
          code: run.child.exitCode ?? run.child.signalCode,
          stdout: run.stdout(),
          stderr: run.stderr()
        })
      )
    if (run.child.stdout?.closed === true) return finish()
    run.child.once("close", finish)
  })

/** Runs `usher` and waits for its end. */
export const run = (args: ReadonlyArray<string>, settings: Record<string, string> = {}) =>
  Effect.scoped(Effect.flatMap(start(args, settings), end))

/** Waits until a condition holds, for at most two minutes. */
export const until = (condition: () => boolean) =>
  Effect.sync(condition).pipe(
    Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("20 millis") }),
    Effect.timeout("20 minutes")
  )

const kill = (pid: number) => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // The process has already ended.
  }
}
