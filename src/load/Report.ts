/** The figures of a run, as its JSON has them, the sum of several parts, and the limits that a run must not exceed. */
import { Schema } from "effect"
import { Latencies } from "./Latencies.ts"
import { ServerReading } from "./ServerSeries.ts"

const Milliseconds = Schema.NullOr(Schema.Finite)
const Count = Schema.Int

/** One second of the run. */
export const Second = Schema.Struct({
  /** Consumers that were due. */
  due: Count,
  /** Entries that were answered. */
  entered: Count,
  granted: Count,
  completed: Count,
  /** Requests without an answer, or with one that was not expected. */
  errors: Count,
  /** Consumers in the line at the end of the second. */
  waiting: Count,
  /** The entries that were answered in this second, from the intended instant. */
  p50: Milliseconds,
  p99: Milliseconds,
  /** The largest delay of this tool itself. */
  lag: Schema.Finite
})
export type Second = typeof Second.Type

const Proof = Schema.Struct({ claim: Schema.String, holds: Schema.Boolean, detail: Schema.String })
export type Proof = typeof Proof.Type

/** From the instant at which a consumer was due to the answer to its entry; milliseconds. */
const Latency = Schema.Struct({
  p50: Milliseconds,
  p90: Milliseconds,
  p99: Milliseconds,
  p999: Milliseconds,
  max: Milliseconds
})

/** The entries into the mechanism of one kind. */
const KindFigures = Schema.Struct({
  kind: Schema.String,
  entered: Count,
  /** Entries that lost against another one. They are no errors. */
  refused: Count,
  granted: Count,
  latency: Latency,
  latencies: Schema.Record(Schema.String, Count)
})
type KindFigures = typeof KindFigures.Type

export const Report = Schema.Struct({
  format: Schema.Literal("usher-load-1"),
  url: Schema.String,
  startedAt: Schema.String,
  parts: Schema.Array(Schema.String),
  arrival: Schema.String,
  watch: Schema.String,
  admitRate: Count,
  seconds: Schema.Array(Second),
  totals: Schema.Struct({
    due: Count,
    /** Consumers that could not be sent before the end. They are no errors of the server. */
    unsent: Count,
    entered: Count,
    granted: Count,
    completed: Count,
    requests: Count,
    errors: Count,
    /** Errors by answer. */
    errorsBy: Schema.Record(Schema.String, Count)
  }),
  /** The mix of kinds, as the operator wrote it. Absent in older reports: a queue. */
  mix: Schema.optionalKey(Schema.String),
  kinds: Schema.optionalKey(Schema.Array(KindFigures)),
  latency: Latency,
  /** The latencies themselves, by bucket. */
  latencies: Schema.Record(Schema.String, Count),
  lagMax: Schema.Finite,
  proofs: Schema.Array(Proof),
  /** The measures of the servers, if they were read. */
  servers: Schema.optionalKey(Schema.Array(ServerReading)),
  /** How many servers were read. Absent in older reports. */
  serverCount: Schema.optionalKey(Count)
})
export type Report = typeof Report.Type

/** Reads a report that was written before. */
export const decodeReport = Schema.decodeUnknownEffect(Schema.fromJsonString(Report))

export const latencyOf = (latencies: Latencies): Report["latency"] => ({
  p50: latencies.quantile(0.5),
  p90: latencies.quantile(0.9),
  p99: latencies.quantile(0.99),
  p999: latencies.quantile(0.999),
  max: latencies.quantile(1)
})

/**
 * Adds the parts of one run. Their seconds are aligned by the time of day at which each part began. The percentiles of
 * one second are those of its slowest part. All parts load the same servers, so one part's readings of them are kept.
 */
export function mergeReports(reports: readonly [Report, ...ReadonlyArray<Report>]): Report {
  const [first] = reports
  const beginnings = reports.map(({ startedAt }) => Date.parse(startedAt))
  const begin = Math.min(...beginnings)
  const seconds: Array<Second> = []
  reports.forEach((report, index) => {
    const offset = Math.round((beginnings[index]! - begin) / 1_000)
    report.seconds.forEach((second, number) => {
      while (seconds.length <= offset + number) seconds.push(emptySecond)
      seconds[offset + number] = sumOf(seconds[offset + number]!, second)
    })
  })
  const latencies = new Latencies()
  for (const report of reports) latencies.merge(report.latencies)
  const total = (of: (totals: Report["totals"]) => number) => reports.reduce((sum, { totals }) => sum + of(totals), 0)
  const errorsBy: Record<string, number> = {}
  for (const { totals } of reports) {
    for (const [name, count] of Object.entries(totals.errorsBy)) errorsBy[name] = (errorsBy[name] ?? 0) + count
  }
  const { servers, serverCount } = reports.find((report) => report.servers !== undefined) ?? first
  return {
    ...first,
    ...(servers !== undefined && { servers }),
    ...(serverCount !== undefined && { serverCount }),
    startedAt: reports[beginnings.indexOf(begin)]!.startedAt,
    parts: reports.flatMap(({ parts }) => parts),
    seconds,
    totals: {
      due: total(({ due }) => due),
      unsent: total(({ unsent }) => unsent),
      entered: total(({ entered }) => entered),
      granted: total(({ granted }) => granted),
      completed: total(({ completed }) => completed),
      requests: total(({ requests }) => requests),
      errors: total(({ errors }) => errors),
      errorsBy
    },
    kinds: mergeKinds(reports.flatMap(({ kinds = [] }) => kinds)),
    latency: latencyOf(latencies),
    latencies: latencies.toCounts(),
    lagMax: Math.max(...reports.map(({ lagMax }) => lagMax)),
    proofs: reports.flatMap(({ proofs, parts }) =>
      proofs.map((proof) => ({ ...proof, claim: `Part ${parts.join(", ")}: ${proof.claim}` }))
    )
  }
}

