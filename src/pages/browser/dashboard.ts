/** The script of the dashboard. Every screen works without it. */
import { follow } from "./dashboard/follow.ts"
import { copyButtons, localTimes, numberedButtons, passing, searchKey } from "./dashboard/helpers.ts"
import { previews } from "./dashboard/preview.ts"

localTimes(document)
copyButtons()
numberedButtons()
searchKey()
previews()
passing()
const place = document.querySelector<HTMLElement>("[data-live]")
if (place !== null) follow(place)
