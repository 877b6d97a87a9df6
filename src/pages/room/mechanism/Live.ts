/** The live state of mechanisms, from the public facts of an experience, shown in a line of each card. */
import { Effect } from "effect"
import { Headers, HttpServerRequest } from "effect/http"
import type { Caller, Calls } from "../../Calls.ts"
import { html, type Html } from "../../Html.ts"
import { say, type Scene } from "../Scene.ts"
import type { LiveFacts, Seen } from "./Parts.ts"

/** Runs an operation whose answer callers share. It must not depend on what one of them has in its cache. */
export const forEverybody = Effect.updateService(HttpServerRequest.HttpServerRequest, (request) =>
  request.modify({ headers: Headers.remove(request.headers, "if-none-match") })
)

/** Reads the live facts of an experience by the ids of its mechanisms. There are none while they cannot be read. */
export const liveOf = (calls: Calls["Service"], { holder }: Caller, experienceId: string) =>
  forEverybody(calls.run({ holder }, "live", "live", { params: { experienceId } })).pipe(
    Effect.map(({ mechanisms }) => new Map<string, LiveFacts>(mechanisms.map((facts) => [facts.id, facts]))),
    Effect.orElseSucceed(() => new Map<string, LiveFacts>())
  )

/** The line of a mechanism that is open. */
export const liveLine = (scene: Scene, mechanism: Seen): Html | undefined => {
  const { kind, record, live } = mechanism
  if (live === undefined || record.lifecycle !== "open") return undefined
  if (kind === "timed_release" && live.isFull === true) return undefined
  const line = (key: "waitingNow" | "entriesNow" | "unitsLeft", count: number | null | undefined) =>
    typeof count === "number"
      ? html`<p class="muted" data-fact="${key}">${say(scene, key, { count: scene.formats.number(count) })}</p>`
      : undefined
  switch (kind) {
    case "queue":
      return line("waitingNow", live.waiting)
    case "draw":
      return line("entriesNow", live.entries)
    case "timed_release":
      return line("unitsLeft", live.unitsLeft)
    default:
      return undefined
  }
}
