/**
 * R11: compares the slots of appointments around every clock change of every time zone, from 2020 to 2035. The reference
 * is an independent model that cuts slots minute by minute from local time.
 *
 *     npm run prove -- time-zones --from 2020 --to 2035
 */
import { changesOf } from "../domain/appointment/MinuteByMinute.ts"
import { compareAround } from "../domain/appointment/zoneProof.ts"
import { conclude, options } from "./Report.ts"

const { from, to } = options({ from: 2020, to: 2035 })

const zones = Intl.supportedValuesOf("timeZone")
const failures: Array<string> = []
let changes = 0
let slots = 0

for (const zone of zones) {
  for (const day of changesOf(zone, Date.UTC(from, 0, 1), Date.UTC(to + 1, 0, 1))) {
    const comparison = compareAround(zone, day)
    changes++
    slots += comparison.compared
    failures.push(...comparison.failures)
  }
}

conclude("slots keep local time", { zones: zones.length, changes, slots }, failures, changes > 0 && slots > 0)
