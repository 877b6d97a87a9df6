/**
 * Evaluates an expression on scrapes, as Prometheus does at the instant of the last one. A condition is true if its
 * result has a sample. It differs in one point: `rate` divides by the time between the first and the last scrape of its
 * range, and does not extrapolate to the range's ends. Quantiles and signs of rates are the same either way.
 */
import { type Expression, parse } from "./Expression.ts"

export interface Sample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** The samples of one scrape, by name. */
export interface Scrape {
  /** Seconds. */
  readonly at: number
  readonly samples: ReadonlyMap<string, ReadonlyArray<Sample>>
}

/** Reads the text format of Prometheus. */
export function scrapeOf(text: string, at: number): Scrape {
  const samples = new Map<string, Array<Sample>>()
  for (const line of text.split("\n")) {
    if (line === "" || line.startsWith("#")) continue
    const [, name, labels = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)!
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((pair) => [pair[1]!, pair[2]!])
    const list = samples.get(name!) ?? []
    list.push({ labels: Object.fromEntries(pairs), value: numberOf(value!) })
    samples.set(name!, list)
  }
  return { at, samples }
}

const numberOf = (text: string): number =>
  /^[+-]?Inf$/.test(text) ? (text[0] === "-" ? -Infinity : Infinity) : Number(text)

/** Returns the samples for which the condition is true at the last scrape. */
export const firing = (condition: string, scrapes: ReadonlyArray<Scrape>): ReadonlyArray<Sample> => {
  const result = evaluate(parse(condition), scrapes)
  if (typeof result === "number") throw new Error(`${condition} is a number, not a condition`)
  return result
}

type Result = number | ReadonlyArray<Sample>

export function evaluate(expression: Expression, scrapes: ReadonlyArray<Scrape>): Result {
  switch (expression.type) {
    case "number":
      return expression.value
    case "selector":
      if (expression.range !== undefined) throw new Error(`${expression.name} needs a function over its range`)
      return selected(expression, scrapes.at(-1)!)
    case "aggregation":
      return aggregate(expression.name, expression.by, vector(evaluate(expression.of, scrapes)))
    case "call":
      return call(expression, scrapes)
    case "binary":
      return combine(expression.operator, evaluate(expression.left, scrapes), evaluate(expression.right, scrapes))
  }
}

type Selector = Extract<Expression, { readonly type: "selector" }>

const selected = ({ name, labels }: Selector, { samples }: Scrape): ReadonlyArray<Sample> =>
  (samples.get(name) ?? []).filter((sample) =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
  )

function call(
  { name, arguments: given }: Extract<Expression, { type: "call" }>,
  scrapes: ReadonlyArray<Scrape>
): Result {
  if (name === "abs") return vector(evaluate(given[0]!, scrapes)).map((one) => ({ ...one, value: Math.abs(one.value) }))
  if (name === "histogram_quantile") {
    return quantiles(evaluate(given[0]!, scrapes) as number, vector(evaluate(given[1]!, scrapes)))
  }
  const [over] = given
  if (over?.type !== "selector" || over.range === undefined) throw new Error(`${name} needs a range`)
  const within = scrapes.filter(({ at }) => at > scrapes.at(-1)!.at - over.range!)
  return byLabels(
    within.flatMap((scrape) => selected(over, scrape).map((sample) => ({ ...sample, at: scrape.at })))
  ).flatMap((series) => {
    const { labels } = series[0]!
    if (name === "max_over_time") return [{ labels, value: Math.max(...series.map(({ value }) => value)) }]
    if (series.length < 2) return []
    // A counter that falls has been reset.
    const grown = series.slice(1).reduce((sum, { value }, index) => {
      const before = series[index]!.value
      return sum + (value < before ? value : value - before)
    }, 0)
    return [{ labels, value: grown / (series.at(-1)!.at - series[0]!.at) }]
  })
}

function aggregate(name: string, by: ReadonlyArray<string>, samples: ReadonlyArray<Sample>): ReadonlyArray<Sample> {
  const kept = samples.map(({ labels, value }) => ({
    labels: Object.fromEntries(Object.entries(labels).filter(([label]) => by.includes(label))),
    value
  }))
  return byLabels(kept).map((group) => {
    const values = group.map(({ value }) => value)
    const value =
      name === "sum"
        ? values.reduce((sum, one) => sum + one)
        : name === "max"
          ? Math.max(...values)
          : Math.min(...values)
    return { labels: group[0]!.labels, value }
  })
}

/** The quantile by linear interpolation within its bucket; the lower bound of the last one. */
function quantiles(quantile: number, buckets: ReadonlyArray<Sample>): ReadonlyArray<Sample> {
  const groups = byLabels(
    buckets.map(({ labels: { le, ...labels }, value }) => ({ labels, value, bound: numberOf(le!) }))
  )
  return groups.flatMap((group) => {
    const sorted = group.toSorted((a, b) => a.bound - b.bound)
    const total = sorted.at(-1)!.value
    if (total === 0) return []
    const rank = quantile * total
    const index = sorted.findIndex(({ value }) => value >= rank)
    const { bound, value } = sorted[index]!
    const below = sorted[index - 1] ?? { bound: 0, value: 0 }
    const found =
      bound === Infinity
        ? below.bound
        : below.bound + ((bound - below.bound) * (rank - below.value)) / (value - below.value)
    return [{ labels: group[0]!.labels, value: found }]
  })
}

const operations: Readonly<Record<string, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right
}

const comparisons: Readonly<Record<string, (left: number, right: number) => boolean>> = {
  "==": (left, right) => left === right,
  "!=": (left, right) => left !== right,
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right
}

function combine(operator: string, left: Result, right: Result): Result {
  const compute = operations[operator]
  if (typeof left === "number" && typeof right === "number") {
    if (compute === undefined) throw new Error("two numbers are not compared in a rule")
    return compute(left, right)
  }
  const pairs = vector(left, right).flatMap((sample): ReadonlyArray<readonly [Sample, number, number]> => {
    const other = (result: Result) =>
      typeof result === "number" ? result : result.find((one) => keyOf(one.labels) === keyOf(sample.labels))?.value
    const [one, two] = [other(left), other(right)]
    return one === undefined || two === undefined ? [] : [[sample, one, two]]
  })
  return pairs.flatMap(([{ labels }, one, two]) => {
    if (compute !== undefined) return [{ labels, value: compute(one, two) }]
    return comparisons[operator]!(one, two) ? [{ labels, value: one }] : []
  })
}

/** The first of the results that is a vector. */
function vector(...results: ReadonlyArray<Result>): ReadonlyArray<Sample> {
  const found = results.find((result) => typeof result !== "number")
  if (found === undefined) throw new Error("expected samples, found a number")
  return found
}

const keyOf = (labels: Sample["labels"]): string =>
  JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))

function byLabels<S extends Sample>(samples: ReadonlyArray<S>): ReadonlyArray<ReadonlyArray<S>> {
  return [...Map.groupBy(samples, ({ labels }) => keyOf(labels)).values()]
}
