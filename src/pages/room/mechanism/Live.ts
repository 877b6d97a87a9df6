/** The live state of mechanisms, from the public facts of an experience, shown in a line of each card. */
import { Effect } from "effect"
import { Headers, HttpServerRequest } from "effect/http"
import type { Caller, ConsumerApiClient } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import { say, type Scene, showsUnitsLeft } from "../Scene.ts"
import type { LiveFacts, MechanismWithFacts } from "./Parts.ts"
import type { RoomKind } from "./RoomKind.ts"

/** Runs an operation whose answer callers share. It must not depend on what one of them has in its cache. */
export const forEverybody = Effect.updateService(HttpServerRequest.HttpServerRequest, (request) =>
  request.modify({ headers: Headers.remove(request.headers, "if-none-match") })
)

/** Reads the live facts of an experience by the ids of its mechanisms. There are none while they cannot be read. */
export const liveOf = (api: ConsumerApiClient["Service"], { holder }: Caller, experienceId: string) =>
  forEverybody(api.run({ holder }, "live", "live", { params: { experienceId } })).pipe(
    Effect.map(
      ({ mechanisms }) => new Map<string, LiveFacts>(mechanisms.map((facts) => [facts.id, roomFactsOf(facts)]))
    ),
    Effect.orElseSucceed(() => new Map<string, LiveFacts>())
  )

/** A queue whose units are all given away is full for a room, unless its stock may send some: then people may wait. */
const roomFactsOf = <Facts extends LiveFacts & { readonly kind: string }>(facts: Facts): LiveFacts =>
  facts.kind === "queue" && facts.unitsLeft === 0 && facts.soldOut?.mayReturn !== true
    ? { ...facts, isFull: true }
    : facts

/** The line of a mechanism that is open, with a fact of its kind. */
export const liveLine = (
  scene: Scene,
  { record, live }: MechanismWithFacts,
  { liveFact }: Pick<RoomKind<MechanismWithFacts, unknown>, "liveFact">
): Html | undefined => {
  if (live === undefined || record.lifecycle !== "open") return undefined
  const [key, count] = liveFact?.(live) ?? []
  if (key === "unitsLeft" && !showsUnitsLeft(scene)) return undefined
  return key !== undefined && typeof count === "number"
    ? html`<p class="muted" data-fact="${key}">${say(scene, key, { count: scene.formats.number(count) })}</p>`
    : undefined
}
