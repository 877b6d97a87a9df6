/**
 * The group commit: commits of many actors wait together. One writer takes all that wait, writes them in one
 * statement and answers each. While a statement runs, further commits gather, so the statements grow with the load.
 *
 * Guarantees:
 * 1. A commit is answered once: after its statement has returned, or when its time has expired. In the second case
 *    its outcome is unknown.
 * 2. Commits are written in the order in which they came. One statement runs at a time.
 * 3. If the database refuses one commit's content (a broken constraint, a value that does not fit), only that commit
 *    fails. The writer halves the statement until it has isolated that commit. Writing a commit again is harmless,
 *    because commits are fenced.
 * 4. The number of waiting commits and their waiting time are bounded.
 * 5. The interruption of a caller withdraws nothing: a commit that was handed over is written.
 */
import { Cause, type Clock, Effect, Exit, Fiber, Latch, Option, type Scope } from "effect"
import type { Waiting } from "../../measures/JournalMeasures.ts"
import { monotonicMillisOf } from "../coordination/LeaseClock.ts"
import { JournalConflict } from "./Journal.ts"
import { Unavailable } from "../postgres/Unavailable.ts"
import type { EncodedCommit } from "./JournalCodec.ts"
import { annotated } from "../../measures/StateChange.ts"
import * as Time from "../coordination/Time.ts"

/** The bounds of a group commit. */
export interface Limits {
  /** Milliseconds after which a commit fails without an answer; accurate to a tenth of the value. */
  readonly appendTimeoutMillis: number
  /** Events that may wait. Beyond this number a commit fails immediately, unless nothing else waits before it. */
  readonly waitingEventsMax: number
  readonly statementCommitsMax: number
  /** Events in a statement, unless a single commit has more. */
  readonly statementEventsMax: number
}

/** How commits are written. */
export interface Options<E> extends Limits {
  /**
   * Writes all commits in one transaction. Returns the numbers (from 1) of those whose head was at the expected
   * sequence.
   */
  readonly write: (commits: ReadonlyArray<EncodedCommit>) => Effect.Effect<ReadonlyArray<number>, E>
  /** True if one commit's content may have caused the failure and nothing was written. */
  readonly isRefusal: (error: E) => boolean
}

export interface GroupCommit {
  append(commit: EncodedCommit): Effect.Effect<void, JournalConflict | Unavailable>
  /** The events that no statement has taken yet, and how long the first commit of them has waited. */
  waiting(): Waiting
}

