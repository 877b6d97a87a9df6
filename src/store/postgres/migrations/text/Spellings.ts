/**
 * Gives addresses and keys of earlier releases the spelling in which they are compared now: one for the notations of a
 * mailbox, and NFC for keys. Of two rows that turn out to be one, the row that already has this spelling keeps it, or else
 * the oldest gets it. The other row stays as it is: nothing of it is lost, and staff find it by a search.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { normalizedEmail } from "../../../../domain/values/Email.ts"

/** A text of a table, and the rows in which it must be unique. `o` is another row, and `t` is the row. */
interface Spelled {
  readonly table: string
  readonly column: string
  readonly order: string
  readonly unique?: { readonly among: string; readonly by: string }
  readonly spelling: (text: string) => string | undefined
}

const nfc = (text: string): string => text.normalize("NFC")

const spelled: ReadonlyArray<Spelled> = [
  {
    table: "consumers",
    column: "email",
    order: "created_at, id",
    unique: { among: "type = 'authenticated' and not archived", by: "organization_id, mode" },
    spelling: normalizedEmail
  },
  {
    table: "people",
    column: "email",
    order: "created_at, id",
    unique: { among: "not archived", by: "organization_id, mode" },
    spelling: normalizedEmail
  },
  {
    table: "stopped_addresses",
    column: "address",
    order: "stopped_at",
    unique: { among: "true", by: "organization_id, mode, channel" },
    spelling: normalizedEmail
  },
  { table: "sent_messages", column: "address", order: "sent_at", spelling: normalizedEmail },
  {
    table: "consumers",
    column: "external_id",
    order: "created_at, id",
    unique: { among: "not archived", by: "organization_id, mode" },
    spelling: nfc
  },
  {
    table: "orders",
    column: "external_id",
    order: "created_at, id",
    unique: { among: "true", by: "organization_id, mode" },
    spelling: nfc
  },
  {
    table: "experience_pages",
    column: "slug",
    order: "created_at, id",
    unique: { among: "not archived", by: "experience_id" },
    spelling: nfc
  },
  { table: "variant_option_values", column: "value", order: "created_at, id", spelling: nfc },
  ...["provider", "issuer", "subject"].map((column, _, columns) => ({
    table: "external_identities",
    column,
    order: "created_at",
    unique: {
      among: "true",
      by: ["organization_id", "mode", ...columns.filter((other) => other !== column)].join(", ")
    },
    spelling: nfc
  }))
]

const respell = Effect.fnUntraced(function* ({ table, column, order, unique, spelling }: Spelled) {
  const sql = yield* SqlClient.SqlClient
  const name = sql(column)
  // Every text that is not in its spelling has other characters than ASCII, or a host in its ASCII form.
  const found = yield* sql<{ readonly row: string; readonly text: string }>`
    select ctid::text as row, ${name} as text from ${sql(table)}
    where octet_length(${name}) <> length(${name}) or ${name} like '%xn--%' order by ${sql.literal(order)}`
  for (const { row, text } of found) {
    const spelt = spelling(text)
    if (spelt === undefined || spelt === text) continue
    const isFree =
      unique === undefined
        ? sql`true`
        : sql`(not (${sql.literal(unique.among)}) or not exists (
            select from ${sql(table)} o where ${sql.literal(unique.among.replaceAll(/\b(type|archived)\b/g, "o.$1"))}
              and (${sql.literal(qualified("o", unique.by))}) = (${sql.literal(qualified("t", unique.by))})
              and o.${name} = ${spelt} and o.ctid <> t.ctid
          ))`
    const proved =
      table === "consumers" && column === "email"
        ? sql`, proved_email = case when proved_email = email then ${spelt} else proved_email end`
        : sql``
    yield* sql`
      update ${sql(table)} t set ${name} = ${spelt} ${proved} where t.ctid = ${row}::text::tid and ${name} = ${text} and ${isFree}`
  }
})

const qualified = (alias: string, columns: string): string =>
  columns
    .split(", ")
    .map((column) => `${alias}.${column}`)
    .join(", ")

/** Gives all texts of earlier releases their spelling. Doing it again changes only what was written meanwhile. */
export const respellAll = Effect.forEach(spelled, respell, { discard: true })
