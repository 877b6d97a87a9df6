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

/** Replaces the placeholders of a text. */
export const fill = (text: string, values: Record<string, string>) =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "")

/** The local time. Within a day of a change of the clock, when one may be shown twice, it has its offset from UTC with it. */
export const localTime = (at: Date, language: string | undefined, options: Intl.DateTimeFormatOptions) => {
  const offset = (millis: number) => new Date(at.getTime() + millis).getTimezoneOffset()
  const timeZoneName = offset(-864e5) === offset(864e5) ? undefined : "shortOffset"
  return at.toLocaleString(language, { ...options, timeZoneName })
}
