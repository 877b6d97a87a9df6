/** The load generator's process: takes a job over IPC, runs it, sends the outcome and waits for the next job. */
import { Arrivals } from "./Arrivals.ts"
import { ClosedLoop } from "./ClosedLoop.ts"
import type { Job, Outcome } from "./Job.ts"
import { OpenLoop } from "./OpenLoop.ts"
import { Streams } from "./Streams.ts"

function prepare(job: Job): { outcome(): Promise<Outcome> } {
  switch (job.mode) {
    case "closed":
      return new ClosedLoop(job)
    case "open":
      return new OpenLoop(job)
    case "arrivals":
      return new Arrivals(job)
    case "streams":
      return new Streams(job, held)
  }
}

/** Reports that the streams are open and waits for "go on". */
function held(): Promise<void> {
  return new Promise((resolve) => {
    process.once("message", () => resolve())
    process.send?.({ held: true })
  })
}

process.on("message", (job: Job | "go on") => {
  if (job === "go on") return
  Promise.resolve(job)
    .then((taken) => prepare(taken).outcome())
    .then(
      (outcome) => process.send?.({ outcome }),
      (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) })
    )
})
process.on("disconnect", () => process.exit(0))
