/** What is left to be done in a rehearsal, in the order of instants, and of one instant in the order of people. */
import type { Millis } from "../values/Time.ts"
import type { Act } from "./Acts.ts"

export class Agenda {
  /** Sorted. The first `done` of them are over. */
  private readonly acts: Array<Act>
  private done = 0

  constructor(acts: ReadonlyArray<Act>) {
    this.acts = acts.toSorted(compare)
  }

  /** Acts that were taken. */
  get taken(): number {
    return this.done
  }

  /** The instant of the next act; undefined if nothing is left to be done. */
  get nextAt(): Millis | undefined {
    return this.acts[this.done]?.at
  }

  /** Adds an act. One whose instant is over is taken next. */
  add(act: Act): void {
    let [from, to] = [this.done, this.acts.length]
    while (from < to) {
      const middle = (from + to) >>> 1
      if (compare(this.acts[middle]!, act) <= 0) from = middle + 1
      else to = middle
    }
    this.acts.splice(from, 0, act)
  }

  /** Returns the acts up to an instant, each once. */
  take(until: Millis): ReadonlyArray<Act> {
    const from = this.done
    while (this.done < this.acts.length && this.acts[this.done]!.at <= until) this.done++
    return this.acts.slice(from, this.done)
  }
}

const compare = (a: Act, b: Act): number =>
  a.at - b.at || a.person - b.person || a.mechanism - b.mechanism || (a.bid ?? 0) - (b.bid ?? 0)
