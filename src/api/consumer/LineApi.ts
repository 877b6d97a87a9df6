/** Declares the operation with which any caller checks the line of a queue. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { StaffReason } from "../../domain/mechanism/Author.ts"
import { Id } from "../../domain/values/Ids.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { Anyone } from "../Credentials.ts"
import { NotFound } from "../Errors.ts"

const Count = Schema.Int

const Act = Schema.Struct({
  at: SentTimestamp,
  act: Schema.Literals(["admitted", "removed", "paused", "resumed", "rate"]),
  reason: Schema.optionalKey(StaffReason),
  count: Schema.optionalKey(Count.annotate({ description: "Number of consumers that were admitted or removed." })),
  outOfOrder: Schema.optionalKey(
    Count.annotate({ description: "Of those admitted: the number that were not first in line." })
  ),
  admitRate: Schema.optionalKey(Count.annotate({ description: "The new rate per minute." }))
}).annotate({ identifier: "LineAct" })

const Line = Schema.Struct({
  order: Schema.Literals(["arrival", "drawn", "lobby", "loyalty"]).annotate({
    description:
      "How tickets were given: by arrival, or first to the lobby by lot. `lobby`: no place has a ticket yet. " +
      "`loyalty`: head starts have moved places, so no ticket gives a position."
  }),
  issued: Count.annotate({ description: "The last ticket." }),
  waiting: Count,
  next: Count.annotate({ description: "The first waiting ticket, or the number after the last ticket if none waits." }),
  runs: Schema.Array(Count).annotate({
    description: "Numbers of tickets from `next` on, alternating: waiting, gone, waiting, and so on."
  }),
  isComplete: Schema.Boolean.annotate({ description: "False if tickets are left out of `runs`." }),
  tally: Schema.Struct({
    byRate: Count,
    byHand: Count,
    outOfOrder: Count.annotate({ description: "Of those by hand: the number that were not first in line." }),
    left: Count,
    removed: Count.annotate({ description: "Denied by staff, at the closing, or by archiving the consumer." })
  }).annotate({ description: "Numbers of tickets that no longer wait, by cause." }),
  acts: Schema.Array(Act).annotate({ description: "The last 100 actions of staff, the oldest first." })
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
        "A waiting consumer has a `ticket` in its standing. Its position is 1 plus the number of waiting tickets between " +
        "`next` and its own, so a page can compute it. `issued` minus `waiting` is the sum of `byRate`, `byHand`, `left` " +
        "and `removed`.\n\nBetween two responses no number decreases and no ticket returns. The tickets that are gone from " +
        "behind a waiting ticket are at most as many as left, were removed or were admitted `outOfOrder`. Two responses " +
        "therefore show whether the rate admitted consumers in order, and what staff did.\n\nThe response is the same for " +
        "every caller for a second. It needs no credential. Only queues of sequences that are for all consumers have it."
    })
  )
