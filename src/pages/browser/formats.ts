/** Numbers, durations and local times in the language of the page. */
export const language = document.documentElement.lang
export const number = new Intl.NumberFormat(language)

const unit = (value: number, name: string) =>
  new Intl.NumberFormat(language, { style: "unit", unit: name, unitDisplay: "long" }).format(value)

/** A duration in its largest useful unit. */
export const duration = (seconds: number) => {
  if (seconds < 60) return unit(Math.max(1, Math.ceil(seconds)), "second")
  const minutes = Math.ceil(seconds / 60)
  return minutes < 90 ? unit(minutes, "minute") : unit(Math.round(minutes / 30) / 2, "hour")
}

/** A span of time, rounded outwards: `10–13 minutes`. */
export const span = (from: number, to: number) => {
  const [name, seconds, parts] = to <= 5400 ? (["minute", 60, 1] as const) : (["hour", 3600, 2] as const)
  const least = Math.max(0, Math.floor((from * parts) / seconds)) / parts
  const most = Math.max(1, Math.ceil((to * parts) / seconds)) / parts
  const format = new Intl.NumberFormat(language, { style: "unit", unit: name, unitDisplay: "long" })
  // Browsers before 2023 have no ranges.
  return "formatRange" in format ? format.formatRange(least, most) : `${number.format(least)}–${unit(most, name)}`
}

/** The form of a text for a number. */
export const formOf = (text: string | Record<string, string>, count: number) =>
  typeof text === "string" ? text : (text[new Intl.PluralRules(language).select(count)] ?? text["other"]!)

/** The local time of day, with its zone if it is not the one that the page is written in. */
export const clock = (at: Date, language: string, zone: string | undefined) => {
  const isOther = Intl.DateTimeFormat().resolvedOptions().timeZone !== zone
  return localTime(at, language, {
    hour: "numeric",
    minute: "2-digit",
    ...(isOther && { timeZoneName: "short" })
  })
}

/** Replaces the placeholders of a text. */
export const fill = (text: string, values: Record<string, string>) =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "")

/** The local time. Within a day of a change of the clock, when one may be shown twice, it has its offset from UTC with it. */
export const localTime = (at: Date, language: string | undefined, options: Intl.DateTimeFormatOptions) => {
  const offset = (millis: number) => new Date(at.getTime() + millis).getTimezoneOffset()
  const timeZoneName = offset(-864e5) === offset(864e5) ? undefined : "shortOffset"
  return at.toLocaleString(language, { timeZoneName, ...options })
}
