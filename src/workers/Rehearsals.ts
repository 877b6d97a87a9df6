/**
 * Runs rehearsals. One is a job in its row, which a process claims under a lease. A process that ends leaves a row that
 * was claimed and has no lease: the next one ends its test clock, and the rehearsal has failed. It is not begun again by
 * itself, because half a rehearsal may be the reason why the process ended.
 */
import { Cause, Effect, FiberMap, Latch, Layer, Schedule, Semaphore } from "effect"
import * as RehearsalKeys from "../auth/keys/RehearsalKeys.ts"
import type { Crowd } from "../domain/rehearsal/Crowd.ts"
import { authorOf, minutesMax } from "../domain/rehearsal/Rehearsal.ts"
import type { Millis } from "../domain/values/Time.ts"
import { makeEnd } from "../engine/lifecycle/TestClockEnd.ts"
import { Invalidations } from "../store/coordination/Invalidations.ts"
import { Leases } from "../store/coordination/Leases.ts"
import * as Time from "../store/coordination/Time.ts"
import { Experiences } from "../store/experience/Experiences.ts"
import { type Ending, type Job, type Reached, RehearsalJobs } from "../store/rehearsal/RehearsalJobs.ts"
import { TestClockChanges } from "../store/testClock/TestClockChanges.ts"
import { makeWithLease, orElseLogged, start } from "./WorkerLoop.ts"

/** Pause between two looks for rehearsals, if no notification ends it. */
const pollMillis = 10_000

/** Pause between two notes of how far a rehearsal is, each of which extends its keys. */
const beatMillis = 1_000

/** How often what ends a rehearsal is tried, a second after the other, while the database is away. */
const endingsMax = 30

const failureMessage = "A rehearsal could not be run for now"

/** Rehearses with keys that are valid for it, and returns the report. */
export type Rehearse = (
  wanted: Pick<Job, "experienceId" | "declared" | "seed" | "from"> & {
    readonly crowd: Crowd
    readonly keys: { readonly live: string; readonly test: string }
  },
  onStep: (step: { readonly progress: number; readonly now: Millis }) => void
) => Effect.Effect<object, { readonly problem: string }>

const problems = {
  ended: "The server that ran the rehearsal has ended. Begin it again.",
  cancelled: "It was cancelled.",
  late: `It took longer than ${minutesMax} minutes. Rehearse with fewer people, or with \`usher rehearse\`.`,
  fault: "A fault of the server broke it off, and its log has the cause. Begin it again.",
  clock: "The test clock could not be ended. `DELETE /test-clock` with a test key ends it."
}

/** Makes the function that ends a rehearsal: its keys, its test clock, and its row. */
const makeFinish = Effect.gen(function* () {
  const jobs = yield* RehearsalJobs
  const endClock = yield* makeEnd
  const retries = Schedule.max([Schedule.spaced("1 second"), Schedule.recurs(endingsMax)])

  const clockEnded = Effect.fnUntraced(function* (job: Job) {
    if (!(yield* jobs.hasClock(job))) return
    yield* endClock({ organizationId: job.organizationId, mode: "test" }, authorOf(job.id))
  })

  return Effect.fnUntraced(function* (job: Job, ending: Ending) {
    yield* jobs.endKeys(job).pipe(Effect.retry(retries))
    const isEnded = yield* clockEnded(job).pipe(
      Effect.retry(retries),
      Effect.as(true),
      Effect.catchCause((cause) =>
        Cause.hasInterruptsOnly(cause)
          ? Effect.failCause(cause as Cause.Cause<never>)
          : Effect.as(Effect.logWarning("The test clock of a rehearsal could not be ended", cause), false)
      )
    )
    const problem = "problem" in ending ? `${ending.problem} ` : ""
    const told = isEnded ? ending : { problem: `${problem}${problems.clock}` }
    yield* jobs.finish(job, told, yield* Time.serverNow).pipe(Effect.retry(retries))
  })
})

/** Makes the function that runs a rehearsal from its claim to its end. */
const makeRun = Effect.fnUntraced(function* (rehearse: Rehearse) {
  const jobs = yield* RehearsalJobs
  const finish = yield* makeFinish

  /** Notes how far it is until it is cancelled. */
  const beating = (job: Job, step: () => Reached) =>
    Effect.flatMap(Time.serverNow, (at) => jobs.beat(job, step(), at)).pipe(
      // Without the database the keys end by themselves.
      Effect.orElseSucceed(() => true),
      Effect.delay(beatMillis),
      Effect.repeat({ while: (goesOn) => goesOn }),
      Effect.as({ problem: problems.cancelled })
    )

  return Effect.fnUntraced(function* (job: Job) {
    const { keys, hash } = RehearsalKeys.make()
    if (!(yield* jobs.claim(job, hash, yield* Time.serverNow))) return
    let step: Reached = { progress: 0, now: undefined }
    const { experienceId, crowd, declared, seed, from } = job
    const ending: Ending = yield* rehearse(
      { experienceId, crowd, declared, seed, from, keys },
      (next) => void (step = next)
    ).pipe(
      Effect.match({ onSuccess: (report) => ({ report }), onFailure: ({ problem }) => ({ problem }) }),
      Effect.catchDefect((defect) =>
        Effect.as(Effect.logError("A rehearsal failed", defect), { problem: problems.fault })
      ),
      Effect.raceFirst(beating(job, () => step)),
      Effect.timeoutOrElse({
        duration: `${minutesMax} minutes`,
        orElse: () => Effect.succeed({ problem: problems.late })
      })
    )
    yield* finish(job, ending)
  })
})

/** Starts the fiber that runs rehearsals: one at a time in this process. */
export const layerNoDeps = (rehearse: Rehearse) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const jobs = yield* RehearsalJobs
      const invalidations = yield* Invalidations
      const withLease = yield* makeWithLease
      const run = yield* makeRun(rehearse)
      const finish = yield* makeFinish
      const turns = yield* Semaphore.make(1)
      const wakeUp = yield* Latch.make()
      const wake = Effect.sync(() => void wakeUp.openUnsafe())
      yield* invalidations.subscribe("rehearsal", { handle: () => wake, refresh: wake })
      const active = yield* FiberMap.make<string, void>()

      const held = (job: Job, work: ReturnType<typeof run>) =>
        withLease(`rehearsal ${job.id}`, "release", Effect.as(work, true)).pipe(
          orElseLogged(failureMessage, false),
          Effect.asVoid
        )
      const take = (job: Job) => {
        if (job.isClaimed) return held(job, finish(job, { problem: problems.ended }))
        if (job.isCancelled) return held(job, finish(job, { problem: problems.cancelled }))
        return turns.withPermit(held(job, run(job)))
      }

      const round = Effect.gen(function* () {
        for (const job of yield* jobs.running) {
          // One that was cancelled before its turn waits for none.
          yield* FiberMap.run(active, job.id, take(job), { onlyIfMissing: job.isClaimed || !job.isCancelled })
        }
      })
      yield* start({ round, pauseMillis: pollMillis, wakeUp, failureMessage })
    })
  )

/** The worker with its database services. */
export const layer = (rehearse: Rehearse) =>
  layerNoDeps(rehearse).pipe(
    Layer.provide(Layer.mergeAll(Leases.layer, RehearsalJobs.layer, TestClockChanges.layer, Experiences.layer))
  )
