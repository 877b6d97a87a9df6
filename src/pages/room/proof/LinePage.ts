/**
 * The page on which a visitor checks the line of a queue: its own position, worked out from the object that every
 * caller gets, and what staff did. It has no script.
 */
import { Effect } from "effect"
import { isolated } from "../../../domain/values/Direction.ts"
import type { StaffReason } from "../../../domain/mechanism/Author.ts"
import { positionIn } from "../../../domain/queue/LineChecks.ts"
import type { Act, Line } from "../../../domain/queue/LineState.ts"
import * as Answer from "../../Answer.ts"
import type { Assets } from "../../Assets.ts"
import type { ConsumerApiClient } from "../../ApiClients.ts"
import { type Html, html, style } from "../../Html.ts"
import { notFound } from "../../Refusal.ts"
import { headersOf } from "../../Security.ts"
import { lookOf } from "../../Theme.ts"
import { directionOf, type PlainKey } from "../../Words.ts"
import { forEverybody } from "../mechanism/Live.ts"
import type { Places } from "../Places.ts"
import { facts, instant, say, type Scene } from "../Scene.ts"
import { callerOf, sceneOf, type Visit } from "../Visit.ts"
import * as Time from "../../../store/coordination/Time.ts"

/** Makes the function that answers with the page of the queue that the query names. */
export const make = (api: ConsumerApiClient["Service"], places: Places, assets: Assets["Service"]) => {
  const lineOf = ({ holder }: Visit, queueId: string) =>
    forEverybody(api.run({ holder }, "live", "line", { params: { queueId } }))

  return Effect.fnUntraced(function* (visit: Visit) {
    const caller = callerOf(visit)
    const queueId = visit.url.get("at") ?? ""
    yield* api.count(caller, "live", "line")
    const { experience, mechanisms } = yield* places.shown(caller, visit.room.experienceId)
    // The operation also finds queues of other rooms.
    if (!mechanisms.some(({ kind, record }) => kind === "queue" && record.id === queueId)) return yield* notFound
    const { line } = yield* lineOf(visit, queueId)
    const state = caller.access === undefined ? undefined : yield* places.state(caller, "queue", queueId)
    const ticket = state?.status === "QUEUED" ? state.ticket : undefined
    const scene = sceneOf(visit, experience, yield* Time.now, visit.session)
    const look = lookOf(experience.theme)
    const css = yield* assets.text("room.css")
    const styles = look.css === "" ? [css] : [css, look.css]
    const headers = headersOf({ scripts: [], styles, formOrigins: [] })
    return yield* Answer.ofVisitor(documentOf(scene, queueId, line, ticket, styles).text, 200, headers)
  })
}

const documentOf = (
  scene: Scene,
  queueId: string,
  line: Line | null,
  ticket: number | undefined,
  styles: ReadonlyArray<string>
): Html =>
  html`<!doctype html>
    <html lang="${scene.language}" dir="${directionOf(scene.language)}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width,initial-scale=1" />
        <title>${say(scene, "line")} – ${isolated(scene.experience.name, scene.words.line)}</title>
        <link rel="icon" href="data:," />
        ${styles.map(style)}
      </head>
      <body>
        <main>
          <h1>${say(scene, "line")}</h1>
          ${line === null ? html`<section class="card"><p>${say(scene, "closed")}</p></section>` : shown(scene, line, ticket)}
          <p><a href="/api/queues/${queueId}/line">${say(scene, "lineData")}</a></p>
          <p><a href="${scene.path("place")}">${say(scene, "back")}</a></p>
        </main>
      </body>
    </html>`

const shown = (scene: Scene, line: Line, ticket: number | undefined): Html => {
  const { number } = scene.formats
  const { byRate, byHand, outOfOrder, left, removed } = line.tally
  const position = ticket === undefined ? undefined : positionIn(line, ticket)
  const counted = (key: PlainKey, count: number) => say(scene, key, { count: number(count) })
  return html`<section class="card">
      <p>${say(scene, line.order === "loyalty" ? "lineLoyalty" : "lineText")}</p>
      ${facts([
        ticket === undefined ? undefined : [say(scene, "lineTicket"), number(ticket)],
        position === undefined ? undefined : [say(scene, "position"), number(position)]
      ])}
      <ul>
        <li>${counted("waitingNow", line.waiting)}</li>
        <li>${counted("lineByRate", byRate)}</li>
        <li>${counted("lineByHand", byHand)} ${counted("lineOutOfOrder", outOfOrder)}</li>
        <li>${counted("lineLeft", left)}</li>
        <li>${counted("lineRemoved", removed)}</li>
      </ul>
    </section>
    <section class="card">
      <h2>${say(scene, "lineActs")}</h2>
      ${
        line.acts.length === 0
          ? html`<p>${say(scene, "lineNoActs")}</p>`
          : html`<ul class="checks">
              ${line.acts.toReversed().map((act) => actOf(scene, act))}
            </ul>`
      }
    </section>`
}

const reasonKeys = {
  TECHNICAL_PROBLEM: "becauseTechnical",
  HIGH_LOAD: "becauseLoad",
  STOCK_CHANGED: "becauseStock",
  SUSPECTED_ABUSE: "becauseAbuse",
  CUSTOMER_CARE: "becauseCare",
  SCHEDULE_CHANGED: "becauseSchedule",
  OTHER: "becauseOther"
} as const satisfies { readonly [R in StaffReason]: PlainKey }

const actKeys = {
  admitted: "lineByHand",
  removed: "lineRemoved",
  paused: "linePaused",
  resumed: "lineResumed",
  rate: "lineRate"
} as const satisfies { readonly [A in Act["act"]]: PlainKey }

/** One action of staff, with its instant, its numbers and its reason. */
const actOf = (scene: Scene, { at, act, reason, count, outOfOrder = 0, admitRate }: Act): Html => {
  const { number } = scene.formats
  return html`<li>
    ${instant(scene, at)}<br />${say(scene, actKeys[act], { count: number(admitRate ?? count ?? 0) })}
    ${outOfOrder > 0 && say(scene, "lineOutOfOrder", { count: number(outOfOrder) })}
    ${reason !== undefined && html`(${say(scene, reasonKeys[reason])})`}
  </li>`
}
