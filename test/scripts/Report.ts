/**
 * How a proof is started from the command line and how it tells its result.
 */
import { parseArgs } from "node:util"
import * as FreshDatabase from "../e2e/FreshDatabase.ts"

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void FreshDatabase.disposeAll().then(() => process.exit(130)))
}

/** Whole-number options of the command line, with their defaults. */
export function options<const Names extends { readonly [name: string]: number }>(
  defaults: Names
): { readonly [Name in keyof Names]: number } {
  const flags = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: "string" as const }]))
  const { values } = parseArgs({ options: flags })
  const given = Object.entries(values).map(([name, text]) => {
    if (!/^\d{1,10}$/.test(String(text))) throw new Error(`--${name} must be a whole number, but it is ${String(text)}`)
    return [name, Number(text)] as const
  })
  return { ...defaults, ...Object.fromEntries(given) }
}

/** Prints the figures, one a line, and whether the promise holds; the process then ends with 0 or 1. */
export function conclude(
  promise: string,
  figures: { readonly [name: string]: string | number },
  violations: ReadonlyArray<string>,
  holds: boolean
): void {
  console.log(`\n${promise}`)
  for (const [name, figure] of Object.entries(figures)) console.log(`  ${name.padEnd(34)} ${figure}`)
  for (const violation of violations.slice(0, 20)) console.log(`  BROKEN: ${violation}`)
  if (violations.length > 20) console.log(`  … and ${violations.length - 20} more`)
  const isKept = holds && violations.length === 0
  console.log(isKept ? "  holds" : "  DOES NOT HOLD")
  process.exitCode = isKept ? 0 : 1
}

/** Milliseconds as `median / longest`. */
export function spread(millis: ReadonlyArray<number>): string {
  return `${median(millis).toFixed(0)} / ${Math.max(...millis).toFixed(0)} ms (median / longest)`
}

/** The middle one; of two the greater. */
export function median(values: ReadonlyArray<number>): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
