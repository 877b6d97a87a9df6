/**
 * The command line with an adjustable clock. It is CLOCK_OFFSET_MILLISECONDS ahead (default 0) at first. On SIGUSR2 it
 * takes its offset in milliseconds from the file CLOCK_OFFSET_FILE. Only the time of day changes; timers behave as on a
 * machine whose clock is set.
 *
 *     CLOCK_OFFSET_FILE=offset node test/e2e/support/jumpingClockServer.ts serve
 */
import { readFileSync } from "node:fs"

const file = process.env["CLOCK_OFFSET_FILE"]!
let offsetMillis = Number(process.env["CLOCK_OFFSET_MILLISECONDS"] ?? 0)
process.on("SIGUSR2", () => {
  offsetMillis = Number(readFileSync(file, "utf8"))
})

const { now } = Date
const shifted = () => now() + offsetMillis
globalThis.Date = new Proxy(Date, {
  construct: (date, args) => (args.length === 0 ? new date(shifted()) : Reflect.construct(date, args)),
  get: (date, name) => (name === "now" ? shifted : Reflect.get(date, name))
})

await import("../../../src/main.ts")
