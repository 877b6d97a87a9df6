/** The handler of analytics on the Admin API. */
import { Effect, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import {
  bucketsOf,
  currencyProblem,
  type Measure,
  measureProblems,
  type Problem,
  rangeOf,
  sources,
  tooManyBuckets
} from "../../../domain/organization/Analytics.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { Analytics, type Tally, type AnalyticsRequest } from "../../../store/organization/Analytics.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { issueAt } from "../../errors/Issues.ts"
import { orServiceUnavailable } from "../../errors/Refusals.ts"
import { invalidInput } from "../../errors/Validation.ts"
import type { AnalyticsQuery } from "../../../api/admin/AnalyticsApi.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import * as Time from "../../../store/coordination/Time.ts"

export const AnalyticsHandlers = HttpApiBuilder.group(AdminApi, "analytics", (handlers) =>
  Effect.map(Analytics, (analytics) =>
    handlers.handleAll({
      queryAnalytics: Effect.fnUntraced(function* ({ payload }) {
        const { tenant } = yield* CurrentTenant
        const { interval, measures, where } = payload
        const range = rangeOf(payload.timeRange, yield* Time.now)
        const problems = [...rangeProblems(range, payload), ...measureProblems(measures)]
        if (Result.isFailure(range) || problems.length > 0) return yield* refused(payload, problems)
        const { from, to } = range.success
        const wanted = measures.map(wantedBy)
        const question = { wanted: distinct(wanted), range: range.success, interval, where: where ?? {} }
        const tallies = yield* analytics
          .tallies(tenant, question)
          .pipe(Effect.catchTag("QueryTooLong", ({ seconds }) => refused(payload, [tooLong(seconds)])))
        const mixed = wanted.flatMap((one) => currencyProblem(currenciesOf(tallies, one)) ?? [])
        if (mixed.length > 0) return yield* refused(payload, mixed.slice(0, 1))
        const found = new Map(tallies.map((tally) => [keyOf(tally, tally.bucket), tally]))
        const buckets = bucketsOf(range.success, interval)
        return {
          data: buckets.map((bucket) => ({
            time_bucket: bucket,
            series: Object.fromEntries(
              measures.map(({ name, op }, index) => [name, valueOf(op, found.get(keyOf(wanted[index]!, bucket)))])
            )
          })),
          meta: {
            interval,
            from,
            to,
            timeZone: "UTC" as const,
            buckets: buckets.length,
            measures: measures.map((measure) => ({ ...measure, field: measure.field ?? null }))
          }
        }
      }, orServiceUnavailable)
    })
  )
)

const rangeProblems = (
  range: ReturnType<typeof rangeOf>,
  { interval }: typeof AnalyticsQuery.Type
): ReadonlyArray<Problem> => {
  if (Result.isFailure(range)) return [range.failure]
  const problem = tooManyBuckets(range.success, interval)
  return problem === undefined ? [] : [problem]
}

const tooLong = (seconds: number): Problem => ({
  path: ["timeRange"],
  kind: "validation",
  type: "max_value",
  expected: `a range that can be looked through within ${seconds} seconds`
})

const refused = (payload: typeof AnalyticsQuery.Type, problems: ReadonlyArray<Problem>) =>
  invalidInput(problems.map(({ path, ...found }) => issueAt(payload, path, found)))

/** The measure in the terms of the store. A count has nothing to add up. */
const wantedBy = ({ event, op, field }: Measure): AnalyticsRequest => {
  const { kind, type } = sources.get(event)!
  return { kind, type, field: op === "count" ? null : (field ?? null) }
}

const keyOf = ({ kind, type, field }: AnalyticsRequest, bucket?: Millis): string =>
  [kind, type, field, bucket].join(" ")

/** Drops duplicates: two measures may need the same value. */
const distinct = (wanted: ReadonlyArray<AnalyticsRequest>): ReadonlyArray<AnalyticsRequest> => [
  ...new Map(wanted.map((one) => [keyOf(one), one])).values()
]

/** The currencies of the amounts that were asked for. */
const currenciesOf = (tallies: ReadonlyArray<Tally>, wanted: AnalyticsRequest): ReadonlySet<string> => {
  const key = keyOf(wanted)
  return new Set(
    tallies.flatMap(({ currencyCode, ...tally }) =>
      currencyCode !== null && keyOf(tally) === key ? [currencyCode] : []
    )
  )
}

const valueOf = (op: Measure["op"], tally: Tally | undefined): number => {
  if (tally === undefined) return 0
  return op === "count" ? tally.count : op === "sum" ? tally.sum : tally.average
}
