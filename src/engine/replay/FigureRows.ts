/** The figures of a journal as people read them. */
import type { Figures } from "./Figures.ts"

/** Returns each figure with its name, as people read both. `soldOutAt` is shown as it is. */
export const rowsOf = (figures: Figures): ReadonlyArray<readonly [name: string, value: string]> => {
  const { waitSeconds, soldOutAt, largestSecond } = figures
  const wait = (seconds: number | undefined) => (seconds === undefined ? "-" : durationInWords(seconds))
  return [
    ["people", number(figures.people)],
    ["entries", number(figures.entries)],
    ["admitted", number(figures.admitted)],
    ["used", number(figures.used)],
    ["lapsed", number(figures.lapsed)],
    ["given back", number(figures.returned)],
    ["gave up waiting", number(figures.gaveUp)],
    ["turned away at the end", number(figures.turnedAway)],
    ["denied by staff", number(figures.denied)],
    ["still waiting", number(figures.stillWaiting)],
    ["wait, median", wait(waitSeconds?.median)],
    ["wait, 95 of 100 within", wait(waitSeconds?.p95)],
    ["wait, longest", wait(waitSeconds?.longest)],
    ["nothing left at", soldOutAt ?? "-"],
    ["largest second, entries", number(largestSecond.entries)],
    ["largest second, grants", number(largestSecond.grants)]
  ]
}

const number = (value: number): string => value.toLocaleString("en")

/** Returns a time as people read it: `45 s`, `12 min 5 s`, `3 h 20 min`. */
const durationInWords = (seconds: number): string => {
  if (seconds < 60) return `${Math.round(seconds * 10) / 10} s`
  const whole = Math.round(seconds)
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3_600)} h ${Math.floor((whole % 3_600) / 60)} min`
}
