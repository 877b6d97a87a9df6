/** The chart of a mechanism: its lines reckoned back from the present values by the recorded events, and its acts. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { intervalMillis, type Interval } from "../../../domain/organization/Analytics.ts"
import { type Html, html, trusted } from "../../Html.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { counted } from "../Parts.ts"
import { actsPart, type makeActs } from "./Acts.ts"
import type { Mechanism } from "./Drop.ts"
import { type ChartData, chartMarkup, countOf, height, width } from "./ChartMarkup.ts"
import { sampleOf, type Seen } from "./Figures.ts"
import { viewOf } from "./Kinds.ts"
import type { Counted } from "./KindView.ts"

const quickMillis = 15 * 60_000
const slowMillis = { least: 3_600_000, most: 90 * 86_400_000 }

/** Buckets of a chart. */
const bucketsMax = 60

/** Makes the function that writes the chart of a mechanism. */
export const makeChart = (api: AdminApiClient["Service"], actsOf: ReturnType<typeof makeActs>) =>
  Effect.fnUntraced(function* (operator: Operator, seen: Seen, timeZone: string, now: number) {
    const { mechanism } = seen
    const counted = viewOf(mechanism).lines
    const { from, to, interval } = rangeOf(mechanism, now)
    const events = [...new Set(counted.flatMap(({ up, down }) => [...up, ...down]))]
    const { data } = yield* (
      api
        .run(operator, "analytics", "queryAnalytics", {
          payload: {
            interval,
            timeRange: `${new Date(from).toISOString()}/${new Date(to).toISOString()}`,
            measures: events.map((event) => ({ name: event, event, op: "count", unit: "1" })),
            where: { distributionId: mechanism.id }
          }
        })
        // Without the past the chart begins now.
        .pipe(Effect.catchTag("Refusal", () => Effect.succeed({ data: [] })))
    )
    const sample = sampleOf(mechanism)
    const chart: ChartData = {
      from,
      to,
      timeZone,
      lines: counted.map((line, index) => ({
        name: line.name,
        ...(line.one !== undefined && { one: line.one }),
        points: pointsOf(line, sample[index]!, data, { from, to, length: intervalMillis[interval] })
      })),
      acts: yield* actsOf(operator, seen)
    }
    return chartOf(mechanism, chart)
  })

interface Span {
  readonly from: number
  readonly to: number
  readonly length: number
}

/** Returns the points of a line, reckoned back from its present value. */
export const pointsOf = (
  { up, down }: Pick<Counted, "up" | "down">,
  present: number,
  buckets: ReadonlyArray<{ readonly time_bucket: number; readonly series: { readonly [event: string]: number } }>,
  { from, to }: Span
): ReadonlyArray<readonly [number, number]> => {
  const points: Array<readonly [number, number]> = [[to, present]]
  let value = present
  for (const { time_bucket: at, series } of buckets.toReversed()) {
    const of = (events: ReadonlyArray<string>) => events.reduce((sum, event) => sum + (series[event] ?? 0), 0)
    value = Math.max(0, value - of(up) + of(down))
    points.unshift([Math.max(at, from), value])
  }
  return points
}

const openingOf = ({ openAt, createdAt }: Mechanism): number => openAt ?? createdAt

const spanOf = (millis: number): string => {
  const minutes = Math.round(millis / 60_000)
  if (minutes <= 60) return counted(minutes, "minute", "minutes")
  const hours = Math.round(minutes / 60)
  return hours < 48 ? counted(hours, "hour", "hours") : counted(Math.round(hours / 24), "day", "days")
}

const rangeOf = (mechanism: Mechanism, now: number) => {
  const openAt = openingOf(mechanism)
  const longest = viewOf(mechanism).isQuick ? quickMillis : slowMillis.most
  const shortest = viewOf(mechanism).isQuick ? 5 * 60_000 : slowMillis.least
  const end = mechanism.lifecycle === "closed" ? Math.min(now, mechanism.updatedAt + 60_000) : now
  const from = Math.min(Math.max(openAt, end - longest), end - shortest)
  const fitting = Object.entries(intervalMillis).find(([, millis]) => (end - from) / millis <= bucketsMax)
  return { from, to: end, interval: (fitting?.[0] ?? "1d") as Interval }
}

const time = (timeZone: string, at: number): string =>
  new Intl.DateTimeFormat("en-GB", { timeZone, hour: "2-digit", minute: "2-digit" }).format(at)

const chartOf = (mechanism: Mechanism, chart: ChartData): Html => {
  const title = chart.lines.map(({ name }) => name).join(" and ")
  const isSinceOpening = chart.from === openingOf(mechanism)
  const since = isSinceOpening ? "since the opening" : `last ${spanOf(chart.to - chart.from)}`
  const summary = chart.lines.map((line) => countOf(line, line.points.at(-1)?.[1] ?? 0)).join(", ")
  return html`
    <section class="card plot">
      <h2>${title.replace(/^./, (first) => first.toUpperCase())} <small>· ${since}</small></h2>
      <svg
        viewBox="0 0 ${width} ${height}"
        role="img"
        aria-label="${summary} now"
        data-chart="${mechanism.id}"
        data-points="${JSON.stringify(chart)}"
      >
        ${trusted(chartMarkup(chart))}
      </svg>
      ${actsPart(mechanism.id, chart.acts)}
      <details>
        <summary>The same as a table</summary>
        <table>
          <caption>
            ${title.replace(/^./, (first) => first.toUpperCase())}, newest last
          </caption>
          <tr>
            <th scope="col">Time</th>
            ${chart.lines.map(({ name }) => html`<th scope="col">${name}</th>`)}
          </tr>
          ${chart.lines[0]!.points.slice(-rowsMax).map(
            ([at], index, rows) =>
              html`<tr>
                <td>${time(chart.timeZone, at)}</td>
                ${chart.lines.map(({ points }) => html`<td>${points.at(index - rows.length)?.[1] ?? 0}</td>`)}
              </tr>`
          )}
        </table>
      </details>
    </section>
  `
}

/** Rows of the table behind a chart, the last ones. */
const rowsMax = 16
