/**
 * The group commit: commits of many actors wait together, and one writer takes all that wait, writes them in one statement
 * and answers each. While a statement runs the next ones gather, so that the statements grow with the load by themselves.
 *
 * What it promises:
 * 1. A commit is answered once: after its statement has returned, or when its time is over; its outcome is then unknown.
 * 2. Commits are written in the order they came. One statement runs at a time.
 * 3. What the database refuses because of one commit's content (a broken constraint, a value that does not fit) costs that
 *    commit alone: the statement is halved until the culprit stands alone. To write again is harmless: commits are fenced.
 * 4. What waits is bounded, and so is how long it waits.
 * 5. The interruption of a caller withdraws nothing: what was handed over is written.
 */
import { Cause, Clock, Effect, Exit, Fiber, Latch, Option, type Scope } from "effect"
import { monotonicMillisOf } from "../coordination/LeaseClock.ts"
import { JournalConflict } from "./Journal.ts"
import { Unavailable } from "../postgres/Unavailable.ts"
import type { EncodedCommit } from "./JournalCodec.ts"

/** The bounds of a group commit. */
export interface Limits {
  /** After how long an answer is given up, in milliseconds; kept to within a tenth of itself. */
  readonly appendTimeoutMillis: number
  /** Events that may wait. Beyond, a commit fails at once, but for one that nothing else waits before. */
  readonly waitingEventsMax: number
  /** Commits in a statement. */
  readonly statementCommitsMax: number
  /** Events in a statement, but for a single commit that has more. */
  readonly statementEventsMax: number
}

/** How commits are written together. */
export interface Options<E> extends Limits {
  /** Writes all in one transaction; answers the numbers (from 1) of those whose head stood where they expected it. */
  readonly write: (commits: ReadonlyArray<EncodedCommit>) => Effect.Effect<ReadonlyArray<number>, E>
  /** True if the failure may be one commit's fault, and nothing was written. */
  readonly isRefusal: (error: E) => boolean
}

export interface GroupCommit {
  append(commit: EncodedCommit): Effect.Effect<void, JournalConflict | Unavailable>
}

