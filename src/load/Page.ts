/** The report as one HTML file without scripts or links, for people who were not there. */
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

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

const number = (value: number): string => Math.round(value).toLocaleString("en")
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
  const tiles = [
    ["Consumers", number(totals.due)],
    ["Entered", number(totals.entered)],
    ["Admitted", number(totals.granted)],
    ["Median time to enter", time(latency.p50)],
    ["99 of 100 within", time(latency.p99)],
    ["Errors", `${number(totals.errors)} of ${number(totals.requests)} requests`],
    ["Not sent by this tool", number(totals.unsent)]
  ]
  const proofs = report.proofs.map(
    ({ claim, holds, detail }) =>
      `<li class="${holds ? "good" : "bad"}">${holds ? "✓" : "✗"} ${escaped(claim)} <small>${escaped(detail)}</small></li>`
  )
  const errors = Object.entries(totals.errorsBy).map(
    ([reason, count]) => `<li>${escaped(reason)}: ${number(count)}</li>`
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Load test of ${escaped(report.url)}</title><style>${style}</style></head><body>
<h1>Load test</h1>
<p>${escaped(report.url)}, ${escaped(report.startedAt)}, part ${escaped(report.parts.join(", "))}: ${escaped(report.arrival)}, places watched by ${escaped(report.watch)}, ${number(report.admitRate)} admissions a minute.</p>
<p class="verdict ${failures.length === 0 ? "good" : "bad"}">${failures.length === 0 ? "Passed." : `Failed: ${escaped(failures.join("; "))}.`}</p>
<dl>${tiles.map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`).join("")}</dl>
${kindsOf(report)}
${plots.join("\n")}
<h2>Checked afterwards</h2><ul>${proofs.join("")}</ul>
${errors.length === 0 ? "" : `<h2>Errors</h2><ul>${errors.join("")}</ul>`}
</body></html>
`
}

/** The results for the mechanism of each kind, if there were several. */
const kindsOf = ({ kinds = [], mix = "" }: Report): string => {
  if (kinds.length < 2) return ""
  const rows = kinds.map(
    ({ kind, entered, refused, granted, latency }) =>
      `<tr><td>${escaped(kind)}</td><td>${number(entered)}</td><td>${number(refused)}</td><td>${number(granted)}</td><td>${time(latency.p50)}</td><td>${time(latency.p99)}</td></tr>`
  )
  return `<h2>By mechanism</h2><p>Consumers came for ${escaped(mix)}. An entry is overtaken if another one was first, such as a higher bid.</p>
<table><tr><th>Mechanism</th><th>Entered</th><th>Overtaken</th><th>Admitted</th><th>Median time to enter</th><th>99 of 100 within</th></tr>${rows.join("")}</table>`
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

const style = `
:root { color-scheme: light dark; --one: #2563eb; --two: #0d9488; --three: #b45309; --bad: #dc2626; --good: #15803d; --line: #8884 }
@media (prefers-color-scheme: dark) { :root { --one: #60a5fa; --two: #2dd4bf; --three: #fbbf24; --bad: #f87171; --good: #4ade80 } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 760px; margin: 2rem auto; padding: 0 1rem }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 1rem } dl div { border: 1px solid var(--line); border-radius: 8px; padding: .5rem .75rem }
dt { font-size: .8rem; opacity: .75 } dd { margin: 0; font-size: 1.25rem; font-weight: 600 }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; padding: .25rem .5rem; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums }
figure { margin: 1.5rem 0 } svg { width: 100%; height: auto } svg text { font-size: 11px; fill: currentColor; opacity: .75 } .grid { stroke: var(--line) }
.verdict { font-weight: 600 } .good { color: var(--good) } .bad { color: var(--bad) } ul { list-style: none; padding: 0 } small { opacity: .75 }
`
