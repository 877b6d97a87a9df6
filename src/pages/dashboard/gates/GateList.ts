/** The list of gates, with whether each was seen in the last minute, and those that were archived. */
import { Effect } from "effect"
import type { GateInstances } from "../../../api/admin/GateApi.ts"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { html, type Html } from "../../Html.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { action } from "../Frame.ts"
import { counted, linkButton } from "../Parts.ts"
import type { RouteRequest } from "../Route.ts"
import { type Column, instant, listQueryOf, pager, table } from "../Table.ts"
import { decisionsText, type Gate, seenBadge } from "./Words.ts"

type Api = AdminApiClient["Service"]

export const path = "/dashboard/gates"

/** Gates whose instances are read at the same time. They are in memory. */
const atOnce = 8

interface Listed {
  readonly gate: Gate
  readonly seen: GateInstances
}

export const makeShowAll = (api: Api) =>
  Effect.fnUntraced(function* (operator: Operator, { query }: RouteRequest) {
    const newest = { sortDir: "desc" } as const
    const page = yield* api.run(operator, "gates", "listGates", { query: { ...newest, ...listQueryOf(query) } })
    const archived = yield* api.run(operator, "gates", "listGates", {
      query: { ...newest, archived: "true", first: "50" }
    })
    const listed = yield* Effect.forEach(
      page.data,
      (gate) =>
        Effect.map(api.run(operator, "gates", "listGateInstances", { params: { id: gate.id } }), (seen): Listed => ({
          gate,
          seen
        })),
      { concurrency: atOnce }
    )
    const mayChange = mayDo(operator.role, "admin")
    return {
      title: "Gates",
      ...(mayChange && { links: linkButton(`${path}/new`, "New gate", "primary") }),
      body: html`
        ${mayChange && undoOf(archived.data, query.get("undo"))}
        <p class="muted">
          A gate stands in front of a site. It lets visitors with a grant pass, and leads the others to the room of a
          queue.
        </p>
        ${table<Listed>("Gates, newest first", listed, columns, emptyText(mayChange))} ${pager(page, path, query)}
        ${archived.data.length > 0 && archivedList(archived.data, mayChange)}
      `
    }
  })

const columns: ReadonlyArray<Column<Listed>> = [
  { title: "Gate", cell: ({ gate: { id, name } }) => html`<a href="${path}/${id}">${name}</a>` },
  { title: "Hosts", cell: ({ gate: { hosts } }) => hostsText(hosts) },
  { title: "Rules", cell: ({ gate: { rules } }) => counted(rules.length, "rule", "rules") },
  { title: "Seen", cell: ({ seen }) => seenBadge(seen) },
  { title: "Since it began", cell: ({ seen }) => decisionsText(seen) ?? "–" }
]

const hostsText = ([first = "", ...others]: ReadonlyArray<string>): string =>
  others.length === 0 ? first : `${first} and ${others.length} more`

const emptyText = (mayChange: boolean): Html =>
  mayChange
    ? html`No gate yet. <a href="${path}/new">Make a gate</a>: name the hosts of your site and the pages that need a
        place in a queue, and put the lines that you then get into your proxy or your code.`
    : html`No gate yet. An admin can make one.`

const archivedList = (archived: ReadonlyArray<Gate>, mayChange: boolean): Html =>
  html`<details>
    <summary>${counted(archived.length, "archived gate", "archived gates")}</summary>
    ${table<Gate>(
      "Archived gates",
      archived,
      [
        { title: "Gate", cell: ({ name }) => name },
        { title: "Hosts", cell: ({ hosts }) => hostsText(hosts) },
        { title: "Archived", cell: ({ updatedAt }) => instant(updatedAt) },
        ...(mayChange
          ? [
              {
                title: "Restore",
                cell: ({ id, name }: Gate) => action(`${path}/${id}/restore`, `Restore ${name}`, false, "quiet")
              }
            ]
          : [])
      ],
      ""
    )}
  </details>`

/** Takes back the archiving of a gate, which the address names. The list below restores it later, too. */
const undoOf = (archived: ReadonlyArray<Gate>, id: string | null): Html | false =>
  archived.some((gate) => gate.id === id) &&
  html`<div class="result" data-seconds="10">${action(`${path}/${id}/restore`, "Undo", false, "quiet")}</div>`