/** Starts the writer. When the scope closes, what still waits is answered with `Unavailable`. */
export const make = Effect.fnUntraced(function* <E>(
  options: Options<E>
): Effect.fn.Return<GroupCommit, never, Scope.Scope> {
  const clock = yield* Clock.Clock
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const work = Latch.makeUnsafe()
  /** Open while somebody waits for an answer, or a statement runs: only then is there something to watch over. */
  const awaited = Latch.makeUnsafe()
  const line: Array<Waiting> = []
  let eventsInLine = 0
  /** What the writer has taken from the line and is not done with. */
  let inHand: ReadonlyArray<Waiting> = []
  let running: Running | undefined
  let closed = false

  const append = (commit: EncodedCommit) =>
    Effect.callback<void, JournalConflict | Unavailable>((resume) => {
      if (closed) return resume(failure(new Error("The journal is closed")))
      const events = commit.data.length
      if (line.length > 0 && eventsInLine + events > options.waitingEventsMax) {
        return resume(failure(new Error(`${eventsInLine} of ${options.waitingEventsMax} events wait to be written`)))
      }
      line.push(new Waiting(commit, monotonicMillisOf(clock), resume))
      eventsInLine += events
      work.openUnsafe()
      awaited.openUnsafe()
    })

  const writer = Effect.gen(function* () {
    while (true) {
      yield* work.await
      // Whoever is about to append in this turn of the event loop comes along.
      yield* Effect.yieldNow
      inHand = take()
      if (line.length === 0) work.closeUnsafe()
      yield* writeTogether(inHand)
      inHand = []
    }
  })

  function take(): ReadonlyArray<Waiting> {
    let commits = 0
    let events = 0
    while (commits < line.length && commits < options.statementCommitsMax) {
      const more = events + line[commits]!.events
      if (commits > 0 && more > options.statementEventsMax) break
      events = more
      commits++
    }
    eventsInLine -= events
    return line.splice(0, commits)
  }

  const writeTogether = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>): Effect.fn.Return<void> {
    // Whoever has been told that the outcome is unknown need not be written any more.
    const wanted = batch.filter((waiting) => !waiting.answered)
    if (wanted.length === 0) return
    const exit = yield* execute(wanted)
    if (Exit.isSuccess(exit)) return settle(wanted, exit.value)
    const error = Cause.findErrorOption(exit.cause)
    const refused = Option.isSome(error) && options.isRefusal(error.value)
    if (refused && wanted.length > 1) {
      const half = wanted.length >> 1
      yield* writeTogether(wanted.slice(0, half))
      return yield* writeTogether(wanted.slice(half))
    }
    const cause = Cause.squash(exit.cause)
    for (const waiting of wanted) waiting.answer(failure(cause))
    yield* complain(wanted.length, cause)
  })

  /** Runs one statement to its end, or until it is given up: then it is left to end by itself. */
  const execute = (batch: ReadonlyArray<Waiting>) =>
    Effect.callback<Exit.Exit<ReadonlyArray<number>, E>>((resume) => {
      const fiber = fork(options.write(batch.map(({ commit }) => commit)))
      const end = (exit: Exit.Exit<ReadonlyArray<number>, E>) => {
        // A statement that was given up ends while another one runs.
        if (running !== statement) return
        running = undefined
        resume(Effect.succeed(exit))
      }
      const giveUp = () => {
        end(Exit.die(tooLate(options)))
        fiber.interruptUnsafe()
      }
      const statement: Running = { since: monotonicMillisOf(clock), giveUp }
      running = statement
      fiber.addObserver(end)
      return Fiber.interrupt(fiber)
    })

  let complainedAt = -Infinity
  /** Says why commits fail, once in a while: a database that is away fails every one of them. */
  const complain = (commits: number, cause: unknown) =>
    Effect.suspend(() => {
      const now = monotonicMillisOf(clock)
      if (now - complainedAt < complaintIntervalMillis) return Effect.void
      complainedAt = now
      return Effect.logError(`The journal could not write ${commits} commit(s): ${reasonOf(cause)}`)
    })

  const watchdog = Effect.gen(function* () {
    while (true) {
      yield* awaited.await
      yield* Effect.sleep(options.appendTimeoutMillis / 10)
      const late = monotonicMillisOf(clock) - options.appendTimeoutMillis
      for (const waiting of inHand) if (waiting.since <= late) waiting.answer(failure(tooLate(options)))
      // In the line they stand in the order they came; what is answered will not be written.
      for (const waiting of line) {
        if (waiting.since > late) break
        waiting.answer(failure(tooLate(options)))
      }
      if (running !== undefined && running.since <= late) running.giveUp()
      if (line.length === 0 && inHand.length === 0 && running === undefined) awaited.closeUnsafe()
    }
  })

  yield* Effect.forkScoped(writer)
  yield* Effect.forkScoped(watchdog)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      closed = true
      for (const waiting of [...inHand, ...line]) waiting.answer(failure(new Error("The journal was closed")))
    })
  )
  return { append }
})

const complaintIntervalMillis = 1_000

/** A commit that has not been answered, and who waits for the answer. */
class Waiting {
  readonly commit: EncodedCommit
  /** When it was handed over, in milliseconds of the monotonic clock. */
  readonly since: number
  readonly resume: (answer: Effect.Effect<void, JournalConflict | Unavailable>) => void
  answered = false

  constructor(commit: EncodedCommit, since: number, resume: Waiting["resume"]) {
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

/** The statement that runs: its start, and how to stop waiting for it. */
interface Running {
  readonly since: number
  readonly giveUp: () => void
}

function settle(batch: ReadonlyArray<Waiting>, written: ReadonlyArray<number>) {
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

/** The outcome is not known, or nothing was written. */
const failure = (cause: unknown) => Effect.fail(new Unavailable({ cause }))

const tooLate = ({ appendTimeoutMillis }: Limits) =>
  new Error(`The database did not answer within ${appendTimeoutMillis} ms`)

/** What went wrong in the first place. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.cause === undefined ? error.message : reasonOf(error.cause)) : String(error)
}
