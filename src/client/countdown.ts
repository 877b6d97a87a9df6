/** Digits of a clock for the time that is left: `1 day 02:03:04`, or `03:04`. */
export const countdownText = (seconds: number, language: string): string => {
  const two = (value: number) => `${value}`.padStart(2, "0")
  const [days, hours] = [Math.floor(seconds / 86_400), Math.floor(seconds / 3600) % 24]
  const minutes = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
  if (days === 0) return hours > 0 ? `${two(hours)}:${minutes}` : minutes
  const format = new Intl.NumberFormat(language, { style: "unit", unit: "day", unitDisplay: "long" })
  return `${format.format(days)} ${two(hours)}:${minutes}`
}
