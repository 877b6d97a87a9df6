/** The receiver as a kind of record: its rows, its list, and its form on the Admin API. */
import { pathOf, type Receiver, Settings, receiverSorts } from "../../domain/receiver/Receiver.ts"
import { type Declaration, each } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import { make } from "../records/Records.ts"
import { identityAndStamps, type SettingsRow } from "../records/Rows.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"
import { type FormerSecretColumns, recordSecrets, type SecretColumns } from "../secrets/RecordSecrets.ts"

/** A row of `receivers`. */
export interface Row extends SettingsRow, SecretColumns, FormerSecretColumns {
  readonly adapter: Settings["adapter"]
  readonly former_secret_until: Date | null
}

/** The list of receivers. */
export const shape = listShape("receivers", "r", receiverSorts, { createdAt: "timestamptz" })

/** How receivers can be sorted. */
export type Sort = keyof typeof shape.sorts

export const columns = makeSettingsColumns(Settings, { adapter: "adapter", description: "description" })

/** The secrets of receivers. After a change the former one is accepted for a day. */
export const secrets = recordSecrets("receiver")

const toReceiver = (row: Row): Receiver => ({
  ...identityAndStamps(row),
  ...columns.shownOf(row),
  path: pathOf(row.id),
  formerSecretUntil: row.former_secret_until?.getTime() ?? null
})

const declaration: Declaration<Row, Receiver, Sort> = {
  service: "Receivers",
  record: "Receiver",
  table: "receivers",
  alias: "r",
  recordsOf: each(toReceiver),
  list: { shape, searched: "(r.adapter || ' ' || coalesce(r.description, ''))" }
}

/** The operations and statements that receivers share with other records. */
export const base = make(declaration)
