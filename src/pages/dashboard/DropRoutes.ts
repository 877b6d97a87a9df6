/** Drops: the running ones, a new one from a template, and the control room of each. */
import { Effect } from "effect"
import { notFound } from "../Refusal.ts"
import type { AdminApiClient } from "../ApiClients.ts"
import * as ControlRoom from "./ControlRoom.ts"
import * as Home from "./Home.ts"
import * as NewDrop from "./NewDrop.ts"
import { get, post, type Route } from "./Route.ts"
import * as Steering from "./Steering.ts"

const pathOf = (experienceId: string): string => `/dashboard/experiences/${experienceId}`

/** The routes of drops. */
export const make = (
  api: AdminApiClient["Service"],
  roomUrl: (experienceId: string) => string
): ReadonlyArray<Route> => {
  const controlRoom = ControlRoom.make(api, roomUrl)
  const showHome = Home.make(api)
  const createDrop = NewDrop.make(api)
  const steer = Steering.make(api)

  return [
    get("", (operator) => showHome(operator)),
    { ...get("/new", () => Effect.succeed(NewDrop.newDropScreen())), role: "operator" },
    post("/new", "operator", (operator, { fields }) =>
      Effect.map(createDrop(operator, fields), (made) =>
        "screen" in made ? made.screen : { goTo: pathOf(made.experienceId) }
      )
    ),
    get("/experiences/:id", (operator, { params, query }) =>
      controlRoom.screen(operator, params["id"]!, Steering.resultOf(query))
    ),
    get("/experiences/:id/figures", (operator, { params }) =>
      Effect.map(controlRoom.figures(operator, params["id"]!), (part) => ({ part }))
    ),
    post(
      "/experiences/:id/:action",
      "operator",
      Effect.fnUntraced(function* (operator, { params, fields }) {
        const action = params["action"]
        if (!Steering.isAction(action)) return yield* notFound
        const outcome = yield* steer(operator, action, fields)
        return "ask" in outcome ? outcome.ask : { goTo: `${pathOf(params["id"]!)}?${outcome.done}` }
      })
    ),
    // The address that a form leaves in the browser.
    get("/experiences/:id/:action", (operator, { params, query }) =>
      Steering.isAction(params["action"])
        ? controlRoom.screen(operator, params["id"]!, Steering.resultOf(query))
        : Effect.fail(notFound)
    )
  ]
}
