/** The authors of changes and events: people by their names, others as records name them. */
import { Effect } from "effect"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { authorOf } from "../../domain/organization/Person.ts"
import { type Html, html } from "../Html.ts"
import type { AdminApiClient } from "../ApiClients.ts"

/** People whose names are looked up: present and removed ones, the newest first. */
const peopleMax = "100"

/** Makes the function that reads the people of a tenant and returns how an author is written. */
export const makeAuthors = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator) {
    const pages = yield* Effect.forEach(["false", "true"], (archived) =>
      api.run(operator, "people", "listPeople", { query: { first: peopleMax, sortDir: "desc", archived } })
    )
    const names = new Map(
      pages.flatMap(({ data }) => data.map(({ id, name, email }) => [authorOf(id), name ?? email] as const))
    )
    return (by: unknown): Html => {
      if (typeof by !== "string") return html`–`
      const name = names.get(by)
      return name === undefined ? html`${by}` : html`${name}<br /><small>${by}</small>`
    }
  })

/** Writes an author. */
export type Author = (by: unknown) => Html
