/** The replay of a mechanism's journal, as it was and with other settings. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { Timestamp } from "../../domain/values/Time.ts"
import { RateCategory } from "../Annotations.ts"
import { Conflict, NotFound } from "../Errors.ts"

/** The events of a journal that a server replays. `usher replay` takes longer ones. */
export const servedEventsMax = 250_000

const settingsMax = 20

export const ReplayBody = Schema.Struct({
  settings: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.Unknown).check(Schema.isMaxProperties(settingsMax))
  ).annotateKey({
    description:
      "Settings with other values, as an update of the mechanism takes them; null removes one. Each replaces every " +
      "recorded value of its setting. Settings that decide who comes, such as `openAt`, cannot be changed."
  }),
  seed: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))).annotateKey({
    description: "Of what people do with their grants. Equal seeds lead to equal figures. The default is 1."
  })
})

const count = (description: string) => Schema.Int.annotate({ description })
const seconds = Schema.Finite

export const ReplayFigures = Schema.Struct({
  people: count("Consumers that entered."),
  entries: count("Entries, also those of one consumer again."),
  admitted: count("Grants."),
  used: count("Grants that were used, or bookings that took place."),
  lapsed: count("Grants that expired, or bookings whose consumer did not come."),
  gaveUp: count("Those who left before their turn."),
  returned: count("Grants or bookings that were given back."),
  turnedAway: count("Those who waited until the end in vain."),
  denied: count("Denials by staff."),
  stillWaiting: count("Those who wait after the last event."),
  waitSeconds: Schema.NullOr(Schema.Struct({ median: seconds, p95: seconds, longest: seconds })).annotate({
    description: "From an entry to its grant, of all grants. Null if nobody waited for one."
  }),
  soldOutAt: Schema.NullOr(Timestamp).annotate({ description: "When the last unit was gone for the first time." }),
  largestSecond: Schema.Struct({ entries: Schema.Int, grants: Schema.Int }).annotate({
    description: "The most of both in one second."
  })
}).annotate({ identifier: "ReplayFigures" })

export const Replay = Schema.Struct({
  events: count("Events that came out as they were recorded: all of the journal."),
  recorded: ReplayFigures,
  changed: Schema.NullOr(
    Schema.Struct({
      assumption: Schema.String.annotate({ description: "What the figures rest on." }),
      figures: ReplayFigures
    })
  ).annotate({ description: "Null without `settings`." })
}).annotate({ identifier: "Replay" })

export const replayEndpoint = HttpApiEndpoint.post("replayDistribution", "/distributions/:id/replay", {
  params: { id: Id },
  payload: ReplayBody,
  success: Replay,
  error: [NotFound, Conflict]
})
  .annotateMerge(
    OpenApi.annotations({
      summary: "Replay a mechanism",
      description:
        "Runs the journal of a mechanism through the rules again, and changes nothing. With `settings` it also computes " +
        "what they would have led to: everybody comes and gives up as they did, and what follows a grant is drawn from " +
        `what people did. A mechanism with more than ${servedEventsMax.toLocaleString("en")} events, or whose replay ` +
        "takes a minute, is a 400: `usher replay` takes it. A 409 says that the journal is archived (JOURNAL_ARCHIVED), " +
        "or that it does not follow from the rules of this release (JOURNAL_DIFFERS)."
    })
  )
  .annotate(RateCategory, "analyticsQuery")
