/**
 * Ends the emails of an alert: `?token={token}` of an email's last line (`auth/tokens/AlertTokens.ts`). The link shows a
 * form, because mail programs open links by themselves. The form, and one POST of a mail program (RFC 8058), end them. The
 * token says whose they are, so no session is needed.
 */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { AlertTokens } from "../../auth/tokens/AlertTokens.ts"
import { sameTenant } from "../../domain/values/Ids.ts"
import { Alerts } from "../../store/message/Alerts.ts"
import { html } from "../Html.ts"
import { notFound, unavailable } from "../Refusal.ts"
import { say, type Scene, screenHeading } from "./Scene.ts"
import type { Visit, Write } from "./Visit.ts"

export const make = Effect.fnUntraced(function* (write: Write) {
  const tokens = yield* AlertTokens
  const alerts = yield* Alerts
  return Effect.fnUntraced(function* (visit: Visit) {
    const { method } = yield* HttpServerRequest.HttpServerRequest
    const token = visit.url.get("token") ?? ""
    const named = yield* tokens.verify(token)
    if (named === undefined || !sameTenant(named.tenant, visit.room.tenant)) return yield* notFound
    if (method !== "POST") return yield* write(visit, { screen: (scene) => asking(scene, token) })
    yield* Effect.catchTag(alerts.end(named), "Unavailable", unavailable)
    return yield* write(visit, { screen: ended })
  })
})

const asking = (scene: Scene, token: string) =>
  html`${screenHeading(say(scene, "stopEmails"))}
    <form method="post" action="${scene.path("alert", { token })}" class="main">
      <button>${say(scene, "stopEmails")}</button>
    </form>`

const ended = (scene: Scene) =>
  html`${screenHeading(say(scene, "emailsStopped"))}
    <p><a href="${scene.path("place")}">${say(scene, "back")}</a></p>`
