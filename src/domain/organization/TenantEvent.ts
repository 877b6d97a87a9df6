/**
 * Events about an organization's records, settings and keys, in live or in test mode. Guests and entries have none: the
 * journals of mechanisms contain the actions of consumers.
 */
import { Schema } from "effect"
import type { Millis } from "../values/Time.ts"

const record = ["created", "updated", "archived", "restored"] as const

/** The events of each kind of record. */
const actions = {
  organization: ["created", "updated", "secret_rotated", "secret_sealed"],
  api_key: ["created", "revoked"],
  experience: [...record, "activated", "completed"],
  sequence: record,
  experience_page: record,
  distribution: [...record, "noted"],
  product: record,
  variant: record,
  variant_option: record,
  variant_option_value: record,
  media_asset: record,
  picture: ["created", "removed"],
  font: ["created", "removed"],
  sync_source: record,
  audience: record,
  consumer: [...record, "erased"],
  order: ["created", "updated", "needs_attention"],
  webhook: [...record, "enabled", "disabled", "failed", "secret_rotated", "secret_sealed"],
  receiver: [...record, "secret_rotated", "secret_sealed"],
  stock: ["created", "updated", "archived", "adjusted", "low", "empty", "refilled"],
  gate: [...record, "key_rotated"],
  person: record,
  stopped_address: ["lifted"],
  test_clock: ["created", "removed"],
  rehearsal: ["created", "cancelled"]
} as const

type Actions = typeof actions
type TypeOf<K extends keyof Actions> = `${K}.${Actions[K][number]}`

/** The type of an event: the kind of record, and the event's name. */
export type TenantEventType = { readonly [K in keyof Actions]: TypeOf<K> }[keyof Actions]

export const tenantEventTypes = Object.entries<ReadonlyArray<string>>(actions).flatMap(([kind, names]) =>
  names.map((name) => `${kind}.${name}`)
) as ReadonlyArray<TenantEventType> as readonly [TenantEventType, ...TenantEventType[]]

export const TenantEventType = Schema.Literals(tenantEventTypes)

/** The values of fields, by name. Absent fields have none, or are not shown. */
export type Values = { readonly [field: string]: Schema.Json }

export interface Change {
  /** The names of the fields that differ, including those with hidden values. */
  readonly changed: ReadonlyArray<string>
  readonly before: Values
  readonly after: Values
}

/** An event as webhooks read it. */
export interface RecordedChange extends Change {
  readonly sequence: number
  readonly at: Millis
  readonly type: TenantEventType
  readonly subjectId: string
  /** Fields of the record after the event that name its parents. */
  readonly context?: Values
}

/** How the list of entries of the audit log can be sorted. The first is the default. */
export const auditLogSorts = ["sequence"] as const
