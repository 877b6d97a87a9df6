/**
 * Gathers the answers to the questions of one message. Most come together, a few milliseconds later, in one commit; those
 * that take longer, because a mechanism is just being rebuilt, must not keep the others waiting.
 */
import { Effect, Latch } from "effect"
import type { WireAnswer, WireAnswers } from "./Wire.ts"

/** How long answers that are there wait for the others. */
const gatherMillis = 20

export class ReplyBatch {
  private ready: Array<WireAnswers[number]> = []
  private missing: number
  private readonly some = Latch.makeUnsafe()
  private readonly all = Latch.makeUnsafe()

  /** For so many questions. */
  constructor(count: number) {
    this.missing = count
    if (count === 0) this.complete()
  }

  add(index: number, answer: WireAnswer): void {
    this.ready.push([index, answer])
    this.some.openUnsafe()
    if (--this.missing === 0) this.complete()
  }

  /** True once every answer has been taken. */
  get isDone(): boolean {
    return this.missing === 0 && this.ready.length === 0
  }

  /** The answers that have come and were not taken: all if they come soon, else those that there are, and one at least. */
  readonly taken: Effect.Effect<WireAnswers> = Effect.suspend(() =>
    this.missing === 0 ? Effect.void : Effect.timeoutOption(this.all.await, gatherMillis)
  ).pipe(
    Effect.andThen(this.some.await),
    Effect.map(() => {
      const answers = this.ready
      this.ready = []
      if (this.missing > 0) this.some.closeUnsafe()
      return answers
    })
  )

  private complete(): void {
    this.all.openUnsafe()
    this.some.openUnsafe()
  }
}
