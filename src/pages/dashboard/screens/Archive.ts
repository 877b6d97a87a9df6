/** What was archived and can be restored: drops and products. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { type Html, html } from "../../Html.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { pathOf } from "../drop/Drop.ts"
import { action } from "../Frame.ts"
import { get, post, type Reply, type Route } from "../Route.ts"
import { type Column, instant, table } from "../Table.ts"

interface Archived {
  readonly id: string
  readonly name: string
  readonly updatedAt: number | null
}

/** The routes of the archive. */
export const make = (api: AdminApiClient["Service"]): ReadonlyArray<Route> => [
  get(
    "/archive",
    Effect.fnUntraced(function* (operator, { query }) {
      const list = { query: { archived: "true", first: "100", sortDir: "desc" } } as const
      const drops = yield* api.run(operator, "experiences", "listExperiences", list)
      const products = yield* api.run(operator, "products", "listProducts", list)
      return {
        title: "Archive",
        body: html`
          ${mayDo(operator.role, "operator") && undoOf(drops.data, query.get("undo"))}
          <p class="muted">
            What was archived is kept with its results. A restored drop shows them again; what has ended in it stays
            ended.
          </p>
          ${table<Archived>(
            "Drops",
            drops.data,
            columnsOf(operator, "experiences"),
            html`No drop is archived. The schedule of a drop has the button. <a href="/dashboard">To the drops</a>`
          )}
          ${table<Archived>(
            "Products",
            products.data,
            columnsOf(operator, "catalogue"),
            html`No product is archived. <a href="/dashboard/catalogue">To the catalogue</a>`
          )}
        `
      }
    })
  ),
  post("/experiences/:id/restore", "operator", (operator, { params }) =>
    Effect.map(
      api.run(operator, "experiences", "restoreExperience", { params: { id: params["id"]! } }),
      ({ id, name }): Reply => ({ goTo: pathOf(id), done: `${isolated(name, "")} is restored.` })
    )
  ),
  post("/catalogue/:id/restore", "operator", (operator, { params }) =>
    Effect.map(
      api.run(operator, "products", "restoreProduct", { params: { id: params["id"]! } }),
      ({ id, name }): Reply => ({
        goTo: `/dashboard/catalogue/${id}`,
        done: `${isolated(name, "")} is restored. Its sizes stay archived; restore them below.`
      })
    )
  )
]

/** Takes back the archiving of a drop, which the address names. The list below restores it later, too. */
const undoOf = (drops: ReadonlyArray<Archived>, archived: string | null): Html | false =>
  drops.some(({ id }) => id === archived) &&
  html`<div class="result" data-seconds="10">
    ${action(`/dashboard/experiences/${archived}/restore`, "Undo", false, "quiet")}
  </div>`

const columnsOf = (operator: Operator, section: "experiences" | "catalogue"): ReadonlyArray<Column<Archived>> => [
  { title: "Name", cell: ({ name }) => name },
  { title: "Archived", cell: ({ updatedAt }) => instant(updatedAt) },
  ...(mayDo(operator.role, "operator")
    ? [
        {
          title: "Restore",
          cell: ({ id, name }: Archived) =>
            action(`/dashboard/${section}/${id}/restore`, `Restore ${name}`, false, "quiet")
        }
      ]
    : [])
]
