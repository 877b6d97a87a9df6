/** The bench's handle on the load generator, a process that takes one job at a time. */
import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { Job, Outcome } from "./Job.ts"

/** Seconds on top of the job's span: opening connections, building requests, the last responses. */
const overheadSecondsMax = 60

export class LoadGenerator {
  private child: ChildProcess | undefined
  private readonly everyJob: Pick<Job, "tls" | "idleConnections">

  /** Creates the handle. Every job gets the given values. */
  constructor({ tls = false, idleConnections = 0 }: Pick<Job, "tls" | "idleConnections"> = {}) {
    this.everyJob = { tls, idleConnections }
  }

  /**
   * Runs the job. Fails if a response has a status outside `expectedStatuses`, or if a connection breaks. A job that
   * holds its connections open at its end does so until `whileHeld` resolves.
   */
  async run(
    job: Job,
    expectedStatuses: ReadonlyArray<number> = [200],
    whileHeld: () => Promise<void> = () => Promise.resolve()
  ): Promise<Outcome> {
    const outcome = await this.send(job, whileHeld)
    const unexpected = Object.entries(outcome.statuses).filter(([status]) => !expectedStatuses.includes(Number(status)))
    if (unexpected.length > 0) {
      const list = unexpected.map(([status, count]) => `${count} × ${status}`).join(", ")
      throw new Error(`Unexpected responses (${list}), for example ${outcome.samples[0] ?? "no body kept"}`)
    }
    if (outcome.connectionErrors > 0) throw new Error(`${outcome.connectionErrors} connections broke during the run`)
    if (job.mode !== "open" && outcome.unanswered > 0) throw new Error(`${outcome.unanswered} requests had no response`)
    if (outcome.requests === 0) throw new Error("No response arrived in the measured span")
    return outcome
  }

  stop(): void {
    this.child?.disconnect()
    this.child = undefined
  }

  private send(job: Job, whileHeld: () => Promise<void>): Promise<Outcome> {
    const child = (this.child ??= fork(fileURLToPath(new URL("generator.ts", import.meta.url)), {
      serialization: "advanced",
      execArgv: ["--max-semi-space-size=16"]
    }))
    const shownSeconds = (job.mode === "closed" ? job.shownFirst?.seconds : undefined) ?? 0
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        clearTimeout(timer)
        child.off("message", onMessage)
        child.off("exit", onExit)
        act()
      }
      const onMessage = (message: { readonly outcome?: Outcome; readonly error?: string; readonly held?: true }) => {
        if (message.held === true) return void whileHeld().then(() => child.send("go on"), onFailure)
        settle(() => (message.outcome === undefined ? reject(new Error(message.error)) : resolve(message.outcome)))
      }
      const onFailure = (error: unknown) => {
        child.kill("SIGKILL")
        settle(() => reject(error instanceof Error ? error : new Error(String(error))))
      }
      const onExit = () => {
        this.child = undefined
        settle(() => reject(new Error("The load generator ended")))
      }
      const timer = setTimeout(
        () => {
          child.kill("SIGKILL")
          settle(() => reject(new Error("The load generator did not finish in time")))
        },
        (shownSeconds + job.warmupSeconds + job.seconds + overheadSecondsMax) * 1000
      )
      child.on("message", onMessage)
      child.on("exit", onExit)
      child.send({ ...job, ...this.everyJob })
    })
  }
}
