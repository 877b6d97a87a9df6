/** The body of a webhook request, made from an event of a mechanism or of a record. */
import type { Event } from "../mechanism/Decider.ts"
import type { MechanismIdentity } from "../mechanism/Mechanism.ts"
import type { RecordedChange } from "../organization/TenantEvent.ts"
import type { Tenant } from "../values/Ids.ts"
import { type Millis, toText } from "../values/Time.ts"
import { reportedEvents } from "./Catalogue.ts"
import { type Report, reportsOf } from "./RecordCatalogue.ts"
import type { Ordering } from "./Webhook.ts"

/** The version of the payload's shape. */
export const payloadVersion = 1

/** A message to an endpoint. */
export interface Notification {
  /** The same for every attempt and every replay. */
  readonly id: string
  readonly type: string
  readonly sequence: number
  /** The position among the notifications of the same event. */
  readonly part: number
  /** The consumer that the event is about; absent if it is about the mechanism. */
  readonly consumerId?: string
  /** The request's body. */
  readonly body: string
}

/**
 * Returns the notifications of an event, for an endpoint that subscribes to the types.
 *
 * @param productId the product that the event is about, if there is one
 */
export const notificationsOf = (
  identity: MechanismIdentity,
  { sequence, event }: { readonly sequence: number; readonly event: Event },
  types: ReadonlyArray<string>,
  productId?: string
): ReadonlyArray<Notification> => {
  const { id: distributionId, kind, experienceId, sequenceId } = identity
  const { consumerId, at } = event
  return (reportedEvents[kind][event._tag] ?? []).flatMap(({ type, fields }, part) => {
    if (!types.includes(type)) return []
    const data = {
      consumer_id: consumerId,
      distribution_id: distributionId,
      distribution_type: kind,
      experience_id: experienceId,
      sequence_id: sequenceId,
      product_id: productId,
      ...dataOf(event, fields)
    }
    const notification = notificationOf(identity, distributionId, { type, part, data }, { sequence, at })
    return [{ ...notification, ...(consumerId !== undefined && { consumerId }) }]
  })
}

/**
 * Returns the notifications of an event of a record, for a webhook that subscribes to the types. None is about the
 * webhook itself.
 */
export const recordNotificationsOf = (
  tenant: Tenant,
  event: RecordedChange,
  { id, events }: { readonly id: string; readonly events: ReadonlyArray<string> }
): ReadonlyArray<Notification> => {
  if (event.subjectId === id) return []
  const journal = `${tenant.organizationId}_${tenant.mode}`
  return reportsOf(event, events).map((report) => notificationOf(tenant, journal, report, event))
}

/** Makes the notification. `journal` names the journal of the event. */
const notificationOf = (
  { organizationId, mode }: Tenant,
  journal: string,
  { type, part, data }: Report,
  { sequence, at }: { readonly sequence: number; readonly at: Millis }
): Notification => {
  const id = `evt_${journal.replaceAll("-", "")}_${sequence}_${part}`
  const timestamp = toText(at)
  const body = { id, type, timestamp, organization_id: organizationId, version: payloadVersion, sequence, mode, data }
  return { id, type, sequence, part, body: JSON.stringify(body) }
}

/** Returns the name of the lane of an event of a record: the record, unless no event waits for another. */
export const recordLaneOf = (ordering: Ordering, { subjectId }: RecordedChange, { id }: Notification): string =>
  ordering === "none" ? id : subjectId

/** Returns the name of the lane. The notifications of a lane are delivered one at a time, in order. */
export const laneOf = (ordering: Ordering, distributionId: string, { id, consumerId }: Notification): string => {
  switch (ordering) {
    case "none":
      return id
    case "distribution":
      return distributionId
    case "consumer":
      return consumerId === undefined ? distributionId : `${distributionId}:${consumerId}`
  }
}

/** The fields of an event that are instants. */
const instants = new Set(["closeAt", "expiresAt", "startTime", "endTime"])

function dataOf(event: Event, fields: { readonly [field: string]: string } = {}): { readonly [name: string]: unknown } {
  const values: { readonly [field: string]: unknown } = { ...event }
  return Object.fromEntries(
    Object.entries(fields).map(([field, name]) => {
      const value = values[field]
      return [name, instants.has(field) && typeof value === "number" ? toText(value) : value]
    })
  )
}
