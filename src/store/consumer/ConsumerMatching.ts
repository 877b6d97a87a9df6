/**
 * The consumers that the rows of a batch name: by external id, else by email, else by phone number.
 */
import type { Settings } from "../../domain/consumer/Consumer.ts"
import type { Row } from "./ConsumerRow.ts"

/** The fields that name a consumer, other than its id. */
export const keyFields = ["externalId", "email", "phone"] as const
export type KeyField = (typeof keyFields)[number]

/** One row of a batch: the keys of a consumer, and the change of its settings, or of the defaults if it is new. */
export interface Upsert {
  readonly keys: { readonly [K in KeyField]?: string | undefined }
  readonly revise: (settings: Partial<Settings>) => Settings
}

/** A row that names several consumers, or the same one as an earlier row. */
export interface AmbiguousRow {
  readonly index: number
  /** The earlier row that names the same consumer. Undefined if the keys name different consumers. */
  readonly sameAs: number | undefined
}

/** Returns the consumer of each row, undefined for a new one, and the ambiguous rows. */
export const meaningsOf = (rows: ReadonlyArray<Upsert>, known: ReadonlyArray<Row>) => {
  const holders = new Map<string, Row>()
  for (const row of known) {
    if (row.external_id !== null) holders.set(`externalId ${row.external_id}`, row)
    if (row.type !== "authenticated") continue
    if (row.email !== null) holders.set(`email ${row.email}`, row)
    if (row.phone !== null) holders.set(`phone ${row.phone}`, row)
  }
  const consumers: Array<Row | undefined> = []
  const ambiguous: Array<AmbiguousRow> = []
  const firstWith = new Map<string, number>()
  for (const [index, { keys }] of rows.entries()) {
    const names = keyFields.flatMap((field) => (keys[field] === undefined ? [] : `${field} ${keys[field]}`))
    const meant = new Set(names.flatMap((name) => holders.get(name) ?? []))
    const [row] = meant
    const marks = row === undefined ? names : [...names, `id ${row.id}`]
    const sameAs = marks.flatMap((mark) => firstWith.get(mark) ?? [])[0]
    if (meant.size > 1) ambiguous.push({ index, sameAs: undefined })
    else if (sameAs !== undefined) ambiguous.push({ index, sameAs })
    for (const mark of marks) if (!firstWith.has(mark)) firstWith.set(mark, index)
    consumers.push(row)
  }
  return { consumers, ambiguous }
}
