/** Draws the figures as SVG with Vega, without a browser. */
import { parse, View } from "vega"
import { compile, type TopLevelSpec } from "vega-lite"
import type { Curve, ScenarioResult } from "./Figures.ts"
import type { Report } from "./Report.ts"

/** The figures drawn as bars in each scenario. Smaller is better for latencies. */
const headlines: { readonly [scenario: string]: ReadonlyArray<readonly [figure: string, title: string]> } = {
  P1: [
    ["entriesPerSecond", "P1  durable entries a second"],
    ["serverMicrosecondsPerEntry", "P1  µs of processor an entry, server"]
  ],
  P2: [
    ["latencyP50Milliseconds", "P2  median ms at the same rate"],
    ["latencyP99Milliseconds", "P2  p99 ms at the same rate"]
  ],
  P3: [
    ["readsPerSecond", "P3  status reads a second"],
    ["serverMicrosecondsPerRead", "P3  µs of processor a read, server"]
  ],
  P4: [
    ["entriesPerSecond", "P4  entries a second"],
    ["secondsToReady", "P4  seconds from start to ready"]
  ],
  P5: [
    ["latencyP99Milliseconds", "P5  p99 ms until a stream has its position"],
    ["kibibytesPerStream", "P5  KiB of memory a stream"]
  ],
  P6: [
    ["latencyP99Milliseconds", "P6  p99 ms of entries into a queue"],
    ["eventLoopLongestWorkMilliseconds", "P6  longest ms of work in one turn of the event loop"]
  ],
  P7: [
    ["requestsPerSecond", "P7  bids and entries a second"],
    ["serverMicrosecondsPerRequest", "P7  µs of processor a request, server"]
  ],
  P8: [
    ["entriesPerSecond", "P8  entries a second"],
    ["heapMegabytes", "P8  MB of heap"]
  ],
  P10: [
    ["arrivalsPerSecond", "P10  new consumers a second"],
    ["entryP99Milliseconds", "P10  p99 ms of the entry"]
  ],
  P15: [
    ["entriesPerSecond", "P15  entries a second into one queue"],
    ["ownerMicrosecondsPerEntry", "P15  µs of processor an entry, owner"]
  ],
  P16: [
    ["entriesPerSecond", "P16  entries a second into one queue"],
    ["usherMicrosecondsPerEntry", "P16  µs of processor an entry, all processes"]
  ],
  P17: [["entriesPerSecond", "P17  entries a second, the journal alone"]],
  W1: [
    ["entriesPerSecond", "W1  entries a second"],
    ["processorMicrosecondsPerEntry", "W1  µs of processor an entry"]
  ],
  C1: [
    ["entriesPerSecond", "C1  entries a second"],
    ["serverMicrosecondsPerEntry", "C1  µs of processor an entry, server"]
  ]
}

const width = 380
const resolve = { scale: { color: "independent" }, legend: { color: "independent" } }
const colors = new Map([
  ["usher", "#d9480f"],
  ["fastify-postgres", "#1971c2"],
  ["fastify-postgres-tuned", "#2f9e44"],
  ["fastify-redis", "#868e96"],
  ["dbos", "#7048e8"],
  ["pg-boss", "#0ca678"],
  ["noop", "#f4a261"],
  ["noop-open", "#e9c46a"]
])

export async function toSvg(report: Report): Promise<string> {
  const rows = Object.entries(report.scenarios).flatMap(([id, scenario]) => [
    ...barRows(id, scenario),
    ...curveRows(scenario)
  ])
  const specification = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    title: {
      text: report.quick ? "Usher, a smoke test (not a measurement)" : "Usher and the usual alternatives",
      subtitle: `${report.machine.processors} × ${report.machine.processorModel}, Node ${report.machine.node}, ${report.machine.postgres}; bars are medians, whiskers the span of all runs`,
      anchor: "start"
    },
    background: "white",
    padding: 16,
    vconcat: rows.map((row) => ({ hconcat: row, resolve })),
    resolve,
    config: {
      font: "sans-serif",
      view: { stroke: null },
      concat: { spacing: 32 },
      axis: { grid: true, gridColor: "#eee" }
    }
  }
  const view = new View(parse(compile(specification as unknown as TopLevelSpec).spec), { renderer: "none" })
  return view.toSVG()
}

