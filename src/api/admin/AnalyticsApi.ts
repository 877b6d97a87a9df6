/** Analytics on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import {
  bucketsMax,
  Interval,
  Measure,
  measuresMax,
  Operation,
  rangeDaysMax,
  sources
} from "../../domain/organization/Analytics.ts"
import { Id } from "../../domain/values/Ids.ts"
import { CurrencyCode } from "../../domain/values/Locale.ts"
import { kinds } from "../../domain/mechanism/Mechanism.ts"
import { text } from "../../domain/values/Text.ts"
import { Timestamp } from "../../domain/values/Time.ts"
import { RateCategory } from "../Annotations.ts"
import { closed } from "./Payloads.ts"

const narrowed = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** The body of `POST /analytics/query`. */
export const AnalyticsQuery = Schema.Struct({
  interval: Interval,
  timeRange: text({ minLength: 2, maxLength: 100 }).annotate({
    description: "`<n>m`, `<n>h` or `<n>d` back from now, or `start/end` as ISO 8601 date-times. The end is excluded.",
    examples: ["24h", "2026-11-21T18:00:00Z/2026-11-22T00:00:00Z"]
  }),
  measures: Schema.Array(Measure).check(Schema.isMinLength(1), Schema.isMaxLength(measuresMax)),
  where: narrowed(
    closed({
      distributionId: narrowed(Id),
      experienceId: narrowed(Id),
      sequenceId: narrowed(Id),
      distributionType: narrowed(Schema.Literals(kinds)),
      currencyCode: narrowed(CurrencyCode)
    })
  )
}).annotate({ identifier: "AnalyticsQuery" })

/** The answer: each bucket of the range with a number for each measure. */
export const AnalyticsAnswer = Schema.Struct({
  data: Schema.Array(Schema.Struct({ time_bucket: Timestamp, series: Schema.Record(Schema.String, Schema.Finite) })),
  meta: Schema.Struct({
    interval: Interval,
    from: Timestamp,
    to: Timestamp,
    timeZone: Schema.Literal("UTC"),
    buckets: Schema.Int,
    measures: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        event: Schema.String,
        op: Operation,
        unit: Schema.String,
        field: Schema.NullOr(Schema.String)
      })
    )
  })
}).annotate({ identifier: "AnalyticsAnswer" })

/** The events, each with the amounts that can be added up. */
const events = Array.from(sources, ([name, { fields }]) =>
  fields.length === 0 ? `\`${name}\`` : `\`${name}\` (${fields.map((field) => `\`${field}\``).join(", ")})`
).join(", ")

export class AnalyticsApi extends HttpApiGroup.make("analytics")
  .add(
    HttpApiEndpoint.post("queryAnalytics", "/analytics/query", {
      payload: AnalyticsQuery,
      success: AnalyticsAnswer
    })
      .annotateMerge(
        OpenApi.annotations({
          summary: "Measure events",
          description:
            "Covers orders, visits of rooms and the recorded events of all mechanisms, archived ones included. A query has at most " +
            `${measuresMax} measures, ${bucketsMax.toLocaleString("en")} buckets and ${rangeDaysMax} days. A query that ` +
            "takes longer than 10 seconds is a 400 that asks for a smaller range.\n\nThe response has every bucket of the " +
            "range, with 0 where nothing happened. Buckets follow the UTC clock; the range cuts the first and the last. " +
            "`count` counts events; `sum` and `avg` need a `field`. They are computed in exact decimals and returned as the " +
            "nearest number. `unit` only labels the result.\n\nAmounts of different currencies are never added up. If the " +
            "orders or bids of a `sum` or `avg` have several currencies, the query is a 400 at `where.currencyCode` that " +
            "names them; choose one. `where` narrows all measures. `currencyCode` narrows to orders and auctions in that " +
            "currency, because other records have none. An unknown field in it is a 400 that names the known ones.\n\nAn order " +
            "counts as created, paid, fulfilled and cancelled at the request to the API that says so. `room_visited` counts " +
            "loads of a room's page by the minute, some ten seconds later; of `where` only `experienceId` can match it. " +
            "Loads that a cache in front answered are not in it, nor those of the last seconds before a crash.\n\nThe " +
            "events, with their " +
            `fields that can be added up: ${events}.`
        })
      )
      .annotate(RateCategory, "analyticsQuery")
  )
  .annotateMerge(OpenApi.annotations({ title: "Analytics", description: "Events, counted and added up over time." })) {}
