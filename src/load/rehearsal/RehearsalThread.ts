/** A thread that rehearses, so that the process goes on serving meanwhile. Its requests go to this process's own listeners. */
import { Effect } from "effect"
import { Worker } from "node:worker_threads"
import type { Wanted } from "./Rehearsal.ts"

/** Mebibytes of the thread's heap. Beyond it the thread ends, and not the process. */
const heapMax = 1_024

/** Where both APIs of this process listen. */
export interface Listeners {
  readonly consumerUrl: string
  readonly adminUrl: string
}

/** What a thread is given. */
export type Given = Omit<Wanted, "onStep">

/** What a thread says. */
export type Said =
  | { readonly _tag: "Step"; readonly progress: number; readonly now: number }
  | { readonly _tag: "Done"; readonly report: object }
  | { readonly _tag: "Failed"; readonly problem: string }
  | { readonly _tag: "Died"; readonly trace: string }

type OnStep = (step: { readonly progress: number; readonly now: number }) => void

/** Returns the function that rehearses on a thread. It fails with a problem in words, and dies if the thread fails. */
export const on =
  ({ consumerUrl, adminUrl }: Listeners) =>
  (wanted: Omit<Given, "url" | "adminUrl">, onStep: OnStep) =>
    Effect.acquireUseRelease(
      Effect.sync(() => start({ ...wanted, url: reachable(consumerUrl), adminUrl: reachable(adminUrl) })),
      (worker) => outcomeOf(worker, onStep),
      (worker) => Effect.promise(() => worker.terminate())
    )

const start = (workerData: Given): Worker =>
  new Worker(new URL("./RehearsalWorker.ts", import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: heapMax }
  })

const outcomeOf = (worker: Worker, onStep: OnStep): Effect.Effect<object, { readonly problem: string }> =>
  Effect.callback((resume) => {
    worker.on("message", (said: Said) => {
      switch (said._tag) {
        case "Step":
          return onStep(said)
        case "Done":
          return resume(Effect.succeed(said.report))
        case "Failed":
          return resume(Effect.fail({ problem: said.problem }))
        case "Died":
          return resume(Effect.die(said.trace))
      }
    })
    worker.once("error", (cause) => resume(Effect.die(cause)))
    worker.once("exit", () => resume(Effect.die("The thread of a rehearsal has ended")))
  })

/** A listener on all addresses is reached by that of this machine. */
const reachable = (url: string): string => url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
