/**
 * How a proof is started from the command line and how it tells its result.
 */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import * as FreshDatabase from "../e2e/support/FreshDatabase.ts"

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void FreshDatabase.disposeAll().then(() => process.exit(130)))
}

/** Whole-number options of the command line, with their defaults. Asked for help, it says what the script does, and ends. */
export function options<const Names extends { readonly [name: string]: number }>(
  defaults: Names
): { readonly [Name in keyof Names]: number } {
  const flags = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: "string" as const }]))
  const { help, ...values } = parseArgs({ options: { ...flags, help: { type: "boolean", short: "h" } } }).values
  if (help === true) {
    console.log(helpOf(readFileSync(process.argv[1]!, "utf8"), defaults))
    process.exit(0)
  }
  const given = Object.entries(values).map(([name, text]) => {
    if (!/^\d{1,10}$/.test(String(text))) throw new Error(`--${name} must be a whole number, but it is ${String(text)}`)
    return [name, Number(text)] as const
  })
  return { ...defaults, ...Object.fromEntries(given) }
}

/** What a script says of itself at its head, and its options. */
function helpOf(script: string, defaults: { readonly [name: string]: number }): string {
  const head = /^\/\*\*\n(.*?)\n \*\//s.exec(script)?.[1] ?? ""
  const lines = head.split("\n").map((line) => line.replace(/^ \* ?/, ""))
  const numbers = Object.entries(defaults).map(
    ([name, value]) => `  --${name.padEnd(14)} a whole number; default ${value}`
  )
  return [...lines, "", "Options:", ...numbers, "  --help           this", "", endings].join("\n")
}

const endings = "Ends with code 0 if the promise holds, 1 if it does not."

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
