/**
 * Whether the database answers this process. The heartbeat finds out every two seconds (`Heartbeat.ts`). While the
 * database is away, callers wait for it only briefly, and status reads are answered from memory.
 */
import { Context, Layer } from "effect"

/** How long status reads are answered from memory while the database is away, in milliseconds. */
export const rememberedMillis = 60_000

export class Availability extends Context.Service<
  Availability,
  {
    /** True from a heartbeat that was not answered until the next one that was. */
    isAway: boolean
  }
>()("usher/store/coordination/Availability") {
  static readonly layer = Layer.sync(Availability, () => ({ isAway: false }))
}
