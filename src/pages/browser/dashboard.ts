/**
 * Keeps a control room alive: fetches its figures every second while the page is visible, and draws the last ten minutes
 * of them. Without it the page shows the figures of its time.
 */
import { localTime } from "./formats.ts"
import { trustedHtml } from "./trustedHtml.ts"

interface Sample {
  readonly at: Date
  readonly waiting: number
  readonly entries: number
  readonly grants: number
}

const seriesNames = ["waiting", "entries", "grants"] as const
const everyMillis = 1_000
const keptMax = 600
const width = 600
const height = 160

const samples: Array<Sample> = []

/** The sum of a series over all mechanisms of the page. */
const sumOf = (place: Element, name: string): number => {
  let sum = 0
  place.querySelectorAll(`[data-series="${name}"]`).forEach((one) => (sum += Number(one.textContent) || 0))
  return sum
}

const localTimes = (root: ParentNode): void => {
  root.querySelectorAll("time").forEach((time) => {
    const at = new Date(time.dateTime)
    if (Number.isNaN(at.getTime())) return
    time.title = time.textContent ?? ""
    time.textContent = localTime(at, undefined, {
      day: "numeric",
      month: "short",
      year: "numeric",
      hour: "numeric",
      minute: "2-digit"
    })
  })
}

const draw = (chart: HTMLElement): void => {
  const svg = chart.querySelector("svg")!
  const most = Math.max(1, ...samples.map((sample) => Math.max(...seriesNames.map((name) => sample[name]))))
  svg.textContent = ""
  for (const name of seriesNames) {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline")
    const x = (index: number) => (samples.length < 2 ? 0 : (index * width) / (samples.length - 1))
    const points = samples.map(
      (sample, index) => `${x(index).toFixed(1)},${(height - (sample[name] * height) / most).toFixed(1)}`
    )
    line.setAttribute("points", points.join(" "))
    line.setAttribute("class", name)
    svg.append(line)
  }
  const table = chart.querySelector("table")!
  table.textContent = ""
  table.createCaption().textContent = "The last two minutes, newest last"
  const row = (cells: ReadonlyArray<string>, isHead: boolean) => {
    const tr = table.insertRow()
    for (const cell of cells) {
      const td = document.createElement(isHead ? "th" : "td")
      td.textContent = cell
      tr.append(td)
    }
  }
  row(["Time", "Waiting", "Entries a minute", "Grants a minute"], true)
  for (const sample of samples.filter((_, index) => (samples.length - 1 - index) % 10 === 0).slice(-12)) {
    row([sample.at.toLocaleTimeString(), ...seriesNames.map((name) => `${sample[name]}`)], false)
  }
  chart.hidden = samples.length < 2
}

const follow = (place: HTMLElement, address: string): void => {
  const chart = document.querySelector<HTMLElement>("[data-chart]")
  const look = async (): Promise<void> => {
    if (!document.hidden) {
      try {
        const response = await fetch(address, { cache: "no-store", redirect: "manual" })
        // A session that has ended leads to the sign-in.
        if (response.type === "opaqueredirect") return location.reload()
        if (response.ok) {
          const text = await response.text()
          const link = document.activeElement?.closest("[data-live] a")?.getAttribute("href")
          place.innerHTML = trustedHtml(text)
          localTimes(place)
          // A person may be on one of the links that are replaced.
          if (typeof link === "string") place.querySelector<HTMLElement>(`a[href="${link}"]`)?.focus()
          samples.push({
            at: new Date(),
            waiting: sumOf(place, "waiting"),
            entries: sumOf(place, "entries"),
            grants: sumOf(place, "grants")
          })
          if (samples.length > keptMax) samples.shift()
          if (chart !== null) draw(chart)
        }
      } catch {
        // The last figures stay. The next look may succeed.
      }
    }
    setTimeout(() => void look(), everyMillis)
  }
  void look()
}

localTimes(document)
const place = document.querySelector<HTMLElement>("[data-live]")
if (place?.dataset["live"] !== undefined) follow(place, place.dataset["live"])
