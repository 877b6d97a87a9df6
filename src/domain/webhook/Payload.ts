/** The body of a webhook request (interface document 6), made from an event of a mechanism. */
import type { Event, MechanismIdentity } from "../mechanism/Decider.ts"
import { toText } from "../values/Time.ts"
import { namesProduct, reportedEvents } from "./Catalogue.ts"
import type { Ordering } from "./Webhook.ts"

/** The version of the payload's shape. */
const payloadVersion = 1

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
 * @param productId the product that the system assigned to the consumer; only notifications of its grant name it
 */
export const notificationsOf = (
  identity: MechanismIdentity,
  { sequence, event }: { readonly sequence: number; readonly event: Event },
  types: ReadonlyArray<string>,
  productId?: string
): ReadonlyArray<Notification> => {
  const { id: distributionId, kind, experienceId, sequenceId } = identity
  const { consumerId } = event
  return (reportedEvents[kind][event._tag] ?? []).flatMap(({ type, fields }, part) => {
    if (!types.includes(type)) return []
    const id = `evt_${distributionId.replaceAll("-", "")}_${sequence}_${part}`
    const body = JSON.stringify({
      id,
      type,
      timestamp: toText(event.at),
      organization_id: identity.organizationId,
      version: payloadVersion,
      sequence,
      mode: identity.mode,
      data: {
        consumer_id: consumerId,
        distribution_id: distributionId,
        distribution_type: kind,
        experience_id: experienceId,
        sequence_id: sequenceId,
        product_id: namesProduct(type) ? productId : undefined,
        ...dataOf(event, fields)
      }
    })
    return [{ id, type, sequence, part, ...(consumerId !== undefined && { consumerId }), body }]
  })
}

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
const instants = new Set(["closeAt", "startTime", "endTime"])

function dataOf(event: Event, fields: { readonly [field: string]: string } = {}): { readonly [name: string]: unknown } {
  const values: { readonly [field: string]: unknown } = { ...event }
  return Object.fromEntries(
    Object.entries(fields).map(([field, name]) => {
      const value = values[field]
      return [name, instants.has(field) && typeof value === "number" ? toText(value) : value]
    })
  )
}
