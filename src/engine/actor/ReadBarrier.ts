/**
 * Holds the readers that arrive during a write. They wait for it, so that they see committed state only. The actor
 * answers all of them when the write has finished, before the next batch changes the state.
 */
import { Effect } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"

interface Reader {
  readonly answer: (now: Millis) => void
  readonly refuse: (reason: Effect.Effect<never, Unavailable>) => void
}

export class ReadBarrier {
  private waiting: Array<Reader> = []

  get size(): number {
    return this.waiting.length
  }

  /** Waits for {@link answerAll}, then returns the result of `question`. */
  wait<A>(question: (now: Millis) => A): Effect.Effect<A, Unavailable> {
    return Effect.callback((resume) => {
      this.waiting.push({ answer: (now) => resume(Effect.succeed(question(now))), refuse: resume })
    })
  }

  answerAll(now: Millis): void {
    for (const reader of this.taken()) reader.answer(now)
  }

  refuseAll(reason: Effect.Effect<never, Unavailable>): void {
    for (const reader of this.taken()) reader.refuse(reason)
  }

  private taken(): ReadonlyArray<Reader> {
    const waiting = this.waiting
    this.waiting = []
    return waiting
  }
}
