/** Running, coming and past experiences, and what is late. */
import { Clock, Effect } from "effect"
import { kindNames } from "../../domain/mechanism/Mechanism.ts"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { overdueSeconds } from "../../engine/lifecycle/Readiness.ts"
import { type Html, html } from "../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../ApiClients.ts"
import type { Screen } from "./Frame.ts"
import { naming } from "./screens/Organization.ts"
import { instant, mechanismColumns, table } from "./Table.ts"

type Nodes = AdminAnswer<"nodes", "listNodes">
type Mechanism = AdminAnswer<"distributions", "listDistributions">["data"][number]

/** Rows of each list. */
const rowsMax = "50"

const lists = [
  { lifecycle: "open", title: "Now", none: "Nothing is open." },
  { lifecycle: "scheduled", title: "Next", none: "Nothing is scheduled." },
  { lifecycle: "settling", title: "Settling", none: undefined },
  { lifecycle: "closed", title: "Over", none: undefined }
] as const

/** Makes the function that reads the lists and writes the screen. */
export const make = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator) {
    const found = yield* Effect.forEach(lists, ({ lifecycle }) =>
      api.run(operator, "distributions", "listDistributions", { query: { lifecycle, first: rowsMax } })
    )
    const late = lateOf(yield* api.run(operator, "nodes", "listNodes", {}), yield* Clock.currentTimeMillis)
    const failing = failingOf(yield* failingWebhooks(api, operator))
    const sections = lists.map(({ title, none }, index) => listOf(title, found[index]!.data, none))
    const isEmpty = found.every(({ data }) => data.length === 0)
    const screen: Screen = {
      title: "Now",
      body: isEmpty
        ? html`${naming(operator)}${failing}
            <p class="lead">There is no drop yet.</p>
            <p><a class="button" href="/dashboard/new">Create one</a></p>`
        : html`${naming(operator)}${late}${failing}${sections}`
    }
    return screen
  })

/** A webhook that Usher has disabled, or to which deliveries have failed permanently of late. */
interface FailingWebhook {
  readonly id: string
  readonly url: string
  readonly isDisabled: boolean
}

/** Webhooks that the screen looks at, the newest first. */
const webhooksMax = 20

/** Days for which the screen shows a permanently failed delivery. */
const shownDays = 7

const failingWebhooks = Effect.fnUntraced(function* (api: AdminApiClient["Service"], operator: Operator) {
  const since = (yield* Clock.currentTimeMillis) - shownDays * 86_400_000
  const query = { sortDir: "desc", first: `${webhooksMax}` } as const
  const { data } = yield* api.run(operator, "webhooks", "listWebhooks", { query })
  const found = yield* Effect.forEach(data, ({ id, url, disabledReason }) => {
    if (disabledReason === "ADMIN_ACTION") return Effect.succeed([])
    const failing: FailingWebhook = { id, url, isDisabled: disabledReason !== null }
    if (failing.isDisabled) return Effect.succeed([failing])
    const failed = { params: { id }, query: { status: "FAILED", sortDir: "desc", first: "1" } } as const
    return Effect.map(api.run(operator, "webhooks", "listWebhookDeliveries", failed), ({ data: [last] }) =>
      last !== undefined && last.updatedAt >= since ? [failing] : []
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

const listOf = (title: string, mechanisms: ReadonlyArray<Mechanism>, none: string | undefined): Html | false => {
  if (mechanisms.length === 0 && none === undefined) return false
  return html`<section>
    ${table<Mechanism>(
      title,
      mechanisms,
      [
        ...mechanismColumns("Name"),
        { title: "Opens", cell: ({ openAt }) => instant(openAt) },
        { title: "Closes", cell: ({ closeAt }) => instant(closeAt) }
      ],
      none
    )}
  </section>`
}
