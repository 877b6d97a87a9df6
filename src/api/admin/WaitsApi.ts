/** How long consumers waited in a mechanism. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { RateCategory } from "../Annotations.ts"
import { NotFound } from "../Errors.ts"

const seconds = (description: string) => Schema.NullOr(Schema.Finite).annotate({ description })

export const Waits = Schema.Struct({
  granted: Schema.Int.annotate({ description: "Consumers that had a grant." }),
  medianSeconds: seconds("From the first entry to the first grant. Null without one."),
  p95Seconds: seconds("The wait that 95 of 100 did not exceed."),
  left: Schema.Int.annotate({ description: "Consumers that left before a grant." }),
  leftMedianSeconds: seconds("From the first entry to leaving. Null if nobody left.")
}).annotate({ identifier: "Waits" })

export const waitsEndpoint = HttpApiEndpoint.get("getDistributionWaits", "/distributions/:id/waiting-time", {
  params: { id: Id },
  success: Waits,
  error: NotFound
})
  .annotateMerge(
    OpenApi.annotations({
      summary: "Measure the waits in a mechanism",
      description:
        "From the recorded events of a queue, a draw or an auction; other kinds have no waits. A mechanism with too many " +
        "events to look through within 10 seconds is a 400."
    })
  )
  .annotate(RateCategory, "analyticsQuery")
