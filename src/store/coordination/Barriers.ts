import { Deferred, Effect, Exit, Schedule } from "effect"
import { randomUUID } from "node:crypto"

/** Calls of `settled` that may wait at once. Beyond this number a call returns immediately. */
const barriersMax = 10_000

interface Barrier {
  /** The processes that have not answered yet; undefined until the question itself has come back. */
  awaited: Set<string> | undefined
  readonly done: Deferred.Deferred<void>
}

/** The questions with which this process waits until other processes have handled all earlier notifications. */
export class Barriers {
  private readonly barriers = new Map<string, Barrier>()

  get isFull(): boolean {
    return this.barriers.size >= barriersMax
  }

  /** Sends a question through `ask`. Returns when every process has answered, or after the given time. */
  wait(secondsMax: number, ask: (id: string) => Effect.Effect<void>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const id = randomUUID()
      const done = Deferred.makeUnsafe<void>()
      this.barriers.set(id, { awaited: undefined, done })
      // The question is repeated, because a process that was reconnecting has missed it.
      return Effect.raceFirst(Deferred.await(done), Effect.repeat(ask(id), Schedule.spaced("500 millis"))).pipe(
        Effect.timeoutOption(secondsMax * 1000),
        Effect.ignore,
        Effect.ensuring(Effect.sync(() => this.barriers.delete(id)))
      )
    })
  }

  /** Handles the return of a question to this process: from now on it awaits the answers of `peers`. */
  begin(id: string, peers: Iterable<string>): void {
    const barrier = this.barriers.get(id)
    if (barrier === undefined || barrier.awaited !== undefined) return
    barrier.awaited = new Set(peers)
    endIfAnswered(barrier)
  }

  /** Handles a process's answer. */
  answer(id: string, peer: string): void {
    const barrier = this.barriers.get(id)
    if (barrier?.awaited === undefined) return
    barrier.awaited.delete(peer)
    endIfAnswered(barrier)
  }

  /** Handles the end of a process: its questions no longer await an answer. */
  remove(peer: string): void {
    for (const id of this.barriers.keys()) this.answer(id, peer)
  }
}

const endIfAnswered = ({ awaited, done }: Barrier): void => {
  if (awaited?.size === 0) Deferred.doneUnsafe(done, Exit.void)
}
