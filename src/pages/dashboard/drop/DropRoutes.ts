/** The routes of drops: the list, a new one, and the tabs of each with their forms. */
import { Effect } from "effect"
import * as Home from "../Home.ts"
import * as NewDrop from "../newDrop/NewDrop.ts"
import { get, type Route } from "../Route.ts"
import { makeRead } from "./Drop.ts"
import { screenOf } from "./Head.ts"
import type { TabNeeds } from "./Tab.ts"
import { makeTabs } from "./Tabs.ts"

/** The routes of drops. */
export const make = (needs: TabNeeds, roomUrl: (experienceId: string) => string): ReadonlyArray<Route> => {
  const { api } = needs
  const showHome = Home.make(api)
  const read = makeRead(api, roomUrl)
  const tabs = makeTabs(needs)

  return [
    get("", (operator, { query }) => showHome(operator, query)),
    ...NewDrop.make(api),
    ...tabs.flatMap((tab) => [
      get(
        `/experiences/:id${tab.path}`,
        Effect.fnUntraced(function* (operator, sent) {
          const drop = yield* read(operator, sent.params["id"]!)
          return screenOf(drop, tabs, tab, yield* tab.show(operator, drop, sent))
        })
      ),
      ...(tab.routes?.({ read, write: (drop, body) => screenOf(drop, tabs, tab, body) }) ?? [])
    ])
  ]
}
