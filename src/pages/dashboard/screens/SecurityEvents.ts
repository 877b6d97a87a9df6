/** Security events: sign-ins, lock-outs, key rotations and refused abuse. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { SecurityEventType } from "../../../domain/organization/SecurityEvent.ts"
import { html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { get, type Route, type RouteRequest } from "../Route.ts"
import { filter, filters, instant, listQueryOf, pager, table, valueText } from "../Table.ts"

type SecurityEvent = AdminAnswer<"securityEvents", "listSecurityEvents">["data"][number]

const path = "/dashboard/security-events"

const words: { readonly [Type in SecurityEventType]: string } = {
  sign_in: "Sign-in",
  lock_out: "Too many wrong codes",
  key_rotation: "A key was replaced",
  code_flood: "Too many codes requested",
  sms_refused: "SMS refused",
  challenge_refused: "Challenge not solved",
  rate_limited: "Too many requests"
}

/** The routes of security events. */
export const make = (api: AdminApiClient["Service"]): ReadonlyArray<Route> => [
  get(
    "/security-events",
    Effect.fnUntraced(function* (operator: Operator, { query }: RouteRequest) {
      const page = yield* api.run(operator, "securityEvents", "listSecurityEvents", {
        query: { sortDir: "desc", ...listQueryOf(query, ["type"]) }
      })
      return {
        title: "Security events",
        body: html`
          ${filters(path, filter("Kind", "type", SecurityEventType.literals, query))}
          ${table<SecurityEvent>(
            "Security events, newest first",
            page.data,
            [
              { title: "What", cell: ({ type }) => words[type] },
              { title: "Times", cell: ({ count }) => count },
              { title: "Last", cell: ({ lastAt }) => instant(lastAt) },
              { title: "From", cell: ({ clientAddress }) => clientAddress },
              {
                title: "Consumer",
                cell: ({ consumerId }) =>
                  consumerId === null
                    ? "–"
                    : html`<a href="/dashboard/consumers/${consumerId}">${consumerId.slice(0, 8)}</a>`
              },
              { title: "Details", cell: ({ details }) => detailsOf(details) }
            ],
            html`Nothing yet, which is good. <a href="/dashboard/organization">Bot protection</a> says what is refused.`
          )}
          ${pager(page, path, query)}
        `
      }
    })
  )
]

const detailsOf = (details: SecurityEvent["details"]): string =>
  Object.entries(details)
    .map(([name, value]) => `${name}: ${valueText(value)}`)
    .join(", ")
