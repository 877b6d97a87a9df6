/**
 * Keeps a drop alive while the page is visible: a stream tells of changes, and then the figures are fetched, at most once
 * a second. While there is no stream they are fetched every second. The charts go on with them, and the last events are
 * fetched when there are new ones.
 */
import { type ChartData, chartMarkup } from "../../dashboard/drop/ChartMarkup.ts"
import { trustedHtml } from "../trustedHtml.ts"
import { changes } from "./changes.ts"
import { localTimes } from "./helpers.ts"

const everyMillis = 1_000

/** Milliseconds after which figures are fetched without a change: time alone lowers a price, or closes a slot. */
const restMillis = 10_000

/** Milliseconds between two looks at the last events. */
const happenedMillis = 1_500

/** Points of a line that are kept. The oldest go first. */
const pointsMax = 1_000

export const follow = (place: HTMLElement): void => {
  const { live, events, happened } = place.dataset
  if (live === undefined) return
  let sequences = sequencesOf(place)
  let nextAt = Date.now() + happenedMillis
  let hasChanged = false
  let isLooking = false
  // The page itself was the first look.
  let lookedAt = Date.now()
  let timer: ReturnType<typeof setTimeout> | undefined

  const fetchNew = async (): Promise<void> => {
    if (hasChanged || !stream.isOpen() || Date.now() >= lookedAt + restMillis) {
      hasChanged = false
      lookedAt = Date.now()
      await fetchParts(place, live)
    }
    const now = sequencesOf(place)
    if (happened === undefined || now === sequences || Date.now() < nextAt) return
    sequences = now
    nextAt = Date.now() + happenedMillis
    await fetchParts(place, happened)
  }

  const look = async (): Promise<void> => {
    isLooking = true
    stream.follow(!document.hidden)
    if (!document.hidden) {
      // Without an answer the last figures stay, and the next look may succeed.
      await fetchNew().catch(() => {})
      continueCharts(place)
    }
    isLooking = false
    timer = setTimeout(() => void look(), everyMillis)
  }

  const lookSoon = (): void => {
    hasChanged = true
    if (isLooking) return
    clearTimeout(timer)
    timer = setTimeout(() => void look(), Math.max(0, lookedAt + everyMillis - Date.now()))
  }

  const stream = changes(events, lookSoon)
  document.addEventListener("visibilitychange", lookSoon)
  // A form that was closed may be replaced.
  place.addEventListener("toggle", lookSoon, true)
  stream.follow(!document.hidden)
  lookSoon()
}

/** Which events the figures have counted. */
const sequencesOf = (place: HTMLElement): string =>
  Array.from(place.querySelectorAll<HTMLElement>("[data-sequence]"), (one) => one.dataset["sequence"]).join()

/** Replaces the parts of the page by those of an address. */
const fetchParts = async (place: HTMLElement, address: string): Promise<void> => {
  const response = await fetch(address, { cache: "no-store", redirect: "manual" })
  // A session that has ended leads to the sign-in.
  if (response.type === "opaqueredirect") return location.reload()
  if (!response.ok) return
  const fresh = document.createElement("template")
  fresh.innerHTML = trustedHtml(await response.text())
  const link = document.activeElement?.closest("[data-part] a")?.getAttribute("href")
  localTimes(fresh.content)
  fresh.content.querySelectorAll<HTMLElement>("[data-part]").forEach((part) => {
    const old = document.querySelector<HTMLElement>(`[data-part="${part.dataset["part"]}"]`)
    if (old !== null && !old.isEqualNode(part) && !isKept(old, part)) old.replaceWith(part)
  })
  // A person may be on one of the links that are replaced.
  if (typeof link === "string") place.querySelector<HTMLElement>(`[data-part] a[href="${link}"]`)?.focus()
}

/** Forms stay while their state is the same. While a person fills one in, they stay and say that it is another one. */
const isKept = (old: HTMLElement, { dataset: { state } }: HTMLElement): boolean => {
  if (state === undefined) return false
  const isSame = old.dataset["state"] === state
  const changed = old.querySelector<HTMLElement>("[data-changed]")
  if (changed !== null) changed.hidden = isSame
  return isSame || old.querySelector("details[open]") !== null
}

const continueCharts = (place: HTMLElement): void => {
  place.querySelectorAll<SVGElement>("[data-chart]").forEach((svg) => {
    const figures = place.querySelector<HTMLElement>(`[data-part="figures-${svg.dataset["chart"]}"]`)
    const sample = figures?.dataset["sample"]?.split(" ").map(Number)
    if (sample === undefined) return
    const chart = JSON.parse(svg.dataset["points"]!) as ChartData
    const now = Date.now()
    const moved = Math.max(0, now - chart.to)
    const from = chart.from + moved
    const acts = place.querySelector<HTMLElement>(`[data-part="acts-${svg.dataset["chart"]}"]`)?.dataset["acts"]
    const next: ChartData = {
      ...chart,
      ...(acts !== undefined && { acts: JSON.parse(acts) as ChartData["acts"] }),
      from,
      to: now,
      lines: chart.lines.map((line, index) => ({
        ...line,
        points: [...line.points.filter(([at]) => at >= from), [now, sample[index] ?? 0] as const].slice(-pointsMax)
      }))
    }
    svg.dataset["points"] = JSON.stringify(next)
    svg.innerHTML = trustedHtml(chartMarkup(next))
  })
}
