/**
 * The shell of a room: the page that every visitor gets. It reads no cookie and has the same bytes for all visitors, so
 * caches in front of this process may answer with it, also while the process is down.
 */
import { Effect } from "effect"
import * as Answer from "../Answer.ts"
import type { Assets } from "../Assets.ts"
import { headersOf } from "../Security.ts"
import { documentOf } from "./Document.ts"
import { piecesOf } from "./Pieces.ts"
import type { Places } from "./Places.ts"
import { timeOf } from "./Scene.ts"
import { formOriginsOf, sceneOf, type Visit } from "./Visit.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Open mechanisms change within seconds. */
const partCacheControl = "public, max-age=1, s-maxage=1"

const cacheControl = "public, max-age=5, s-maxage=10, stale-while-revalidate=60, stale-if-error=86400"

/** Makes the function that answers with the shell, or with its open part alone. */
export const make = (places: Places, assets: Assets["Service"], publicUrl: string | undefined) => {
  const shared = Answer.makeShared()
  return Effect.fnUntraced(function* (visit: Visit, slug?: string, isPart = false) {
    const { room, holder } = visit
    const shown = yield* places.shown({ holder }, room.experienceId, slug)
    const now = yield* Time.now
    const scene = { ...sceneOf(visit, shown.experience, now, undefined), nextDrop: shown.nextDrop }
    const pieces = piecesOf(
      scene,
      shown.mechanisms.map((mechanism) => ({ mechanism }))
    )
    const css = yield* assets.text("room.css")
    const script = yield* assets.text("room.ts")
    if (isPart)
      return yield* shared(pieces.html.text, partCacheControl, {
        ...headersOf({ scripts: [], styles: [css], formOrigins: formOriginsOf(scene) }),
        ...timeOf(scene)
      })
    const { organizationName } = room
    const { text, styles } = documentOf(scene, {
      ...shown,
      organizationName,
      publicUrl,
      pieces,
      script,
      css,
      isShell: true
    })
    const headers = headersOf({
      scripts: script === "" ? [] : [script],
      styles,
      formOrigins: formOriginsOf(scene)
    })
    return yield* shared(text, cacheControl, headers)
  })
}
