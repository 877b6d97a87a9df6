/** The history of a mechanism, and the audit log of the organization. */
import { Effect } from "effect"
import { isolated } from "../../../domain/values/Direction.ts"
import { kindNames } from "../../../domain/mechanism/Mechanism.ts"
import { tenantEventTypes } from "../../../domain/organization/TenantEvent.ts"
import { type Html, html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import type { Mechanism } from "../drop/Drop.ts"
import { type Author, makeAuthors } from "./People.ts"
import { get } from "../Route.ts"
import { filter, filters, instant, listQueryOf, pager, table, valueText, zonedInstant } from "../Table.ts"

type Entry = AdminAnswer<"distributions", "listDistributionHistory">["data"][number]
type Change = AdminAnswer<"auditLog", "listAuditLog">["data"][number]

const auditPath = "/dashboard/audit-log"

/** The routes of both journals. */
export const make = (api: AdminApiClient["Service"]) => {
  const authors = makeAuthors(api)
  return [
    get(
      "/mechanisms/:id/history",
      Effect.fnUntraced(function* (operator, { params, query }) {
        const id = params["id"]!
        const mechanism = yield* api.run(operator, "distributions", "getDistribution", { params: { id } })
        const page = yield* api.run(operator, "distributions", "listDistributionHistory", {
          params: { id },
          query: { sortDir: "desc", ...listQueryOf(query, ["type"]) }
        })
        const path = `/dashboard/mechanisms/${id}/history`
        return {
          title: `History of ${isolated(mechanism.name, "")}`,
          body: html`
            <p>
              ${kindNames[mechanism.type]} of
              <a href="/dashboard/experiences/${mechanism.experienceId}">this control room</a>. Every event is kept
              permanently.
            </p>
            ${historyOf(mechanism, page.data, yield* authors(operator))} ${pager(page, path, query)}
          `
        }
      })
    ),
    get(
      "/audit-log",
      Effect.fnUntraced(function* (operator, { query }) {
        const page = yield* api.run(operator, "auditLog", "listAuditLog", {
          query: { sortDir: "desc", ...listQueryOf(query, ["type", "actor", "subjectId"]) }
        })
        return {
          title: "Audit log",
          body: html`
            ${auditFilters(query)} ${changesOf(page.data, query, yield* authors(operator))}
            ${pager(page, auditPath, query)}
          `
        }
      })
    )
  ]
}

const auditFilters = (query: URLSearchParams): Html =>
  filters(
    auditPath,
    html`${filter("Type", "type", tenantEventTypes, query)}
      <label
        >Author
        <input name="actor" value="${query.get("actor") ?? ""}" maxlength="64" placeholder="operator:…" /></label
      ><label
        >Record <input name="subjectId" value="${query.get("subjectId") ?? ""}" maxlength="36" placeholder="Its id" />
      </label>`
  )

const historyOf = ({ timeZone }: Mechanism, entries: ReadonlyArray<Entry>, author: Author): Html =>
  table<Entry>(
    "Events, newest first",
    entries,
    [
      { title: "Number", cell: ({ sequence }) => sequence },
      { title: "Event", cell: ({ type }) => type },
      { title: "When", cell: ({ at }) => zonedInstant(at, timeZone) },
      {
        title: "Consumer",
        cell: ({ consumerId }) =>
          consumerId === null ? "–" : html`<a href="/dashboard/consumers/${consumerId}">${consumerId}</a>`
      },
      { title: "Author", cell: ({ data }) => author(data["by"]) },
      { title: "Reason", cell: ({ data }) => valueText(data["reason"]) }
    ],
    "Nothing has happened yet. Events appear when the mechanism opens and consumers enter."
  )

const changesOf = (changes: ReadonlyArray<Change>, query: URLSearchParams, author: Author): Html =>
  table<Change>(
    "Changes, newest first",
    changes,
    [
      { title: "Change", cell: ({ type }) => type },
      { title: "When", cell: ({ at }) => instant(at) },
      { title: "Author", cell: ({ actor }) => author(actor) },
      {
        title: "Record",
        cell: ({ subjectId }) => html`<a href="${auditPath}?subjectId=${subjectId}">${subjectId}</a>`
      },
      { title: "Fields", cell: fieldsOf }
    ],
    query.size > 0
      ? html`No matching changes. <a href="${auditPath}">Show all</a>`
      : "Nothing has changed yet. Changes of records, settings, keys and people appear here."
  )

/** Each changed field, with its values where they are shown. */
const fieldsOf = ({ changed, before, after }: Change): Html => html`
  <ul class="plain">
    ${changed.map((field) => {
      const values = [before[field], after[field]].map((value) => (value === undefined ? "–" : valueText(value)))
      const isShown = field in before || field in after
      return html`<li>${field}${isShown && html`: <bdi>${values[0]}</bdi> → <bdi>${values[1]}</bdi>`}</li>`
    })}
  </ul>
`
