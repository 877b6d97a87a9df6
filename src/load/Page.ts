/** The report of a load test as one HTML file, for people who were not there. */
import { documentOf, escaped, number, table, tiles, verdicts } from "./Html.ts"
import type { Report, Second } from "./Report.ts"
import type { ServerReading } from "./ServerSeries.ts"

const width = 720
const height = 180
const left = 56
const bottom = 22

/** A line of a plot. */
interface Line {
  readonly name: string
  readonly color: string
  readonly values: ReadonlyArray<number | null>
}

const time = (milliseconds: number | null): string =>
  milliseconds === null ? "–" : milliseconds < 10 ? `${milliseconds.toFixed(1)} ms` : `${number(milliseconds)} ms`

/** Returns the page. */
export function pageOf(report: Report, failures: ReadonlyArray<string>): string {
  const { seconds, totals, latency } = report
  const of = (value: (second: Second) => number | null) => seconds.map(value)
  const plots = [
    plot("Consumers each second", "", [
      { name: "arrived", color: "var(--one)", values: of(({ due }) => due) },
      { name: "entered", color: "var(--two)", values: of(({ entered }) => entered) },
      { name: "admitted", color: "var(--three)", values: of(({ granted }) => granted) }
    ]),
    plot("Waiting in the line", "", [{ name: "waiting", color: "var(--one)", values: of(({ waiting }) => waiting) }]),
    plot("Time to enter", "ms", [
      { name: "half of them (p50)", color: "var(--two)", values: of(({ p50 }) => p50) },
      { name: "99 of 100 (p99)", color: "var(--one)", values: of(({ p99 }) => p99) }
    ]),
    plot("Errors each second", "", [{ name: "errors", color: "var(--bad)", values: of(({ errors }) => errors) }]),
    plot("Delay of the load tool itself", "ms", [
      { name: "largest", color: "var(--three)", values: of(({ lag }) => lag) }
    ]),
    ...serverPlots(report.servers ?? [])
  ]
  const figures = [
    ["Consumers", number(totals.due)],
    ["Entered", number(totals.entered)],
    ["Admitted", number(totals.granted)],
    ["Median time to enter", time(latency.p50)],
    ["99 of 100 within", time(latency.p99)],
    ["Errors", `${number(totals.errors)} of ${number(totals.requests)} requests`],
    ["Not sent by this tool", number(totals.unsent)]
  ] as const
  const proofs = report.proofs.map(({ claim, holds, detail }) => ({
    holds,
    html: `${escaped(claim)} <small>${escaped(detail)}</small>`
  }))
  const errors = Object.entries(totals.errorsBy).map(
    ([reason, count]) => `<li>${escaped(reason)}: ${number(count)}</li>`
  )
  return documentOf(
    `Load test of ${report.url}`,
    `<h1>Load test</h1>
<p>${escaped(report.url)}, ${escaped(report.startedAt)}, part ${escaped(report.parts.join(", "))}: ${escaped(report.arrival)}, places watched by ${escaped(report.watch)}, ${number(report.admitRate)} admissions a minute.</p>
<p class="verdict ${failures.length === 0 ? "good" : "bad"}">${failures.length === 0 ? "Passed." : `Failed: ${escaped(failures.join("; "))}.`}</p>
${tiles(figures)}
${kindsOf(report)}
${plots.join("\n")}
<h2>Checked afterwards</h2>${verdicts(proofs)}
${errors.length === 0 ? "" : `<h2>Errors</h2><ul>${errors.join("")}</ul>`}`
  )
}

/** The results for the mechanism of each kind, if there were several. */
const kindsOf = ({ kinds = [], mix = "" }: Report): string => {
  if (kinds.length < 2) return ""
  const rows = kinds.map(({ kind, entered, refused, granted, latency }) => [
    escaped(kind),
    number(entered),
    number(refused),
    number(granted),
    time(latency.p50),
    time(latency.p99)
  ])
  return `<h2>By mechanism</h2><p>Consumers came for ${escaped(mix)}. An entry is overtaken if another one was first, such as a higher bid.</p>
${table(["Mechanism", "Entered", "Overtaken", "Admitted", "Median time to enter", "99 of 100 within"], rows)}`
}

const serverPlots = (readings: ReadonlyArray<ServerReading>): ReadonlyArray<string> => {
  const drawn = (title: string, unit: string, name: string, of: (reading: ServerReading) => number) =>
    plot(title, unit, [{ name, color: "var(--two)", values: readings.map(of) }])
  return readings.length === 0
    ? []
    : [
        drawn("Processors that the servers use", "cores", "cores", ({ cores }) => cores),
        drawn("Delay of the servers' event loop", "ms", "longest", ({ eventLoopMillis }) => eventLoopMillis),
        drawn("Memory of the servers", "MB", "resident", ({ residentMegabytes }) => residentMegabytes),
        drawn("Events that wait for the journal", "", "events", ({ waitingEvents }) => waitingEvents)
      ]
}

function plot(title: string, unit: string, lines: ReadonlyArray<Line>): string {
  const count = Math.max(2, lines[0]!.values.length)
  const most = niceMost(Math.max(1, ...lines.flatMap(({ values }) => values.map((value) => value ?? 0))))
  const x = (index: number) => left + ((width - left - 8) * index) / (count - 1)
  const y = (value: number) => 8 + (height - bottom - 8) * (1 - value / most)
  const path = ({ color, values }: Line) => {
    const points = values.flatMap((value, index) =>
      value === null ? [] : [`${x(index).toFixed(1)},${y(value).toFixed(1)}`]
    )
    const dots =
      points.length === 1
        ? `<circle cx="${points[0]!.split(",")[0]}" cy="${points[0]!.split(",")[1]}" r="3" fill="${color}"/>`
        : ""
    return `<polyline points="${points.join(" ")}" fill="none" stroke="${color}" stroke-width="2"/>${dots}`
  }
  const ticks = [0, 0.5, 1].map((share) => {
    const value = most * share
    return `<line class="grid" x1="${left}" x2="${width - 8}" y1="${y(value)}" y2="${y(value)}"/><text x="${left - 6}" y="${y(value) + 4}" text-anchor="end">${value.toLocaleString("en")}</text>`
  })
  const ends = [0, count - 1].map(
    (index) =>
      `<text x="${x(index)}" y="${height - 4}" text-anchor="${index === 0 ? "start" : "end"}">${index} s</text>`
  )
  const legend = lines
    .map(({ name, color }) => `<span style="color:${color}">■</span> ${escaped(name)}`)
    .join(" &nbsp; ")
  return `<figure><figcaption><strong>${escaped(title)}</strong>${unit === "" ? "" : ` (${unit})`} &nbsp; ${legend}</figcaption>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">${ticks.join("")}${ends.join("")}${lines.map(path).join("")}</svg></figure>`
}

/** Returns the next number of the form 1, 2 or 5 times a power of ten. */
function niceMost(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most))
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= most)!
}
