/** The list of drops, with a search, and what is late or fails. */
import { Effect } from "effect"
import { kindNames } from "../../domain/mechanism/Mechanism.ts"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../domain/organization/Person.ts"
import { isTestEvent } from "../../domain/webhook/Webhook.ts"
import { overdueSeconds } from "../../engine/lifecycle/Readiness.ts"
import { type Html, html } from "../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../ApiClients.ts"
import type { Screen } from "./Frame.ts"
import { firstBrand } from "./screens/FirstBrand.ts"
import { linkButton } from "./Parts.ts"
import { filters, instant, search } from "./Table.ts"
import { dropsOf, makeRows } from "./DropList.ts"
import * as Time from "../../store/coordination/Time.ts"

type Nodes = AdminAnswer<"nodes", "listNodes">
/** Drops of the list. */
const dropsMax = 50

/** Makes the function that reads the drops and writes the screen. */
export const make = (api: AdminApiClient["Service"]) => {
  const rows = makeRows(api)
  return Effect.fnUntraced(function* (operator: Operator, query: URLSearchParams) {
    const sought = query.get("search")?.trim() ?? ""
    const { data: experiences } = yield* api.run(operator, "experiences", "listExperiences", {
      query: { first: `${dropsMax}`, sortDir: "desc", ...(sought.length > 1 && { search: sought }) }
    })
    const now = yield* Time.now
    const drops = yield* rows(operator, experiences, now)
    const late = lateOf(yield* api.run(operator, "nodes", "listNodes", {}), now)
    const failing = failingOf(yield* failingWebhooks(api, operator))
    const isEmpty = experiences.length === 0 && sought === ""
    const screen: Screen = {
      title: "Drops",
      links: mayDo(operator.role, "operator") && linkButton("/dashboard/new", "New drop", "primary"),
      body: isEmpty
        ? html`${firstBrand(operator)}${failing}
            <p class="lead">There is no drop yet.</p>
            <p>A drop is a room in which people wait, enter a draw, bid, book or buy.</p>
            <p><a class="button" href="/dashboard/new">Create one</a></p>`
        : html`${firstBrand(operator)}${late}${failing} ${filters("/dashboard", search("Search drops", query))}
          ${dropsOf(drops, sought, now)}`
    }
    return screen
  })
}

/** A webhook that Usher has disabled, or to which deliveries have failed permanently of late. */
interface FailingWebhook {
  readonly id: string
  readonly url: string
  readonly isDisabled: boolean
}

/** Webhooks that the screen looks at, the newest first. */
const webhooksMax = 20

/** Failed deliveries of each that it reads. A test event that failed is no news. */
const failedMax = 20

/** Days for which the screen shows a permanently failed delivery. */
const shownDays = 7

const failingWebhooks = Effect.fnUntraced(function* (api: AdminApiClient["Service"], operator: Operator) {
  const since = (yield* Time.now) - shownDays * 86_400_000
  const query = { sortDir: "desc", first: `${webhooksMax}` } as const
  const { data } = yield* api.run(operator, "webhooks", "listWebhooks", { query })
  const found = yield* Effect.forEach(data, ({ id, url, disabledReason }) => {
    if (disabledReason === "ADMIN_ACTION") return Effect.succeed([])
    const failing: FailingWebhook = { id, url, isDisabled: disabledReason !== null }
    if (failing.isDisabled) return Effect.succeed([failing])
    const failed = { params: { id }, query: { status: "FAILED", sortDir: "desc", first: `${failedMax}` } } as const
    return Effect.map(api.run(operator, "webhooks", "listWebhookDeliveries", failed), ({ data }) =>
      data.some((one) => one.updatedAt >= since && !isTestEvent(one)) ? [failing] : []
    )
  })
  return found.flat()
})

const failingOf = (webhooks: ReadonlyArray<FailingWebhook>): Html | false =>
  webhooks.length > 0 &&
  html`<section class="card">
    <h2>Webhooks</h2>
    <ul>
      ${webhooks.map(
        ({ id, url, isDisabled }) =>
          html`<li>
            <a href="/dashboard/webhooks/${id}">${url}</a>
            ${
              isDisabled
                ? "was disabled, because its endpoint fails. Its events wait until it is enabled."
                : "rejected events in every attempt. A replay sends them again."
            }
          </li>`
      )}
    </ul>
  </section>`

/** The mechanisms that did not act in time, and the parked ones. A moment's delay is not late. */
const lateOf = ({ oldestOverdueWakeUpAt: dueAt, parkedMechanisms }: Nodes, now: number): Html | false => {
  const isOverdue = dueAt !== null && dueAt < now - overdueSeconds * 1_000
  const parked = parkedMechanisms.length
  if (!isOverdue && parked === 0) return false
  return html`<section class="card">
    <h2>Late</h2>
    ${isOverdue && html`<p>A timed step was due ${instant(dueAt)} and has not happened.</p>`}
    ${
      parked > 0 &&
      html`<p>${parked === 1 ? "1 mechanism is" : `${parked} mechanisms are`} parked after too many failures.</p>
        <ul>
          ${parkedMechanisms.map(
            ({ experienceId, name, type }) =>
              html`<li>
                <bdi><a href="/dashboard/experiences/${experienceId}">${name}</a></bdi>
                <small>${kindNames[type]}</small>
              </li>`
          )}
        </ul>`
    }
    <p><a href="/dashboard/system">See the system status</a></p>
  </section>`
}
