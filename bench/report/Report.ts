/** The figures as a table for the terminal, and as JSON. */
import type { Figure, ScenarioResult } from "./Figures.ts"
import type { Machine } from "./Machine.ts"

export interface Report {
  readonly machine: Machine
  readonly quick: boolean
  readonly scenarios: { readonly [scenario: string]: ScenarioResult }
}

export function toJson(report: Report): string {
  return `${JSON.stringify(report, (_key, value: unknown) => (typeof value === "number" ? round(value) : value), 2)}\n`
}

/** Returns a scenario as text: its figures by program, its growth curves, its targets. */
export function toTable(scenario: ScenarioResult): string {
  const programs = Object.keys(scenario.figures)
  const names = [...new Set(programs.flatMap((program) => Object.keys(scenario.figures[program]!)))]
  const rows = names.map((name) => [name, ...programs.map((program) => cell(scenario.figures[program]![name]))])
  const parts = [scenario.title, "", align([["median (min … max)", ...programs], ...rows])]
  for (const curve of scenario.curves) {
    const shown = [...new Set(curve.points.flatMap((point) => Object.keys(point.values)))].filter(isCurveFigure)
    const lines = curve.points.map((point) => [
      point.program,
      number(point.x),
      ...shown.map((name) => (point.values[name] === undefined ? "" : number(point.values[name])))
    ])
    parts.push("", `${curve.title}, over ${curve.over}`, align([["", curve.over, ...shown], ...lines]))
  }
  if (scenario.targets.length > 0) parts.push("")
  for (const target of scenario.targets) {
    const verdict = target.met === null ? "not measured" : target.met ? "met" : "MISSED"
    parts.push(
      `  ${verdict.padEnd(12)} ${target.text}${target.measured === null ? "" : `   (${number(target.measured)})`}`
    )
  }
  const spends = Object.entries(scenario.processorRatios).map(([program, ratio]) => `${program} ${number(ratio)} ×`)
  if (spends.length > 0)
    parts.push(`  Processor time for the same work, store included, against Usher's: ${spends.join(", ")}`)
  for (const [program, reason] of Object.entries(scenario.notRun)) parts.push(`  not run      ${program}: ${reason}`)
  for (const note of scenario.notes) parts.push(`  ${note}`)
  return `${parts.join("\n")}\n`
}

/** Returns the machine in two lines. */
export function machineLines(machine: Machine): string {
  const { processors, processorModel, memoryGigabytes, system, node, postgres, redis } = machine
  return (
    `${processors} × ${processorModel}, ${memoryGigabytes} GB, ${system}, Node ${node}, ${postgres} (${machine.postgresSource}), ${redis}\n` +
    `one 8 KiB write to disk takes ${machine.fdatasyncMicroseconds} µs; load average at the start ${machine.loadAverageAtStart.toFixed(2)}\n`
  )
}

/** Returns whether a figure of a curve gets a column: rates and costs. The JSON contains the others. */
function isCurveFigure(name: string): boolean {
  return /^[a-z]+PerSecond$|^(server|processor)MicrosecondsPer|^microsecondsPer|P99Mill/.test(name)
}

function cell(figure: Figure | undefined): string {
  if (figure === undefined) return "—"
  if (figure.runs.length === 1) return number(figure.median)
  return `${number(figure.median)} (${number(figure.min)} … ${number(figure.max)})`
}

function align(rows: ReadonlyArray<ReadonlyArray<string>>): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map(
      (row) =>
        `  ${row.map((text, column) => (column === 0 ? text.padEnd(widths[0]!) : text.padStart(widths[column]!))).join("  ")}`
    )
    .join("\n")
}

/** Formats with three significant digits below a thousand, and as whole numbers with separators above. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return "—"
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)))
}

function round(value: number): number {
  return Number.isInteger(value) ? value : Number(value.toPrecision(6))
}
