/** The shared parts of the rows of `listTable.ts`: the shape of a list, and how its items are created. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Engine } from "../../../../src/engine/Engine.ts"
import type { Sessions } from "../../../../src/auth/sessions/Sessions.ts"
import type { SecurityEvents } from "../../../../src/store/organization/SecurityEvents.ts"
import type { aConsumer } from "../../../store/support/recordsFixture.ts"
import { Admin, type enter, type Organization } from "../adminFixture.ts"

/** The fields that order the items of a list and identify them. */
export type Key = string | number

/** One list of one organization, initially empty. */
export interface List {
  readonly path: string
  /** Every sort field, with the value that determines an item's position. */
  readonly sorts: { readonly [sortBy: string]: (item: any) => Key }
  /** The value that identifies an item, and orders items that are otherwise equal. */
  readonly idOf: (item: any) => Key
  /** A filter for the list, if there is one. A cursor of the whole list is invalid for the filtered one. */
  readonly filter?: string
  /** Creates the `n`-th row of the list. Several rows have the same name, and some have no optional fields. */
  readonly make: (n: number) => Effect.Effect<unknown, never, Services>
  /** Removes the row with this id, in lists whose rows can be removed. */
  readonly archive?: (id: Key) => Effect.Effect<unknown, never, Services>
}

export type Services =
  | Engine
  | Sessions
  | SecurityEvents
  | Effect.Services<ReturnType<typeof enter>>
  | Effect.Services<ReturnType<typeof aConsumer>>

/** Creates the list for an organization. */
export type MakeList = (as: Organization) => Effect.Effect<List, never, Services>

export const name = (n: number) => `Row ${n % 3}`
export const instant = (n: number) => `2098-01-0${1 + (n % 5)}T00:00:00.000Z`

export const byId = ({ id }: { readonly id: string }) => id
export const sorted = {
  createdAt: ({ createdAt }: { readonly createdAt: string }) => createdAt,
  name: ({ name }: { readonly name: string }) => name
}
/** An absent instant sorts first, or last. */
export const noneFirst = (value: string | null) => value ?? ""
export const noneLast = (value: string | null) => value ?? "~"

export const request = Effect.fnUntraced(function* (as: Organization, method: string, path: string, body?: object) {
  const { call } = yield* Admin
  const answer = yield* call(method, path, body, as)
  if (answer.status >= 300) return yield* Effect.die(new Error(`${method} ${path}: ${answer.status} ${answer.text}`))
  return answer.body
})

/** Writes a row that no operation creates. */
export const inserted = (table: string, row: { readonly [column: string]: unknown }) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`insert into ${sql(table)} ${sql.insert(row)}`).pipe(Effect.orDie)

/** A list of records that are created and archived at the path of their list. */
export const records = (
  path: string,
  sorts: List["sorts"],
  bodyOf: (n: number) => object
): ((as: Organization) => Effect.Effect<List, never, Services>) => {
  return (as) =>
    Effect.succeed({
      path,
      sorts,
      idOf: byId,
      filter: "search=row",
      make: (n) => request(as, "POST", path, bodyOf(n)),
      archive: (id) => request(as, "DELETE", `${path}/${id}`)
    })
}
