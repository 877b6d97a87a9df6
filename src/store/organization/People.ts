/**
 * The people of an organization's dashboard. An address is unique among the unarchived people of a tenant. An archived
 * person has no sessions.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { type Person, Settings, personSorts } from "../../domain/organization/Person.ts"
import { withUnicodeLabels } from "../../domain/values/HostName.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { type Declaration, each } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import { type Archivable, type Changeable, make, type Readable } from "../records/Records.ts"
import { identityAndStamps, type SettingsRow, stampOf } from "../records/Rows.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"
import { orTaken } from "../records/Taken.ts"

/** Another person of the tenant has this address. 409 */
export class PersonTaken extends Schema.TaggedError<PersonTaken>()("PersonTaken", {}) {}

export const shape = listShape("people", "p", personSorts, {
  createdAt: "timestamptz",
  email: "text"
})

type Sort = keyof typeof shape.sorts

interface Row extends SettingsRow {
  readonly last_sign_in_at: Date | null
}

const columns = makeSettingsColumns(Settings, { email: "email", name: "name", role: "role" })

const toPerson = (row: Row): Person => ({
  ...identityAndStamps(row),
  ...columns.shownOf(row),
  lastSignInAt: row.last_sign_in_at?.getTime() ?? null
})

const declaration: Declaration<Row, Person, Sort, never, PersonTaken> = {
  service: "People",
  record: "Person",
  table: "people",
  alias: "p",
  recordsOf: each(toPerson),
  list: { shape, searched: "(p.email || ' ' || coalesce(p.name, ''))", filters: { role: "p.role" } },
  // A restored person signs in again.
  archiveBelow: (sql, { id }) => sql`delete from operator_sessions where person_id = ${id}`,
  whenTaken: () => new PersonTaken()
}

export class People extends Context.Service<
  People,
  Readable<Person, Sort, { readonly role?: string | undefined }> &
    Changeable<Person, Settings> &
    Archivable<Person, never, PersonTaken> & {
      create(tenant: Tenant, by: string, settings: Settings): Effect.Effect<Person, PersonTaken | Unavailable>
    }
>()("usher/store/organization/People") {
  static readonly layer = Layer.effect(People)(
    Effect.gen(function* () {
      const { sql, statements, change, ...operations } = yield* make(declaration)

      const create = Effect.fn("People.create")(function* (tenant: Tenant, by: string, settings: Settings) {
        const inserted = statements.insert(tenant, yield* stampOf(by), () => columns.columnsOf(sql, settings))
        return yield* statements.show(yield* orTaken(() => new PersonTaken())(inserted))
      }, orUnavailable)

      return {
        ...operations,
        list: (tenant, { search, ...query }, filter) =>
          operations.list(
            tenant,
            { ...query, ...(search !== undefined && { search: withUnicodeLabels(search) }) },
            filter
          ),
        create,
        change: (tenant, id, by, revise) =>
          change(tenant, id, by, (row) => Effect.sync(() => columns.columnsOf(sql, revise(columns.settingsOf(row)))))
      }
    })
  )
}
