/** Figures of several runs. A figure's name carries its unit: `entriesPerSecond`, `latencyP99Milliseconds`. */

export interface Figure {
  /** In the order of the runs. */
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
  /** What `x` counts. */
  readonly over: "connections" | "places waiting"
  readonly points: ReadonlyArray<Point>
}

/** What was aimed at, and what came. */
export interface Target {
  readonly text: string
  readonly measured: number | null
  /** Null if it could not be measured here. */
  readonly met: boolean | null
}

export interface ScenarioResult {
  readonly title: string
  /** By program, or by variant of one. */
  readonly figures: { readonly [program: string]: Figures }
  /** Usher's headline figure over each other program's. */
  readonly ratios: { readonly [program: string]: number }
  /** Each other program's processor time a request over Usher's: how much more it spends on the same work. */
  readonly processorRatios: { readonly [program: string]: number }
  readonly targets: ReadonlyArray<Target>
  /** True if no target was missed; null if none was set or none could be measured. */
  readonly met: boolean | null
  readonly curves: ReadonlyArray<Curve>
  /** Programs that could not run, and why. */
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

/** The figures of a program from what each of its runs measured; a figure that a run lacks is left out of that run. */
export function figures(runs: ReadonlyArray<{ readonly [figure: string]: number }>): Figures {
  const names = new Set(runs.flatMap((run) => Object.keys(run)))
  return Object.fromEntries(
    [...names].map((name) => [name, figure(runs.flatMap((run) => (run[name] === undefined ? [] : [run[name]])))])
  )
}

/** `of` over each other program, by the medians of one figure. */
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

/** Each other program's figure over that of `of`. */
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

export function allMet(targets: ReadonlyArray<Target>): boolean | null {
  const judged = targets.filter((target) => target.met !== null)
  return judged.length === 0 ? null : judged.every((target) => target.met)
}
