/** The webhook as a kind of record: its rows, its list, and its form on the Admin API. */
import type { Effect } from "effect"
import { requestsAtOnceDefault, Settings, type Webhook, webhookSorts } from "../../domain/webhook/Webhook.ts"
import { type Declaration, each } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import { make } from "../records/Records.ts"
import { identityAndStamps, type SettingsRow } from "../records/Rows.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"
import type { SecretColumns } from "../secrets/RecordSecrets.ts"

/** A row of `webhooks`. */
export interface Row extends SettingsRow, SecretColumns {
  readonly url: string
  readonly disabled_reason: Webhook["disabledReason"]
  readonly failing_since: Date | null
}

/** The list of webhooks. */
export const shape = listShape("webhooks", "w", webhookSorts, { createdAt: "timestamptz", url: "text" })

/** How webhooks can be sorted. */
export type Sort = keyof typeof shape.sorts

export const columns = makeSettingsColumns(Settings, { url: "url" })

const toWebhook = (row: Row): Webhook => {
  const { ordering, schedule, delivery, requestsAtOnce, ...settings } = columns.shownOf(row)
  return {
    ...identityAndStamps(row),
    ...settings,
    ordering: ordering ?? "consumer",
    schedule: schedule ?? "standard",
    delivery: delivery ?? "single",
    requestsAtOnce: requestsAtOnce ?? requestsAtOnceDefault,
    status: row.disabled_reason === null ? "ENABLED" : "DISABLED",
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since?.getTime() ?? null
  }
}

const declaration: Declaration<Row, Webhook, Sort> = {
  service: "Webhooks",
  record: "Webhook",
  table: "webhooks",
  alias: "w",
  recordsOf: each(toWebhook),
  list: { shape, searched: "w.url" }
}

/** The operations and statements that webhooks share with other records. */
export const base = make(declaration)
export type Base = Effect.Success<typeof base>
