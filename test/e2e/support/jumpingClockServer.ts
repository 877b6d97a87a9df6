/**
 * The command line with a clock that can be put forward and back: on SIGUSR2 it is so many milliseconds off as the file
 * CLOCK_OFFSET_FILE says. Only the time of day jumps; timers go on as they do when a machine's clock is set.
 *
 *     CLOCK_OFFSET_FILE=offset node test/e2e/support/jumpingClockServer.ts serve
 */
import { readFileSync } from "node:fs"

const file = process.env["CLOCK_OFFSET_FILE"]!
let offsetMillis = 0
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
