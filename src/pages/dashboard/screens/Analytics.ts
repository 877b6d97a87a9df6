/** Entries, grants and completions of an experience over time: a chart, and the table behind it. */
import { Effect } from "effect"
import type { KindData } from "../../../domain/mechanism/Declaration.ts"
import { declarations, orderableKinds } from "../../../domain/mechanism/Mechanism.ts"
import { sourceNames } from "../../../domain/organization/Analytics.ts"
import { type Html, html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { get } from "../Route.ts"
import { instant, table } from "../Table.ts"

type Bucket = AdminAnswer<"analytics", "queryAnalytics">["data"][number]

/** The ranges that are offered, each in buckets of a length that makes at most 100 of them. */
const ranges = [
  { name: "1h", title: "The last hour", interval: "1m" },
  { name: "24h", title: "The last day", interval: "15m" },
  { name: "7d", title: "The last week", interval: "6h" },
  { name: "90d", title: "The last 90 days", interval: "1d" }
] as const

/** The names of these events, in the kinds that can lead to an order. */
const eventsOf = (types: (declaration: KindData) => ReadonlyArray<string>): ReadonlyArray<string> =>
  orderableKinds.flatMap((kind) => sourceNames(kind, types(declarations[kind])))

/** The lines of the chart: the count and the class of each. */
const lines = [
  { title: "Entries", style: "waiting", events: eventsOf(({ entries }) => entries) },
  { title: "Grants", style: "entries", events: eventsOf(({ grants }) => grants) },
  { title: "Completions", style: "grants", events: eventsOf(() => ["Completed"]) }
] as const

const width = 600
const height = 160

/** The routes of analytics. */
export const make = (api: AdminApiClient["Service"]) => [
  get(
    "/analytics",
    Effect.fnUntraced(function* (operator, { query }) {
      const { data: experiences } = yield* api.run(operator, "experiences", "listExperiences", {
        query: { first: "100", sortDir: "desc" }
      })
      const range = ranges.find(({ name }) => name === query.get("range")) ?? ranges[1]
      const experienceId = query.get("experience") || undefined
      const answers = yield* Effect.forEach(
        lines,
        ({ events }) =>
          api.run(operator, "analytics", "queryAnalytics", {
            payload: {
              interval: range.interval,
              timeRange: range.name,
              measures: events.map((event) => ({ name: event, event, op: "count", unit: "1" })),
              ...(experienceId !== undefined && { where: { experienceId } })
            }
          }),
        { concurrency: 3 }
      )
      const points = pointsOf(answers.map(({ data }) => data))
      return {
        title: "Analytics",
        body: html`
          ${choiceOf(experiences, experienceId, range.name)}
          ${
            experiences.length === 0
              ? html`<p class="muted">There is nothing to measure yet. <a href="/dashboard/new">Create a drop</a></p>`
              : chartOf(range.title, points)
          }
        `
      }
    })
  )
]

/** The counts of the lines at one time. */
interface Point {
  readonly at: number
  readonly counts: ReadonlyArray<number>
}

const pointsOf = (series: ReadonlyArray<ReadonlyArray<Bucket>>): ReadonlyArray<Point> =>
  series[0]!.map(({ time_bucket: at }, index) => ({
    at,
    counts: series.map((buckets) => Object.values(buckets[index]?.series ?? {}).reduce((sum, count) => sum + count, 0))
  }))

const choiceOf = (
  experiences: ReadonlyArray<{ readonly id: string; readonly name: string }>,
  chosen: string | undefined,
  range: string
): Html => html`
  <form method="get" action="/dashboard/analytics" class="filters">
    <label
      >Experience
      <select name="experience">
        <option value="">All</option>
        ${experiences.map(
          ({ id, name }) => html`<option dir="auto" value="${id}" ${id === chosen && html`selected`}>${name}</option>`
        )}
      </select></label
    >
    <label
      >Time
      <select name="range">
        ${ranges.map(
          ({ name, title }) => html`<option value="${name}" ${name === range && html`selected`}>${title}</option>`
        )}
      </select></label
    >
    <button class="quiet">Show</button>
  </form>
`

const chartOf = (title: string, points: ReadonlyArray<Point>): Html => {
  const most = Math.max(1, ...points.flatMap(({ counts }) => counts))
  const sums = lines.map((_, line) => points.reduce((sum, { counts }) => sum + counts[line]!, 0))
  const pathOf = (line: number) =>
    points
      .map(({ counts }, index) => {
        const x = (index * width) / Math.max(1, points.length - 1)
        return `${x.toFixed(1)},${(height - (counts[line]! * height) / most).toFixed(1)}`
      })
      .join(" ")
  const summary = lines.map((line, index) => `${line.title}: ${sums[index]}`).join(", ")
  return html`
    <section class="chart">
      <h2>${title}</h2>
      <svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${summary}. At most ${most} at a time.">
        ${lines.map(({ style }, line) => html`<polyline class="${style}" points="${pathOf(line)}"></polyline>`)}
      </svg>
      <p class="legend">
        ${lines.map((line, index) => html`<span class="${line.style}">${line.title} ${sums[index]}</span> `)}
      </p>
      <p class="muted">The top of the chart is ${most}.</p>
      <details>
        <summary>The same as a table</summary>
        ${table<Point>(
          "Periods with activity",
          points.filter(({ counts }) => counts.some((count) => count > 0)),
          [
            { title: "From", cell: ({ at }) => instant(at) },
            ...lines.map((line, index) => ({ title: line.title, cell: ({ counts }: Point) => counts[index]! }))
          ],
          "Nothing happened in this period. Choose a longer one above."
        )}
      </details>
    </section>
  `
}
