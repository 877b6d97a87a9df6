/** A tab of a drop. `Tabs.ts` lists them. */
import type { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import type { Refusal } from "../../Refusal.ts"
import type { MakeRoomPreview } from "../look/RoomPreview.ts"
import type { Screen } from "../Frame.ts"
import type { Sessions } from "../Guard.ts"
import type { Route, RouteRequest } from "../Route.ts"
import type { Drop } from "./Drop.ts"

/** What a tab shows below the head of the drop. */
export type TabBody = Pick<Screen, "body" | "status" | "framesPreview">

type Call<A> = Effect.Effect<A, Refusal, HttpServerRequest.HttpServerRequest>

export interface Tab {
  /** Below the address of the drop. The first tab has that address itself. */
  readonly path: "" | `/${string}`
  readonly title: string
  /** A number behind the title, undefined if none says what the tab shows. */
  readonly count?: (drop: Drop) => number | undefined
  readonly show: (operator: Operator, drop: Drop, sent: RouteRequest) => Call<TabBody>
  /** Its forms, parts and files, below `/experiences/:id` and the path of the tab. */
  readonly routes?: (frame: TabFrame) => ReadonlyArray<Route>
}

/** What the routes of a tab get. */
export interface TabFrame {
  readonly read: (operator: Operator, experienceId: string) => Call<Drop>
  /** Writes an answer into the tab, such as a form with its errors. */
  readonly write: (drop: Drop, body: TabBody) => Screen
}

/** What a tab may use. */
export interface TabNeeds {
  readonly api: AdminApiClient["Service"]
  readonly roomPreview: MakeRoomPreview
  readonly sessions: Pick<Sessions, "lasting">
}
