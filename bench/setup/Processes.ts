/** The processes that the bench starts. Each one is killed by its id when the bench exits. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdirSync, openSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"

const stopSecondsMax = 20

const running = new Set<ChildProcess>()
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL")
})

export interface StartOptions {
  readonly name: string
  readonly command: string
  readonly arguments: ReadonlyArray<string>
  readonly environment?: { readonly [name: string]: string }
  readonly directory?: string
  /** The folder of the log file `<name>.log`. */
  readonly logDirectory: string
}

export interface Started {
  readonly name: string
  readonly processId: number
  readonly log: string
  /** Undefined while the process runs, then its exit code or signal. */
  exit(): string | undefined
  /** Sends SIGTERM, waits, and kills the process after a limit. */
  stop(): Promise<void>
}

/** Starts a process. It inherits the environment, overridden by `environment`. */
export function start(options: StartOptions): Started {
  mkdirSync(options.logDirectory, { recursive: true })
  const log = join(options.logDirectory, `${options.name}.log`)
  const output = openSync(log, "a")
  const child = spawn(options.command, options.arguments, {
    stdio: ["ignore", output, output],
    env: { ...process.env, ...options.environment },
    ...(options.directory === undefined ? {} : { cwd: options.directory })
  })
  running.add(child)
  let exit: string | undefined
  const ended = new Promise<void>((resolve) => {
    child.on("error", (error) => {
      exit = error.message
      running.delete(child)
      resolve()
    })
    child.on("exit", (code, signal) => {
      exit = signal ?? `exit code ${code}`
      running.delete(child)
      resolve()
    })
  })
  if (child.pid === undefined) throw new Error(`${options.command} could not be started`)
  return {
    name: options.name,
    processId: child.pid,
    log,
    exit: () => exit,
    stop: async () => {
      if (exit !== undefined) return
      child.kill("SIGTERM")
      const timer = setTimeout(() => child.kill("SIGKILL"), stopSecondsMax * 1000)
      await ended
      clearTimeout(timer)
    }
  }
}

/** Waits until `isReady` returns true. Fails with the end of the log if the process exits or the time is over. */
export async function untilReady(started: Started, isReady: () => Promise<boolean>, secondsMax = 30): Promise<void> {
  const deadline = performance.now() + secondsMax * 1000
  for (;;) {
    if (started.exit() !== undefined)
      throw new Error(`${started.name} ended (${started.exit()}):\n${tail(started.log)}`)
    if (await isReady().catch(() => false)) return
    if (performance.now() > deadline) {
      await started.stop()
      throw new Error(`${started.name} was not ready after ${secondsMax} s:\n${tail(started.log)}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Runs a command to its end and returns its output. */
export async function run(
  command: string,
  commandArguments: ReadonlyArray<string>,
  environment: { readonly [name: string]: string } = {}
): Promise<string> {
  const child = spawn(command, commandArguments, {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment }
  })
  running.add(child)
  let printed = ""
  let complained = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complained += text))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject)
    child.on("close", resolve)
  })
  running.delete(child)
  if (code !== 0) throw new Error(`${command} ${commandArguments.join(" ")} failed:\n${complained}${printed}`)
  return printed
}

/** Returns a free TCP port on loopback. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() =>
        typeof address === "object" && address !== null
          ? resolve(address.port)
          : reject(new Error(`no port: ${String(address)}`))
      )
    })
  })
}

function tail(log: string): string {
  return readFileSync(log, "utf8").slice(-4000)
}
