/**
 * Series as they are read at a scrape, and their text. A family has one name, which ends in its unit, and one series for
 * each combination of labels.
 */
import { Context, Metric } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { Histogram } from "./Histogram.ts"

/** The labels of a series and its present value. */
export interface Series<Value> {
  readonly labels?: { readonly [name: string]: string }
  readonly value: Value
}

export type Family = { readonly name: string; readonly help: string } & (
  | { readonly type: "counter" | "gauge"; readonly series: ReadonlyArray<Series<number>> }
  | { readonly type: "histogram"; readonly series: ReadonlyArray<Series<Histogram>> }
)

/** A number that only grows while the process lives. */
export const counter = (name: string, help: string, series: ReadonlyArray<Series<number>>): Family => ({
  name,
  help,
  type: "counter",
  series
})

/** A number at this moment. */
export const gauge = (name: string, help: string, series: ReadonlyArray<Series<number>>): Family => ({
  name,
  help,
  type: "gauge",
  series
})

/** Values by size. */
export const histogram = (name: string, help: string, series: ReadonlyArray<Series<Histogram>>): Family => ({
  name,
  help,
  type: "histogram",
  series
})

/** One series without labels. */
export const only = <Value>(value: Value): ReadonlyArray<Series<Value>> => [{ value }]

/** One series for each name, under one label. */
export const by = (
  label: string,
  numbers: ReadonlyArray<readonly [string, number]>,
  others: { readonly [name: string]: string } = {}
): ReadonlyArray<Series<number>> => numbers.map(([name, value]) => ({ labels: { ...others, [label]: name }, value }))

/** Returns the families in the text format of Prometheus. */
export function toText(families: ReadonlyArray<Family>): string {
  const context = Context.make(Metric.MetricRegistry, new Map())
  for (const family of families) register(family, context)
  return PrometheusMetrics.formatUnsafe(context)
}

const unused = { update: () => {}, modify: () => {} }

function register(family: Family, context: Context.Context<never>): void {
  const { name, help: description } = family
  const labelled = ({ labels = {} }: Series<unknown>) => ({ description, attributes: labels })
  switch (family.type) {
    case "counter":
      for (const one of family.series) {
        const get = () => ({ count: one.value, incremental: true })
        Metric.registerUnsafe(Metric.counter(name, labelled(one)), context, { ...unused, get })
      }
      return
    case "gauge":
      for (const one of family.series) {
        const get = () => ({ value: one.value })
        Metric.registerUnsafe(Metric.gauge(name, labelled(one)), context, { ...unused, get })
      }
      return
    case "histogram":
      for (const one of family.series) {
        const get = () => one.value.state
        const metric = Metric.histogram(name, { ...labelled(one), boundaries: [] })
        Metric.registerUnsafe(metric, context, { ...unused, get })
      }
  }
}
