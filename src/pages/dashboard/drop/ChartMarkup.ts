/**
 * A chart of a mechanism as SVG: axes with units, the value at each line's end, and a marker for each act of staff. The
 * server writes it first, and the script of the page again with each new sample, so this file needs neither.
 */
import { escapeHtml } from "../../../domain/experience/creative/rendering/Escaping.ts"

/** A line: what its values count, and its points in the order of time. */
export interface Line {
  readonly name: string
  /** The same of one. */
  readonly one?: string
  readonly points: ReadonlyArray<readonly [at: number, value: number]>
}

export interface ChartData {
  readonly from: number
  readonly to: number
  readonly timeZone: string
  readonly lines: ReadonlyArray<Line>
  readonly acts: ReadonlyArray<{ readonly at: number; readonly text: string }>
}

export const [width, height] = [640, 236]
const [left, right, top, bottom] = [52, 630, 58, 206]

/** The classes of the lines, in their order. */
const styles = ["first", "second", "third"]

const number = new Intl.NumberFormat("en")

/** Returns a round number that is not below the value, in a whole number of steps. */
export const roundedUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(4, value)))
  const step = [0.4, 0.8, 1.2, 2, 4, 8, 12].find((one) => one * power >= value) ?? 12
  return Math.max(4, step * power)
}

/** The contents of the SVG of a chart. */
export const chartMarkup = ({ from, to, timeZone, lines, acts }: ChartData): string => {
  const most = roundedUp(Math.max(1, ...lines.flatMap(({ points }) => points.map(([, value]) => value))))
  const x = (at: number) => round(left + ((at - from) / Math.max(1, to - from)) * (right - left))
  const y = (value: number) => round(bottom - (value / most) * (bottom - top))
  return [
    ...rules(most, y),
    ...times(from, to, timeZone, x),
    ...lines.flatMap(({ points }, index) => [
      index === 0 ? area(points, x, y) : "",
      `<polyline class="${styles[index]}" points="${points.map(([at, value]) => `${x(at)},${y(value)}`).join(" ")}"/>`
    ]),
    ...acts
      .filter(({ at }) => at >= from && at <= to)
      .slice(-actsMax)
      .flatMap((act, index) => marker(act, index, x)),
    ...ends(lines, y)
  ].join("")
}

/** Markers that have room for their texts. */
const actsMax = 3

const round = (value: number): number => Math.round(value * 10) / 10

const rules = (most: number, y: (value: number) => number): ReadonlyArray<string> =>
  [0, 1, 2, 3, 4].map((part) => {
    const value = (most * part) / 4
    const at = y(value)
    return `<path class="rule" d="M${left} ${at}H${right}"/><text x="${left - 8}" y="${at + 4}" text-anchor="end">${number.format(value)}</text>`
  })

const times = (from: number, to: number, timeZone: string, x: (at: number) => number): ReadonlyArray<string> => {
  const isLong = to - from > 36 * 3_600_000
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    ...(isLong ? { day: "numeric", month: "short" } : { hour: "2-digit", minute: "2-digit" })
  })
  const marks = [0, 1, 2, 3].map((part) => from + ((to - from) * part) / 3)
  return marks.map((at, index) => {
    const anchor = index === 0 ? "start" : index === 3 ? "end" : "middle"
    return `<text x="${x(at)}" y="${bottom + 22}" text-anchor="${anchor}">${format.format(at)}</text>`
  })
}

const area = (points: Line["points"], x: (at: number) => number, y: (value: number) => number): string => {
  const first = points[0]
  const last = points.at(-1)
  if (first === undefined || last === undefined) return ""
  const line = points.map(([at, value]) => `${x(at)} ${y(value)}`).join("L")
  return `<path class="area" d="M${x(first[0])} ${bottom}L${line}L${x(last[0])} ${bottom}Z"/>`
}

const marker = (
  { at, text }: ChartData["acts"][number],
  index: number,
  x: (at: number) => number
): ReadonlyArray<string> => {
  const isLate = x(at) > (left + right) / 2
  return [
    `<path class="act" d="M${x(at)} ${top - 46}V${bottom}"/>`,
    `<text class="act" x="${x(at) + (isLate ? -6 : 6)}" y="${top - 38 + index * 15}" text-anchor="${isLate ? "end" : "start"}">${escapeHtml(text)}</text>`
  ]
}

/** A value with what it counts, such as `1 entry`. */
export const countOf = ({ name, one = name }: Pick<Line, "name" | "one">, value: number): string =>
  `${number.format(value)} ${value === 1 ? one : name}`

/** The value at the end of each line. Values near each other are moved apart. */
const ends = (lines: ReadonlyArray<Line>, y: (value: number) => number): ReadonlyArray<string> => {
  const wanted = lines.flatMap((line, index) => {
    const value = line.points.at(-1)?.[1]
    return value === undefined ? [] : [{ text: countOf(line, value), index, at: y(value) - 7 }]
  })
  let last = -Infinity
  return wanted
    .toSorted((one, other) => one.at - other.at)
    .map(({ text, index, at }) => {
      last = Math.max(at, last + 15)
      return `<text class="end ${styles[index]}" x="${right}" y="${round(last)}" text-anchor="end">${escapeHtml(text)}</text>`
    })
}
