/**
 * Takes a mechanism over before it starts here. A mechanism whose journal has events of a level that this release cannot
 * read is left alone, so that a process of a newer release runs it.
 */
import { Effect } from "effect"
import { CurrentRelease } from "../../store/coordination/CurrentRelease.ts"
import { type Head, Journal } from "../../store/journal/Journal.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { hasStopped } from "../actor/Actor.ts"
import type { ShardOwnership } from "./ShardOwnership.ts"

/** The mechanism does not run here. */
export const notHeld = Effect.fail(new Unavailable({ cause: hasStopped }))

const notReadable = ({ level }: Head) =>
  Effect.fail(new Unavailable({ cause: `the mechanism's journal needs a release that reads level ${level}` }))

export const make = Effect.fnUntraced(function* (ownership: ShardOwnership) {
  const journal = yield* Journal
  const [, levelMax] = (yield* CurrentRelease).level
  const canRead = (head: Head): boolean => head.level <= levelMax

  /** Takes over a mechanism and returns its head; undefined if there is no such mechanism. */
  const taken = (id: string): Effect.Effect<Head | undefined, Unavailable> =>
    Effect.flatMap(journal.head(id), (head) => {
      if (head === undefined) return Effect.undefined
      if (!canRead(head)) return notReadable(head)
      return Effect.flatMap(ownership.takeOver([head]), ([own]) => (own === undefined ? notHeld : Effect.succeed(own)))
    })

  return { canRead, taken }
})
