/** The load generator's process: takes one job over IPC, runs it, answers the outcome, waits for the next. */
import { Arrivals } from "./Arrivals.ts"
import { ClosedLoop } from "./ClosedLoop.ts"
import type { Job } from "./Job.ts"
import { OpenLoop } from "./OpenLoop.ts"
import type { Run } from "./Run.ts"

function prepare(job: Job): Run {
  switch (job.mode) {
    case "closed":
      return new ClosedLoop(job)
    case "open":
      return new OpenLoop(job)
    case "arrivals":
      return new Arrivals(job)
  }
}

process.on("message", (job: Job) => {
  Promise.resolve(job)
    .then((taken) => prepare(taken).outcome())
    .then(
      (outcome) => process.send?.({ outcome }),
      (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) })
    )
})
process.on("disconnect", () => process.exit(0))