const mergeKinds = (all: ReadonlyArray<KindFigures>): ReadonlyArray<KindFigures> =>
  [...Map.groupBy(all, ({ kind }) => kind)].map(([kind, parts]) => {
    const latencies = new Latencies()
    for (const part of parts) latencies.merge(part.latencies)
    const sum = (of: (part: KindFigures) => number) => parts.reduce((total, part) => total + of(part), 0)
    return {
      kind,
      entered: sum(({ entered }) => entered),
      refused: sum(({ refused }) => refused),
      granted: sum(({ granted }) => granted),
      latency: latencyOf(latencies),
      latencies: latencies.toCounts()
    }
  })

export const emptySecond: Second = {
  due: 0,
  entered: 0,
  granted: 0,
  completed: 0,
  errors: 0,
  waiting: 0,
  p50: null,
  p99: null,
  lag: 0
}

const larger = (one: number | null, other: number | null): number | null =>
  one === null ? other : other === null ? one : Math.max(one, other)

const sumOf = (one: Second, other: Second): Second => ({
  due: one.due + other.due,
  entered: one.entered + other.entered,
  granted: one.granted + other.granted,
  completed: one.completed + other.completed,
  errors: one.errors + other.errors,
  waiting: one.waiting + other.waiting,
  p50: larger(one.p50, other.p50),
  p99: larger(one.p99, other.p99),
  lag: Math.max(one.lag, other.lag)
})

/** A condition under which the run has failed. */
export interface Condition {
  readonly figure: "p50" | "p90" | "p99" | "p999" | "max" | "errors" | "unsent"
  /** Milliseconds, or a share from 0 to 1. */
  readonly most: number
  readonly text: string
}

export const conditionShape =
  "conditions such as `p99>250ms,errors>0.1%`; figures are p50, p90, p99, p999, max, errors and unsent"

/** Reads conditions; undefined if one has another shape. */
export function parseConditions(text: string): ReadonlyArray<Condition> | undefined {
  const conditions = text.split(",").map((part): Condition | undefined => {
    const time = /^(p50|p90|p99|p999|max)>(\d+(?:\.\d+)?)(ms|s)$/.exec(part.trim())
    if (time !== null) {
      const most = Number(time[2]) * (time[3] === "s" ? 1_000 : 1)
      return { figure: time[1] as Condition["figure"], most, text: part.trim() }
    }
    const share = /^(errors|unsent)>(\d+(?:\.\d+)?)%$/.exec(part.trim())
    if (share === null) return undefined
    return { figure: share[1] as Condition["figure"], most: Number(share[2]) / 100, text: part.trim() }
  })
  return conditions.some((condition) => condition === undefined) ? undefined : (conditions as ReadonlyArray<Condition>)
}

/** Returns the conditions that hold, with the measured values, and the proofs that failed. */
export function failuresOf(report: Report, conditions: ReadonlyArray<Condition>): ReadonlyArray<string> {
  const { latency, totals } = report
  const shares = {
    errors: totals.errors / Math.max(1, totals.requests),
    unsent: totals.unsent / Math.max(1, totals.due)
  }
  const held = conditions.flatMap(({ figure, most, text }) => {
    if (figure === "errors" || figure === "unsent") {
      return shares[figure] > most ? [`${text}: ${(shares[figure] * 100).toFixed(2)} %`] : []
    }
    const found = latency[figure]
    // Without one entry the figure is unknown, which is no success.
    return found === null || found > most ? [`${text}: ${found === null ? "no entry" : `${found.toFixed(1)} ms`}`] : []
  })
  return [...held, ...report.proofs.filter(({ holds }) => !holds).map(({ claim, detail }) => `${claim}: ${detail}`)]
}
