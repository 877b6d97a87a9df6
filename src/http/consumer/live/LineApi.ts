/** The line of a queue as everybody may check it: the declaration. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { StaffReason } from "../../../domain/mechanism/Author.ts"
import { Id } from "../../../domain/values/Ids.ts"
import { SentTimestamp } from "../../../domain/values/Time.ts"
import { Anyone } from "../../credentials/Anyone.ts"
import { NotFound } from "../../errors/Errors.ts"

const Count = Schema.Int

const Act = Schema.Struct({
  at: SentTimestamp,
  act: Schema.Literals(["admitted", "removed", "paused", "resumed", "rate"]),
  reason: Schema.optionalKey(StaffReason),
  count: Schema.optionalKey(Count.annotate({ description: "Consumers that were admitted or removed." })),
  outOfOrder: Schema.optionalKey(
    Count.annotate({ description: "Of those admitted: how many were not the first that waited." })
  ),
  admitRate: Schema.optionalKey(Count.annotate({ description: "The new rate, a minute." }))
}).annotate({ identifier: "LineAct" })

const Line = Schema.Struct({
  order: Schema.Literals(["arrival", "drawn", "lobby", "loyalty"]).annotate({
    description:
      "How tickets were given: by arrival, or first to the lobby by lot. `lobby`: no place has a ticket yet. `loyalty`: " +
      "head starts have moved places, and no ticket tells a position."
  }),
  issued: Count.annotate({ description: "The last ticket." }),
  waiting: Count,
  next: Count.annotate({ description: "The first ticket that waits; after the last one if none does." }),
  runs: Schema.Array(Count).annotate({
    description: "From `next` on: how many tickets wait, how many are gone, how many wait, and so on."
  }),
  isComplete: Schema.Boolean.annotate({ description: "False if tickets are left out of `runs`." }),
  tally: Schema.Struct({
    byRate: Count,
    byHand: Count,
    outOfOrder: Count.annotate({ description: "Of those by hand: how many were not the first that waited." }),
    left: Count,
    removed: Count.annotate({ description: "Denied by staff, by the closing, or with their consumer's account." })
  }).annotate({ description: "How the tickets that no longer wait were called." }),
  acts: Schema.Array(Act).annotate({ description: "The last 100 things that staff did, the oldest first." })
}).annotate({ identifier: "Line" })

/** The line without the instant at which it was read. */
export const QueueLine = Schema.Struct({
  queueId: Id,
  lifecycle: Schema.Literals(["scheduled", "open", "settling", "closed"]),
  admitRate: Schema.NullOr(Count),
  paused: Schema.NullOr(Schema.Boolean),
  pauseReason: Schema.NullOr(StaffReason),
  line: Schema.NullOr(Line).annotate({ description: "Null while a queue that has closed is not in memory." })
})

export const lineEndpoint = HttpApiEndpoint.get("line", "/queues/:queueId/line", {
  params: { queueId: Id },
  success: Schema.Struct({
    now: SentTimestamp.annotate({ description: "The server's instant." }),
    ...QueueLine.fields
  }).annotate({ identifier: "QueueLine" }),
  error: NotFound
})
  .middleware(Anyone)
  .annotateMerge(
    OpenApi.annotations({
      summary: "The line of a queue, to be checked",
      description:
        "A consumer that waits has a `ticket` in its standing. Its position is 1 + the tickets that wait between `next` and " +
        "it, so a page works it out by itself. `issued` less `waiting` is the sum of `byRate`, `byHand`, `left` and " +
        "`removed`. Between two answers no number goes back and no ticket returns; of the tickets that have gone behind one " +
        "that still waits, there are at most as many as left, were removed, or were admitted `outOfOrder`. So nobody was " +
        "admitted out of order by the rate, and what staff did shows. The same for every caller for a second, without a " +
        "credential, for queues of sequences that are for everybody."
    })
  )
