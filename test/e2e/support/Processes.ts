/** The processes under test. Each is killed by its id when this process exits. */
import { type ChildProcess, spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { createServer } from "node:net"

const logLinesMax = 200

/** All running processes. They are killed with this process, so that a failing test leaves none behind. */
const alive = new Set<ChildProcess>()
process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL")
  for (const leader of leaders) killGroup(leader)
})

/** The ids of started commands that lead a process group. Their descendants are killed with them. */
const leaders = new Set<number>()

/** The exit of a process. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A started process and its last output. */
export class Process {
  readonly id: number
  readonly ended: Promise<Ending>
  ending: Ending | undefined
  private readonly child: ChildProcess
  private readonly lines: Array<string> = []

  /** Starts this Node with arguments, or another command, which leads its own process group. */
  constructor(args: ReadonlyArray<string>, environment: NodeJS.ProcessEnv, command = process.execPath) {
    const detached = command !== process.execPath
    this.child = spawn(command, args, { env: environment, detached, stdio: ["ignore", "pipe", "pipe"] })
    this.child.once("error", (error) => this.keep(error.message))
    if (this.child.pid === undefined) throw new Error(`${command} ${args.join(" ")} could not be started`)
    this.id = this.child.pid
    alive.add(this.child)
    if (detached) leaders.add(this.id)
    for (const output of [this.child.stdout!, this.child.stderr!]) {
      output.setEncoding("utf8").on("data", (text: string) => this.keep(text))
    }
    this.ended = new Promise((resolve) => {
      this.child.once("exit", (code, signal) => {
        alive.delete(this.child)
        this.ending = { code, signal }
        resolve(this.ending)
      })
    })
  }

  /** Sends the signal and waits for the exit. After `secondsMax` it sends SIGKILL and fails. */
  async end(signal: "SIGKILL" | "SIGTERM", secondsMax = 480): Promise<Ending> {
    if (this.ending !== undefined) return this.ending
    this.child.kill(signal)
    const ending = await within(this.ended, secondsMax)
    if (ending !== undefined) return ending
    this.child.kill("SIGKILL")
    await this.ended
    throw new Error(`process ${this.id} did not end within ${secondsMax} s after ${signal}:\n${this.log()}`)
  }

  /** Kills the remaining processes of a command's group. Returns whether there were any. */
  killRest(): boolean {
    return leaders.delete(this.id) && killGroup(this.id)
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal)
  }

  /** Returns the last output. */
  log(): string {
    return this.lines.join("")
  }

  private keep(text: string): void {
    this.lines.push(text)
    if (this.lines.length > logLinesMax) this.lines.shift()
  }
}

/** Kills a process group. Returns false if it has no running process. */
function killGroup(leader: number): boolean {
  try {
    return process.kill(-leader, "SIGKILL")
  } catch {
    return false
  }
}

/** Runs a program to its end and returns its standard output. Fails unless it exits with success in time. */
export async function run(
  args: ReadonlyArray<string>,
  environment: NodeJS.ProcessEnv,
  secondsMax = 480
): Promise<string> {
  const child = spawn(process.execPath, args, { env: environment, stdio: ["ignore", "pipe", "pipe"] })
  alive.add(child)
  let printed = ""
  let complained = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text))
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complained += text))
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve))
  const code = await within(closed, secondsMax)
  if (code === undefined) child.kill("SIGKILL")
  alive.delete(child)
  if (code !== 0)
    throw new Error(`${args.join(" ")} exited with ${code ?? "no code in time"}:\n${complained}${printed}`)
  return printed
}

/** Returns the value, or undefined after the time limit. */
export async function within<A>(value: Promise<A>, secondsMax: number): Promise<A | undefined> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), secondsMax * 1000)
  })
  try {
    return await Promise.race([value, timeout])
  } finally {
    clearTimeout(timer)
  }
}

export const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** The ports of one worker of the test runner. They end below those that the system assigns to connections. */
const portsFirst = 10_000
const portsEach = 2_500
const workersMax = 9

const worker = Number(process.env["VITEST_POOL_ID"] ?? 0) % workersMax
let ports = randomInt(portsEach)

/**
 * Returns a free TCP port on loopback. Neither another worker nor a connection gets it, also while the server that uses
 * it is down.
 */
export async function freePort(): Promise<number> {
  for (let tried = 0; tried < portsEach; tried++) {
    const port = portsFirst + worker * portsEach + (ports++ % portsEach)
    if (await isFree(port)) return port
  }
  throw new Error("no port is free")
}

/** Returns the first of so many free ports in a row. */
export async function freePorts(count: number): Promise<number> {
  for (let first = await freePort(), last = first; ; first = last = await freePort()) {
    while (last - first < count - 1 && (await freePort()) === last + 1) last += 1
    if (last - first === count - 1) return first
  }
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const listener = createServer()
    listener.once("error", () => resolve(false))
    listener.listen(port, "127.0.0.1", () => listener.close(() => resolve(true)))
  })
