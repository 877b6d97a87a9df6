/**
 * Gathers the answers to the questions of one message. Most come together, a few milliseconds later, in one commit.
 * Slower answers, such as those of a mechanism that is being rebuilt, must not delay the others.
 */
import { Effect, Latch } from "effect"
import type { WireAnswer, WireAnswers } from "./Wire.ts"

/** How long finished answers wait for the others. */
const gatherMillis = 20

export class ReplyBatch {
  private ready: Array<WireAnswers[number]> = []
  private missing: number
  private readonly some = Latch.makeUnsafe()
  private readonly all = Latch.makeUnsafe()

  /** `count` is the number of questions. */
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

  /** Takes the answers that have come and were not taken: all of them if they come soon, otherwise at least one. */
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
