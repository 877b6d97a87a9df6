/**
 * The rows that the outbox of webhooks reads: endpoints, mechanisms with new events, events, and held notifications.
 */
import { toIdentity } from "../mechanism/Mechanisms.ts"
import type { Event } from "../../domain/mechanism/Decider.ts"
import type { Kind, MechanismIdentity } from "../../domain/mechanism/Mechanism.ts"
import type { Change, RecordedChange, TenantEventType } from "../../domain/organization/TenantEvent.ts"
import {
  type DeliveryForm,
  type Ordering,
  requestsAtOnceDefault,
  type RetrySchedule
} from "../../domain/webhook/Webhook.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { FormerSecretColumns, SecretColumns } from "../secrets/RecordSecrets.ts"
import type { Keyring } from "../secrets/Sealing.ts"
import { formerOf, presentOf } from "./WebhookSecrets.ts"

/** A webhook that has work. */
export interface Endpoint {
  readonly id: string
  readonly tenant: Tenant
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly ordering: Ordering
  readonly schedule: RetrySchedule
  readonly delivery: DeliveryForm
  readonly requestsAtOnce: number
  /** Undefined: as fast as the endpoint answers. */
  readonly requestsPerSecond: number | undefined
  /** The present secret, and after it the former one while both are valid. */
  readonly secrets: readonly [string, ...ReadonlyArray<string>]
  readonly failingSince: Millis | undefined
}

/** A journal with events after the webhook's cursor: of a mechanism, or of the tenant. */
export type Source = MechanismSource | TenantSource

/** The events after a cursor. `subjectId` names the journal: the mechanism, or the organization. */
interface Unread {
  readonly subjectId: string
  readonly readUpTo: number
  readonly lastSequence: number
}

/** A mechanism with events after the webhook's cursor. */
export interface MechanismSource extends Unread {
  readonly identity: MechanismIdentity
  /** True if the system assigns the products of the mechanism's sequence. */
  readonly assignsProducts: boolean
  /** The product of every event, if the sequence or the experience has only one. */
  readonly productId: string | undefined
}

/** The journal of the webhook's tenant, with events after the cursor. */
export interface TenantSource extends Unread {
  readonly identity?: never
}

/** An event of the journal, as stored. */
export interface StoredEvent {
  readonly sequence: number
  readonly event: Event
  /** The product of the variant that the consumer has selected. */
  readonly productId?: string
}

/** A notification that waits for an attempt, or for the one before it in its lane. */
export interface Held {
  readonly subjectId: string
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
    readonly delivery?: DeliveryForm
    readonly requestsAtOnce?: number
    readonly requestsPerSecond?: number
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
    delivery: record.delivery ?? "single",
    requestsAtOnce: record.requestsAtOnce ?? requestsAtOnceDefault,
    requestsPerSecond: record.requestsPerSecond,
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
  readonly product_id: string | null
  readonly read_up_to: number
  readonly last_sequence: number
}

export const toSource = (row: SourceRow): MechanismSource => ({
  subjectId: row.id,
  identity: toIdentity(row),
  assignsProducts: row.assigns_products,
  productId: row.product_id ?? undefined,
  readUpTo: row.read_up_to,
  lastSequence: row.last_sequence
})

export interface ChangeRow {
  readonly sequence: number
  readonly at: Date
  readonly type: TenantEventType
  readonly subject_id: string
  readonly data: Change & Pick<RecordedChange, "context">
}

export const toChange = ({ sequence, at, type, subject_id, data }: ChangeRow): RecordedChange => ({
  ...data,
  sequence,
  at: at.getTime(),
  type,
  subjectId: subject_id
})

export interface EventRow {
  readonly sequence: number
  readonly at: Date
  readonly type: string
  readonly consumer_id: string | null
  readonly data: object | null
  readonly product_id: string | null
}

export const toStoredEvent = ({ sequence, at, type, consumer_id, data, product_id }: EventRow): StoredEvent => ({
  sequence,
  ...(product_id !== null && { productId: product_id }),
  event: { ...data, _tag: type, at: at.getTime(), ...(consumer_id !== null && { consumerId: consumer_id }) }
})

export interface HeldRow extends Omit<Held, "id" | "subjectId"> {
  readonly event_id: string
  readonly subject_id: string
}

export const toHeld = ({ event_id, subject_id, ...row }: HeldRow): Held => ({
  ...row,
  id: event_id,
  subjectId: subject_id
})
