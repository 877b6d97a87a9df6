/** A thread that replays a journal, so that the process goes on deciding meanwhile. */
import { Effect } from "effect"
import { Worker } from "node:worker_threads"
import type { Event } from "../../domain/mechanism/Decider.ts"
import type { Outcome, Request } from "./OnceMore.ts"

/** A started thread. It takes the events of the journal in their order. */
export interface ReplayThread {
  readonly take: (events: ReadonlyArray<Event>) => void
  /** Replays what was taken: events of the level. Dies if the thread fails. */
  readonly outcome: (level: number) => Effect.Effect<Outcome>
}

/** Starts a thread. It ends with the scope. */
export const start = (request: Request) =>
  Effect.acquireRelease(
    Effect.sync(() => new Worker(new URL("./ReplayWorker.ts", import.meta.url), { workerData: request })),
    (worker) => Effect.promise(() => worker.terminate())
  ).pipe(
    Effect.map((worker): ReplayThread => ({
      take: (events) => worker.postMessage(events),
      outcome: (level) =>
        Effect.callback((resume) => {
          worker.once("message", (outcome: Outcome) => resume(Effect.succeed(outcome)))
          worker.once("error", (cause) => resume(Effect.die(cause)))
          worker.postMessage(level)
        })
    }))
  )
