/** One gate: where it was seen, its rules in words, what happens to an address, the lines to copy, and its key. */
import { Effect } from "effect"
import type { GateInstances } from "../../../api/admin/GateApi.ts"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { queueIdsOf } from "../../../domain/gate/Gate.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { html, type Html } from "../../Html.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { action } from "../Frame.ts"
import { card, count, linkButton } from "../Parts.ts"
import { facts, instant, table } from "../Table.ts"
import { path } from "./GateList.ts"
import { guide, type Known, linesFor } from "./Lines.ts"
import { makeQueues, type NamedQueue, type NamedQueues } from "./Queues.ts"
import { testForm, type Tried } from "./Tester.ts"
import { conditionsOf, decisionsText, failText, type Gate, outcomeOf, runtimeName, seenBadge } from "./Words.ts"

type Api = AdminApiClient["Service"]
type Instance = GateInstances["data"][number]

/** Instances that are shown. */
const shownMax = 20

/** Makes the function that shows a gate, also with what came of a request that was tried. */
export const makeShow = (api: Api, url: string) => {
  const queuesOf = makeQueues(api)
  return Effect.fnUntraced(function* (operator: Operator, id: string, tried?: Tried) {
    const gate = yield* api.run(operator, "gates", "getGate", { params: { id } })
    const seen = yield* api.run(operator, "gates", "listGateInstances", { params: { id } })
    const queues = yield* queuesOf(operator, queueIdsOf(gate.rules))
    const { hosts, returnPath } = gate
    const mayChange = mayDo(operator.role, "admin")
    return {
      title: gate.name,
      badge: seenBadge(seen),
      status: tried?.problems === undefined ? 200 : 400,
      ...(mayChange && { links: linkButton(`${path}/${id}/change`, "Change", "primary") }),
      body: html`
        ${seen.data.length === 0 && nextStep(mayChange)} ${rulesOf(gate, queues, mayChange)}
        ${mayDo(operator.role, "operator") && testForm(gate, `${path}/${id}/test`, tried)}
        ${yield* linesOf({ gateId: id, url, host: hosts[0] ?? "shop.example.com", returnPath })} ${seenCard(seen)}
        ${settingsCard(gate)} ${mayChange && actionsOf(gate)}
      `
    }
  })
}

const nextStep = (mayChange: boolean): Html =>
  html`<p class="lead">
    Nothing in the field has asked for this gate in the last minute.
    ${mayChange && html`Put the <a href="#lines">lines below</a> into your proxy or your code, with the key of the gate.`}
  </p>`

const rulesOf = (gate: Gate, queues: NamedQueues, mayReadAll: boolean): Html =>
  card(
    "Rules",
    gate.rules.length === 0
      ? html`<p>There is none, so everything passes.</p>`
      : html`<ol class="rules">
            ${gate.rules.map(
              (rule) =>
                html`<li>
                  ${
                    rule.name !== undefined &&
                    html`<strong><bdi>${rule.name}</bdi></strong
                      >: `
                  }${conditionsOf(rule, mayReadAll)}:
                  ${outcomeOf(rule, gate, queues)}
                </li>`
            )}
          </ol>
          <p class="hint">The first that fits decides. A request that none fits passes.</p>
          ${[...queues.values()].map(adviceOn)}`
  )

/** What a queue lacks that stands in front of a site. */
const adviceOn = ({ mechanism, label }: NamedQueue): Html | false => {
  const { standby, admissionRenewal, admissionExpirationSeconds, experienceId } = mechanism
  const lacks = [
    standby !== true && "everybody sees its room, also while nobody has to wait",
    admissionRenewal === null && admissionExpirationSeconds === null && "a visit to it never ends"
  ].filter((one) => one !== false)
  return (
    lacks.length > 0 &&
    html`<p class="hint">
      <bdi>${label}</bdi>: ${lacks.join(", and ")}.
      <a href="/dashboard/experiences/${experienceId}/schedule">Its schedule</a> has the settings of a queue in front of
      a site.
    </p>`
  )
}

/** The lines of all ways, each closed but the first. */
const linesOf = Effect.fnUntraced(function* (known: Known) {
  const all = yield* linesFor(known)
  return html`<section class="card" id="lines">
    <h2>Lines to copy</h2>
    ${all.map(
      ({ name, title, lines }, index) =>
        html`<details ${index === 0 && html`open`} data-way="${name}">
          <summary>${title}</summary>
          ${lines.map(
            ({ says, text }) =>
              html`<p class="muted">${says}</p>
                <pre tabindex="0" aria-label="Lines for ${title}"><code>${text}</code></pre>
                <button type="button" class="quiet" data-copy="${text}" hidden>Copy</button>`
          )}
        </details>`
    )}
    <p class="hint">The guide is <code>${guide}</code>: what each of them does, and PHP, Python, Ruby and Go.</p>
  </section>`
})

const seenCard = (seen: GateInstances): Html | false =>
  seen.data.length > 0 &&
  html`${table<Instance>(
    "Seen in the last minute",
    seen.data.slice(0, shownMax),
    [
      { title: "Runs in", cell: ({ runtime }) => runtimeName(runtime) },
      {
        title: "Rules",
        cell: ({ isCurrent }) => (isCurrent === null ? "–" : isCurrent ? "as they are" : "former ones")
      },
      { title: "Since it began", cell: (one) => decisionsText({ ...seen, data: [one] }) ?? "–" },
      { title: "Seen", cell: ({ seenAt }) => instant(seenAt) }
    ],
    ""
  )}
  ${seen.data.length > shownMax && html`<p class="muted">And ${count(seen.data.length - shownMax)} more. ${decisionsText(seen)}.</p>`}`

const settingsCard = ({ hosts, failMode, returnPath, cookie, keyDisplay, updatedAt }: Gate): Html =>
  card(
    "Settings",
    facts([
      ["Hosts", hosts.join(", ")],
      ["While Usher is out of reach", failText(failMode)],
      ["Return path", returnPath],
      [
        "Cookie",
        Object.entries(cookie)
          .map((pair) => pair.join(" "))
          .join(", ") || "as usual"
      ],
      ["Key", html`<code>${keyDisplay}</code>`],
      ["Changed", instant(updatedAt)]
    ])
  )

const actionsOf = ({ id }: Gate): Html =>
  html`<div class="actions">
    ${action(`${path}/${id}/rotate`, "Replace the key…", false, "quiet", true)}
    ${action(`${path}/${id}/archive`, "Archive…", false, "quiet danger", true)}
  </div>`
