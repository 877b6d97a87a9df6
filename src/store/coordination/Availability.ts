/**
 * Whether the database answers this process, as its heartbeat finds out every two seconds (`Heartbeat.ts`). While it does not,
 * nobody waits for it for long, and status reads do without it.
 */
import { Context, Layer } from "effect"

/** While the database is away, status reads are answered from memory for so long, in milliseconds. */
export const rememberedMillis = 60_000

export class Availability extends Context.Service<
  Availability,
  {
    /** True from a heartbeat that was not answered until one that was. */
    isAway: boolean
  }
>()("usher/store/coordination/Availability") {
  static readonly layer = Layer.sync(Availability, () => ({ isAway: false }))
}
