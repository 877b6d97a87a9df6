/** The options and the output of proofs on the command line. */
import { readFileSync } from "node:fs"
import { parseArgs } from "node:util"
import * as FreshDatabase from "../e2e/support/FreshDatabase.ts"

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void FreshDatabase.disposeAll().then(() => process.exit(130)))
}

/**
 * Parses options with their defaults: whole numbers, or text where the default is text. With `--help` it prints the
 * description of the script and exits.
 */
export function options<const Names extends { readonly [name: string]: number | string }>(
  defaults: Names
): { readonly [Name in keyof Names]: Names[Name] extends number ? number : string } {
  const flags = Object.fromEntries(Object.keys(defaults).map((name) => [name, { type: "string" as const }]))
  const { help, ...values } = parseArgs({ options: { ...flags, help: { type: "boolean", short: "h" } } }).values
  if (help === true) {
    console.log(helpOf(readFileSync(process.argv[1]!, "utf8"), defaults))
    process.exit(0)
  }
  const given = Object.entries(values).map(([name, text]) => {
    if (typeof defaults[name] === "string") return [name, String(text)] as const
    if (!/^\d{1,10}$/.test(String(text))) throw new Error(`--${name} must be a whole number, but it is ${String(text)}`)
    return [name, Number(text)] as const
  })
  return { ...defaults, ...Object.fromEntries(given) } as ReturnType<typeof options<Names>>
}

/** Returns the comment at the head of a script, followed by its options. */
function helpOf(script: string, defaults: { readonly [name: string]: number | string }): string {
  const head = /^\/\*\*\n(.*?)\n \*\//s.exec(script)?.[1] ?? ""
  const lines = head.split("\n").map((line) => line.replace(/^ \* ?/, ""))
  const described = Object.entries(defaults).map(([name, value]) => {
    const what = typeof value === "number" ? "a whole number" : "text"
    return `  --${name.padEnd(14)} ${what}; default ${value === "" ? "none" : value}`
  })
  return [...lines, "", "Options:", ...described, "  --help           this text", "", endings].join("\n")
}

const endings = "Exits with code 0 if the promise holds, otherwise with 1."

/** Prints the figures, one per line, and whether the promise holds. The process exits with 1 if any does not. */
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
  if (!isKept) process.exitCode = 1
}

/** Returns milliseconds as `median / longest`. */
export function spread(millis: ReadonlyArray<number>): string {
  return `${median(millis).toFixed(0)} / ${Math.max(...millis).toFixed(0)} ms (median / longest)`
}

/** Returns the middle value, or the greater of the two middle values. */
export function median(values: ReadonlyArray<number>): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
