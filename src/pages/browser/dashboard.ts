/** The script of the dashboard. Every screen works without it. */
import { follow } from "./dashboard/follow.ts"
import {
  afresh,
  copyButtons,
  freshFrames,
  localTimes,
  numberedButtons,
  passing,
  searchKey
} from "./dashboard/helpers.ts"
import { previews } from "./dashboard/preview.ts"
import { unitsOfStock } from "./dashboard/units.ts"

afresh()
freshFrames()
localTimes(document)
copyButtons()
numberedButtons()
searchKey()
unitsOfStock()
previews()
passing()
const place = document.querySelector<HTMLElement>("[data-live]")
if (place !== null) follow(place)
