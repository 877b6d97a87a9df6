/**
 * Notifications in batches: several events in one request. A batch is a notification itself, with one result for all of
 * its events, and it keeps its content and its id once it has been tried.
 *
 * The lanes of a journal are spread over a few lanes of batches. So the events of a lane stay in order, and a batch that
 * fails holds a part of the lanes.
 */
import type { Tenant } from "../values/Ids.ts"
import { payloadVersion } from "./Payload.ts"

export const batchType = "events.batch"

/** Events of one batch, and bytes of its request, at most. */
export const batchEventsMax = 100
export const batchBytesMax = 256_000

const lanesOfJournal = 4

/** Bytes of a batch apart from its events. */
const envelopeBytes = 1_000

/** A notification in its lane. `sequence` and `part` order those of one journal. */
export interface QueuedNotification {
  readonly id: string
  readonly type: string
  readonly sequence: number
  readonly part: number
  readonly lane: string
  readonly body: string
}

/**
 * Returns batches of the notifications of one journal, which are in order. Reports about webhooks stay alone: a report
 * about a failed batch of reports would have no end.
 */
export const batchesOf = <A extends QueuedNotification>(
  tenant: Tenant,
  journal: string,
  notifications: ReadonlyArray<A>
): ReadonlyArray<A> => {
  const alone = notifications.filter(({ type }) => type.startsWith("webhook."))
  const others = notifications.filter(({ type }) => !type.startsWith("webhook."))
  const lanes = Map.groupBy(others, ({ lane }) => `batches:${journal}:${indexOf(lane)}`)
  return [
    ...alone,
    ...[...lanes].flatMap(([lane, queued]) => chunksOf(queued).map((chunk) => batchOf(tenant, lane, chunk)))
  ]
}

/** Returns the lane of batches that a lane belongs to. */
function indexOf(lane: string): number {
  let hash = 0
  for (let index = 0; index < lane.length; index++) hash = (Math.imul(hash, 31) + lane.charCodeAt(index)) >>> 0
  return hash % lanesOfJournal
}

/** Divides notifications into as few batches as the bounds allow. */
function chunksOf<A extends QueuedNotification>(
  queued: ReadonlyArray<A>
): ReadonlyArray<readonly [A, ...ReadonlyArray<A>]> {
  const chunks: Array<[A, ...Array<A>]> = []
  let bytes = 0
  for (const one of queued) {
    const size = Buffer.byteLength(one.body) + 1
    const chunk = chunks.at(-1)
    if (chunk === undefined || chunk.length === batchEventsMax || bytes + size > batchBytesMax - envelopeBytes) {
      chunks.push([one])
      bytes = size
    } else {
      chunk.push(one)
      bytes += size
    }
  }
  return chunks
}

/** Makes a batch. Its id names the first and the last event, and how many there are. */
function batchOf<A extends QueuedNotification>(
  { organizationId, mode }: Tenant,
  lane: string,
  chunk: readonly [A, ...ReadonlyArray<A>]
): A {
  const [first] = chunk
  const last = chunk.at(-1)!
  const id = `${first.id}_to_${last.sequence}_${last.part}_${chunk.length}`
  const { timestamp } = JSON.parse(last.body) as { readonly timestamp: string }
  const described = {
    id,
    type: batchType,
    timestamp,
    organization_id: organizationId,
    version: payloadVersion,
    sequence: first.sequence,
    mode
  }
  const events = chunk.map(({ body }) => body).join(",")
  const body = `${JSON.stringify(described).slice(0, -1)},"data":{"events":[${events}]}}`
  return { ...first, id, type: batchType, lane, body }
}
