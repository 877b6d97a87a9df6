/** The answers to the questions of one part. What it cannot read becomes a problem of that field. */
import { type Millis, toText } from "../../../domain/values/Time.ts"
import { dayIn, minutesIn, noMinutes, numberIn, textIn } from "../form/Typed.ts"

const minute = 60_000

/** The days of a week, as opening hours name them. */
export const weekdays = [
  ["monday", "Monday"],
  ["tuesday", "Tuesday"],
  ["wednesday", "Wednesday"],
  ["thursday", "Thursday"],
  ["friday", "Friday"],
  ["saturday", "Saturday"],
  ["sunday", "Sunday"]
] as const

/** The longest span: ten years. */
const minutesMax = 5_256_000

export class Answers {
  readonly #fields: URLSearchParams
  readonly #prefix: string
  readonly #timeZone: string
  readonly #problems: Map<string, string>

  constructor(
    fields: URLSearchParams,
    { prefix, timeZone }: { readonly prefix: string; readonly timeZone: string },
    problems: Map<string, string>
  ) {
    this.#fields = fields
    this.#prefix = prefix
    this.#timeZone = timeZone
    this.#problems = problems
  }

  text(name: string): string | undefined {
    return textIn(this.#fields, this.#nameOf(name))
  }

  all(name: string): ReadonlyArray<string> {
    return this.#fields.getAll(this.#nameOf(name)).filter((day) => weekdays.some(([known]) => known === day))
  }

  /** A number, or the text that is none: the API says so. */
  number(name: string): number | string | undefined {
    return numberIn(this.#fields, this.#nameOf(name))
  }

  /** The seconds of minutes, which may be a fraction. */
  seconds(name: string): number | undefined {
    const value = minutesIn(this.#fields, this.#nameOf(name))
    if (typeof value === "string") this.#problems.set(this.#nameOf(name), noMinutes)
    return typeof value === "string" ? undefined : value
  }

  /** A number with which the page computes: 0 for an empty field. */
  whole(name: string): number {
    const value = this.number(name) ?? 0
    if (typeof value === "number" && value >= 0 && value <= minutesMax) return value
    this.#problems.set(this.#nameOf(name), "Enter a whole number.")
    return 0
  }

  /** A span of time in milliseconds. */
  span(name: string): Millis {
    const span = this.optionalSpan(name)
    if (span === undefined) this.#problems.set(this.#nameOf(name), "This is needed.")
    return span ?? minute
  }

  optionalSpan(name: string): Millis | undefined {
    if (this.text(name) === undefined) return undefined
    const minutes = this.whole(name) * Number(this.text(`${name}.unit`) ?? "1")
    if (minutes >= 1 && minutes <= minutesMax) return minutes * minute
    this.#problems.set(this.#nameOf(name), "Enter at least a minute and at most ten years.")
    return minute
  }

  /** The beginning of a day in the time zone, these days later. */
  day(name: string, later: number): string | undefined {
    const at = dayIn(this.text(name) ?? "", later, this.#timeZone)
    if (at !== undefined) return toText(at)
    this.#problems.set(this.#nameOf(name), "Enter a day.")
    return undefined
  }

  #nameOf(name: string): string {
    return `${this.#prefix}.${name}`
  }
}
