/** The tabs of a drop, in their order. A tab is a file and a row here; its routes follow from it. */
import * as Look from "../look/Look.ts"
import * as Schedule from "../schedule/Schedule.ts"
import * as Check from "./Check.ts"
import * as Now from "./Now.ts"
import * as People from "./People.ts"
import * as Rehearse from "./rehearse/Rehearse.ts"
import * as Results from "./Results.ts"
import type { Tab, TabNeeds } from "./Tab.ts"

export const makeTabs = (needs: TabNeeds): ReadonlyArray<Tab> => [
  Now.make(needs),
  People.make(needs),
  Look.make(needs),
  Schedule.make(needs),
  Check.make(needs),
  Rehearse.make(needs),
  Results.make(needs)
]
