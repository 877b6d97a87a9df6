/** Figures over several runs. A figure's name contains its unit: `entriesPerSecond`, `latencyP99Milliseconds`. */

export interface Figure {
  /** In the sequence of the runs. */
  readonly runs: ReadonlyArray<number>
  readonly min: number
  readonly median: number
  readonly max: number
}

/** The figures of one program, by name. */
export interface Figures {
  readonly [figure: string]: Figure
}

/** One point of a growth curve. */
export interface Point {
  readonly program: string
  readonly x: number
  /** Figures by name, as in {@link Figures}. */
  readonly values: { readonly [figure: string]: number }
}

export interface Curve {
  readonly title: string
  /** The unit of `x`. */
  readonly over: "connections" | "places waiting"
  readonly points: ReadonlyArray<Point>
}

/** A target and its measurement. */
export interface Target {
  readonly text: string
  readonly measured: number | null
  /** Null if it could not be measured here. */
  readonly met: boolean | null
}

export interface ScenarioResult {
  readonly title: string
  /** By program, or by variant of a program. */
  readonly figures: { readonly [program: string]: Figures }
  /** Usher's headline figure divided by each other program's. */
  readonly ratios: { readonly [program: string]: number }
  /** Each other program's processor time per request, divided by Usher's. */
  readonly processorRatios: { readonly [program: string]: number }
  readonly targets: ReadonlyArray<Target>
  /** True if no target was missed; null if no target was set or measured. */
  readonly met: boolean | null
  readonly curves: ReadonlyArray<Curve>
  /** The reason for each program that could not run. */
  readonly notRun: { readonly [program: string]: string }
  readonly notes: ReadonlyArray<string>
}

export function median(values: ReadonlyArray<number>): number {
  if (values.length === 0) return Number.NaN
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function figure(runs: ReadonlyArray<number>): Figure {
  return { runs, min: Math.min(...runs), median: median(runs), max: Math.max(...runs) }
}

/** Returns the figures of a program from the measurements of its runs. Skips a figure in runs that lack it. */
export function figures(runs: ReadonlyArray<{ readonly [figure: string]: number }>): Figures {
  const names = new Set(runs.flatMap((run) => Object.keys(run)))
  return Object.fromEntries(
    [...names].map((name) => [name, figure(runs.flatMap((run) => (run[name] === undefined ? [] : [run[name]])))])
  )
}

/** Returns the median of one figure of `of`, divided by that of each other program. */
export function ratios(
  all: { readonly [program: string]: Figures },
  of: string,
  name: string
): { readonly [program: string]: number } {
  const own = all[of]?.[name]?.median
  if (own === undefined) return {}
  return Object.fromEntries(
    Object.entries(all).flatMap(([program, theirs]) =>
      program === of || theirs[name] === undefined ? [] : [[program, own / theirs[name].median]]
    )
  )
}

/**
 * Returns the median over the rounds of one figure of `of`, divided by that of `to` in the same round: a change of the
 * machine's pace between rounds is in both. NaN if either was not measured.
 */
export function ratioInRounds(
  all: { readonly [program: string]: Figures },
  { of, to }: { readonly of: string; readonly to: string },
  name: string
): number {
  const base = all[to]?.[name]?.runs ?? []
  return median((all[of]?.[name]?.runs ?? []).map((value, round) => value / (base[round] ?? Number.NaN)))
}

/** Returns each other program's figure, divided by the one of `of`. */
export function inverseRatios(
  all: { readonly [program: string]: Figures },
  of: string,
  name: string
): { readonly [program: string]: number } {
  return Object.fromEntries(Object.entries(ratios(all, of, name)).map(([program, ratio]) => [program, 1 / ratio]))
}

export function atLeast(text: string, measured: number | undefined, bound: number): Target {
  return { text, measured: measured ?? null, met: measured === undefined ? null : measured >= bound }
}

export function atMost(text: string, measured: number | undefined, bound: number): Target {
  return { text, measured: measured ?? null, met: measured === undefined ? null : measured <= bound }
}

/** Returns a result with its verdict. Parts that a scenario leaves out are empty. */
export function scenarioResult(
  parts: Pick<ScenarioResult, "title" | "figures" | "targets" | "notes"> & Partial<ScenarioResult>
): ScenarioResult {
  return { ratios: {}, processorRatios: {}, curves: [], notRun: {}, met: allMet(parts.targets), ...parts }
}

export function allMet(targets: ReadonlyArray<Target>): boolean | null {
  const judged = targets.filter((target) => target.met !== null)
  return judged.length === 0 ? null : judged.every((target) => target.met)
}