/** Starts the writer. When the scope closes, waiting commits fail with `Unavailable`. */
export const make = Effect.fnUntraced(function* <E>(
  options: Options<E>
): Effect.fn.Return<GroupCommit, never, Scope.Scope> {
  const clock = yield* Time.serverClock
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const work = Latch.makeUnsafe()
  /** Open while a caller waits or a statement runs. Only then does the watchdog have work. */
  const awaited = Latch.makeUnsafe()
  const queue: Array<WaitingCommit> = []
  let eventsInQueue = 0
  /** The commits that the writer has taken and not finished. */
  let taken: ReadonlyArray<WaitingCommit> = []
  let running: Running | undefined
  let closed = false

  const append = (commit: EncodedCommit) =>
    Effect.callback<void, JournalConflict | Unavailable>((resume) => {
      if (closed) return resume(failure(new Error("The journal is closed")))
      const events = commit.data.length
      if (queue.length > 0 && eventsInQueue + events > options.waitingEventsMax) {
        return resume(failure(new Error(`${eventsInQueue} of ${options.waitingEventsMax} events wait to be written`)))
      }
      queue.push(new WaitingCommit(commit, monotonicMillisOf(clock), resume))
      eventsInQueue += events
      work.openUnsafe()
      awaited.openUnsafe()
    })

  const writer = Effect.gen(function* () {
    while (true) {
      yield* work.await
      // Actors that append in the same turn of the event loop join this statement.
      yield* Effect.yieldNow
      taken = take()
      if (queue.length === 0) work.closeUnsafe()
      yield* writeBatch(taken)
      taken = []
    }
  })

  function take(): ReadonlyArray<WaitingCommit> {
    let commits = 0
    let events = 0
    while (commits < queue.length && commits < options.statementCommitsMax) {
      const more = events + queue[commits]!.events
      if (commits > 0 && more > options.statementEventsMax) break
      events = more
      commits++
    }
    eventsInQueue -= events
    return queue.splice(0, commits)
  }

  const writeBatch = Effect.fnUntraced(function* (batch: ReadonlyArray<WaitingCommit>): Effect.fn.Return<void> {
    // A caller that already got an unknown outcome does not need its commit written.
    const unanswered = batch.filter((waiting) => !waiting.answered)
    if (unanswered.length === 0) return
    const exit = yield* execute(unanswered)
    if (Exit.isSuccess(exit)) return answerAll(unanswered, exit.value)
    const error = Cause.findErrorOption(exit.cause)
    const refused = Option.isSome(error) && options.isRefusal(error.value)
    if (refused && unanswered.length > 1) {
      const half = unanswered.length >> 1
      yield* writeBatch(unanswered.slice(0, half))
      return yield* writeBatch(unanswered.slice(half))
    }
    const cause = Cause.squash(exit.cause)
    for (const waiting of unanswered) waiting.answer(failure(cause))
    yield* logFailure(unanswered.length, cause)
  })

  /** Runs one statement until it ends or is abandoned. An abandoned statement ends on its own. */
  const execute = (batch: ReadonlyArray<WaitingCommit>) =>
    Effect.callback<Exit.Exit<ReadonlyArray<number>, E>>((resume) => {
      const fiber = fork(options.write(batch.map(({ commit }) => commit)))
      const end = (exit: Exit.Exit<ReadonlyArray<number>, E>) => {
        // A statement that was given up may end while another one runs.
        if (running !== statement) return
        running = undefined
        resume(Effect.succeed(exit))
      }
      const giveUp = () => {
        end(Exit.die(timeoutError(options)))
        fiber.interruptUnsafe()
      }
      const statement: Running = { since: monotonicMillisOf(clock), giveUp }
      running = statement
      fiber.addObserver(end)
      return Fiber.interrupt(fiber)
    })

  let loggedAt = -Infinity
  /** Logs why commits fail, at most once a second: while the database is away, every commit fails. */
  const logFailure = (commits: number, cause: unknown) =>
    Effect.suspend(() => {
      const now = monotonicMillisOf(clock)
      if (now - loggedAt < logIntervalMillis) return Effect.void
      loggedAt = now
      return logFailing(`The journal could not write ${commits} commit(s): ${reasonOf(cause)}`)
    })

  const watchdog = Effect.gen(function* () {
    while (true) {
      yield* awaited.await
      yield* Effect.sleep(options.appendTimeoutMillis / 10)
      const late = monotonicMillisOf(clock) - options.appendTimeoutMillis
      for (const waiting of taken) if (waiting.since <= late) waiting.answer(failure(timeoutError(options)))
      // Waiting commits are in the order in which they came. An answered commit is not written.
      for (const waiting of queue) {
        if (waiting.since > late) break
        waiting.answer(failure(timeoutError(options)))
      }
      if (running !== undefined && running.since <= late) running.giveUp()
      if (queue.length === 0 && taken.length === 0 && running === undefined) awaited.closeUnsafe()
    }
  })

  yield* Effect.forkScoped(writer)
  yield* Effect.forkScoped(watchdog)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      closed = true
      for (const waiting of [...taken, ...queue]) waiting.answer(failure(new Error("The journal was closed")))
    })
  )
  return { append, waiting: () => ({ events: eventsInQueue, seconds: secondsSince(queue[0]?.since, clock) }) }
})

const logIntervalMillis = 1_000

const logFailing = (reason: string) => annotated("journal.failing")(Effect.logError(reason))

const secondsSince = (since: number | undefined, clock: Clock.Clock): number =>
  since === undefined ? 0 : (monotonicMillisOf(clock) - since) / 1_000

/** A commit that has not been answered, and the callback that answers it. */
class WaitingCommit {
  readonly commit: EncodedCommit
  /** When it was handed over, in milliseconds of the monotonic clock. */
  readonly since: number
  readonly resume: (answer: Effect.Effect<void, JournalConflict | Unavailable>) => void
  answered = false

  constructor(commit: EncodedCommit, since: number, resume: WaitingCommit["resume"]) {
    this.commit = commit
    this.since = since
    this.resume = resume
  }

  get events() {
    return this.commit.data.length
  }

  answer(answer: Effect.Effect<void, JournalConflict | Unavailable>) {
    if (this.answered) return
    this.answered = true
    this.resume(answer)
  }
}

/** The running statement: its start, and how to stop waiting for it. */
interface Running {
  readonly since: number
  readonly giveUp: () => void
}

function answerAll(batch: ReadonlyArray<WaitingCommit>, written: ReadonlyArray<number>) {
  if (written.length === batch.length) {
    for (const waiting of batch) waiting.answer(Effect.void)
    return
  }
  const numbers = new Set(written)
  batch.forEach((waiting, index) => {
    const { mechanismId } = waiting.commit.commit
    waiting.answer(numbers.has(index + 1) ? Effect.void : Effect.fail(new JournalConflict({ mechanismId })))
  })
}

/** The failure of a commit that has an unknown outcome or was not written. */
const failure = (cause: unknown) => Effect.fail(new Unavailable({ cause }))

const timeoutError = ({ appendTimeoutMillis }: Limits) =>
  new Error(`The database did not answer within ${appendTimeoutMillis} ms`)

/** Returns the message of the innermost cause. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.cause === undefined ? error.message : reasonOf(error.cause)) : String(error)
}
