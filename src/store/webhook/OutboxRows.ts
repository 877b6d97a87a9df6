/** What the outbox of webhooks reads: endpoints, mechanisms with new events, events, and held notifications. */
import { toIdentity } from "../mechanism/Mechanisms.ts"
import type { Event, Kind, MechanismIdentity } from "../../domain/mechanism/Decider.ts"
import type { Ordering, RetrySchedule } from "../../domain/webhook/Webhook.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Keyring } from "../secrets/Sealing.ts"
import { type FormerSecretColumns, formerOf, presentOf, type SecretColumns } from "./WebhookSecrets.ts"

/** A webhook that has work. */
export interface Endpoint {
  readonly id: string
  readonly tenant: Tenant
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly ordering: Ordering
  readonly schedule: RetrySchedule
  /** The present secret, and after it the former one while both are valid. */
  readonly secrets: readonly [string, ...ReadonlyArray<string>]
  readonly failingSince: Millis | undefined
}

/** A mechanism with events after the webhook's cursor. */
export interface Source {
  readonly identity: MechanismIdentity
  /** True if the system assigns the products of the mechanism's sequence. */
  readonly assignsProducts: boolean
  readonly readUpTo: number
  readonly lastSequence: number
}

/** An event of the journal, as stored. */
export interface StoredEvent {
  readonly sequence: number
  readonly event: Event
}

/** A notification that waits for an attempt, or for the one before it in its lane. */
export interface Held {
  readonly mechanismId: string
  readonly sequence: number
  readonly part: number
  readonly id: string
  readonly type: string
  readonly lane: string
  readonly body: string
  readonly attempts: number
}

export interface EndpointRow extends SecretColumns, FormerSecretColumns {
  readonly id: string
  readonly organization_id: string
  readonly mode: Mode
  readonly url: string
  readonly record: {
    readonly events: ReadonlyArray<string>
    readonly ordering?: Ordering
    readonly schedule?: RetrySchedule
  }
  readonly overlaps: boolean | null
  readonly failing_since: Date | null
}

/** Returns the endpoint of a row; undefined if this process cannot open its secret. */
export const toEndpoint = (keyring: Keyring, { record, ...row }: EndpointRow): Endpoint | undefined => {
  const present = presentOf(keyring, row)
  if (present === undefined) return undefined
  const former = row.overlaps === true ? formerOf(keyring, row) : undefined
  return {
    id: row.id,
    tenant: { organizationId: row.organization_id, mode: row.mode },
    url: row.url,
    events: record.events,
    ordering: record.ordering ?? "consumer",
    schedule: record.schedule ?? "standard",
    secrets: former === undefined ? [present] : [present, former],
    failingSince: row.failing_since?.getTime()
  }
}

export interface SourceRow {
  readonly id: string
  readonly kind: Kind
  readonly organization_id: string
  readonly mode: Mode
  readonly experience_id: string
  readonly sequence_id: string
  readonly assigns_products: boolean
  readonly read_up_to: number
  readonly last_sequence: number
}

export const toSource = (row: SourceRow): Source => ({
  identity: toIdentity(row),
  assignsProducts: row.assigns_products,
  readUpTo: row.read_up_to,
  lastSequence: row.last_sequence
})

export interface EventRow {
  readonly sequence: number
  readonly at: Date
  readonly type: string
  readonly consumer_id: string | null
  readonly data: object | null
}

export const toStoredEvent = ({ sequence, at, type, consumer_id, data }: EventRow): StoredEvent => ({
  sequence,
  event: { ...data, _tag: type, at: at.getTime(), ...(consumer_id !== null && { consumerId: consumer_id }) }
})

export interface HeldRow extends Omit<Held, "id" | "mechanismId"> {
  readonly event_id: string
  readonly mechanism_id: string
}

export const toHeld = ({ event_id, mechanism_id, ...row }: HeldRow): Held => ({
  ...row,
  id: event_id,
  mechanismId: mechanism_id
})
