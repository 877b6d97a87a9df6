/**
 * A latch that the journal opens when this process has written events. A worker that follows the journal closes it before
 * it reads, and need not wait for its next poll once it is open. It still polls, because other processes write too.
 */
import { Context, Latch } from "effect"

export const OwnCommits = Context.Reference<Latch.Latch>("usher/store/journal/OwnCommits", {
  defaultValue: () => Latch.makeUnsafe()
})