function barRows(id: string, scenario: ScenarioResult): Array<Array<object>> {
  const charts = (headlines[id] ?? []).flatMap(([name, title]) => {
    const values = Object.entries(scenario.figures).flatMap(([program, figures]) => {
      const found = figures[name]
      return found === undefined
        ? []
        : [{ program, family: familyOf(program), median: found.median, min: found.min, max: found.max }]
    })
    return values.length === 0 ? [] : [bars(title, values)]
  })
  return charts.length === 0 ? [] : [charts]
}

function bars(title: string, values: ReadonlyArray<{ readonly family: string; readonly max: number }>): object {
  const y = { field: "program", type: "nominal", sort: null, title: null, axis: { labelLimit: 220 } }
  // Room for the label of the longest bar.
  const scale = { domain: [0, Math.max(...values.map(({ max }) => max)) * 1.2], nice: false }
  const x = { field: "median", type: "quantitative", title: null, scale }
  return {
    title: { text: title, anchor: "start" },
    width,
    height: { step: 26 },
    data: { values },
    layer: [
      { mark: { type: "bar", height: 16 }, encoding: { y, x, color: color(values, null) } },
      {
        mark: { type: "rule", strokeWidth: 1.5 },
        encoding: { y, x: { field: "min", type: "quantitative" }, x2: { field: "max" } }
      },
      {
        mark: { type: "text", align: "left", dx: 6 },
        encoding: {
          y,
          x: { field: "max", type: "quantitative" },
          text: { field: "median", type: "quantitative", format: ",.3~r" }
        }
      }
    ]
  }
}

/** Returns the charts of each curve, side by side: its rate or cost, and the server's processor time. */
function curveRows(scenario: ScenarioResult): Array<Array<object>> {
  return scenario.curves
    .map((curve) =>
      [...new Set(curve.points.flatMap((point) => Object.keys(point.values)))]
        .filter((name) => /^[a-z]+PerSecond$|^serverMicrosecondsPer|^microsecondsPer/.test(name))
        .map((name) => lines(curve, name))
    )
    .filter((row) => row.length > 0)
}

function lines(curve: Curve, name: string): object {
  const values = curve.points.flatMap((point) =>
    point.values[name] === undefined
      ? []
      : [{ program: point.program, family: familyOf(point.program), x: point.x, y: point.values[name] }]
  )
  return {
    title: { text: `${curve.title}: ${words(name)}`, anchor: "start" },
    width,
    height: 180,
    data: { values },
    mark: { type: "line", point: true },
    encoding: {
      x: {
        field: "x",
        type: "quantitative",
        scale: { type: "log" },
        title: curve.over,
        axis: { format: "~s", tickCount: 5 }
      },
      y: { field: "y", type: "quantitative", title: null, scale: { zero: true } },
      color: color(values, { title: null, orient: "top", labelLimit: 220 })
    }
  }
}

/** Returns the program whose color a variant uses: `usher, empty queue` uses Usher's. */
function familyOf(program: string): string {
  return program.split(",", 1)[0]!
}

/** Assigns each program the same color in every chart. */
function color(values: ReadonlyArray<{ readonly family: string }>, legend: object | null): object {
  const shown = [...colors].filter(([name]) => values.some(({ family }) => family === name))
  const scale = { domain: shown.map(([name]) => name), range: shown.map(([, shade]) => shade) }
  return { field: "family", type: "nominal", legend, scale }
}

/** `serverMicrosecondsPerEntry` → "server µs per entry". */
function words(name: string): string {
  return name
    .replace(/([A-Z])/g, " $1")
    .toLowerCase()
    .replace("microseconds", "µs")
}
