/** The difference between two snapshots of a mechanism, as the events of a stream (see WatchApi.ts). */
import { sha256 } from "../../../domain/values/Digest.ts"
import type { Lifecycle } from "../../../domain/mechanism/Decider.ts"
import type { LifeChange } from "../../../api/admin/WatchApi.ts"

/** A distribution in its encoded form. */
interface Wire {
  readonly lifecycle: Lifecycle
  readonly statusOverride: "ended" | null
  readonly statusOverrideAt: string | null
  readonly statusOverrideBy: string | null
  readonly teardownStatus: "pending" | "completed" | null
  readonly updatedAt: string
  readonly updatedBy: string
  readonly live: { readonly lastSequence: number } | null
  readonly [field: string]: unknown
}

/** The snapshot that all watchers have, and the event that sends it to new ones. */
export interface Snapshot {
  readonly wire: Wire
  readonly isArchived: boolean
  readonly id: string
  readonly event: string
}

/** The events that lead from one snapshot to the next. */
export interface Diff {
  readonly events: string
  readonly snapshot: Snapshot
}

/** Makes the snapshot of a distribution. */
export const snapshotOf = (wire: Wire, isArchived: boolean): Snapshot => {
  const json = JSON.stringify(wire)
  const id = `${wire.live?.lastSequence ?? 0}-${sha256(json).slice(0, 12)}`
  return { wire, isArchived, id, event: event("state", json, id) }
}

/** The difference. It is undefined if nothing has changed, or only counters that are not due yet. */
export const diffOf = (before: Snapshot, found: Snapshot, areCountersDue: boolean): Diff | undefined => {
  const changes = lifeChangesBetween(before, found)
  const isReconfigured = recordOf(before.wire, changes) !== recordOf(found.wire, changes)
  const hasNewCounters = JSON.stringify(before.wire.live) !== JSON.stringify(found.wire.live)
  const areCountersSent = hasNewCounters && areCountersDue && !found.isArchived
  const events = changes.map((change) => ["lifecycle", { change, ...lifecycleFields(found.wire) }] as const)
  const present = areCountersSent ? found : snapshotOf({ ...found.wire, live: before.wire.live }, found.isArchived)
  const all: ReadonlyArray<readonly [string, unknown]> = [
    ...events,
    ...(isReconfigured && !found.isArchived ? [["state", present.wire] as const] : []),
    ...(areCountersSent && !isReconfigured ? [["counters", found.wire.live] as const] : [])
  ]
  if (all.length === 0) return undefined
  // Only the last event carries the id. A stream that is cut before it gets the whole state again.
  const texts = all.map(([name, data], index) =>
    event(name, JSON.stringify(data), index === all.length - 1 ? present.id : undefined)
  )
  return { events: texts.join(""), snapshot: present }
}

/** The changes in their order. */
function lifeChangesBetween(before: Snapshot, found: Snapshot): ReadonlyArray<LifeChange> {
  const [from, to] = [before.wire, found.wire]
  const wasClosing = from.lifecycle === "settling" || from.lifecycle === "closed"
  const isClosing = to.lifecycle === "settling" || to.lifecycle === "closed"
  const isEnded = from.statusOverride === null && to.statusOverride === "ended"
  const changes: Array<LifeChange> = []
  if (from.lifecycle === "scheduled" && to.lifecycle !== "scheduled" && !isEnded) changes.push("opened")
  if (isEnded) changes.push("ended")
  else if (!wasClosing && isClosing) changes.push("closing")
  if (from.lifecycle !== "closed" && to.lifecycle === "closed") changes.push("settled")
  if (!before.isArchived && found.isArchived) changes.push("archived")
  return changes
}

const lifecycleFields = ({
  lifecycle,
  statusOverride,
  statusOverrideAt,
  statusOverrideBy,
  teardownStatus,
  updatedAt,
  updatedBy
}: Wire) => ({ lifecycle, statusOverride, statusOverrideAt, statusOverrideBy, teardownStatus, updatedAt, updatedBy })

/** The fields whose change needs a `state` event: all except the counters and those that lifecycle events carry. */
function recordOf(wire: Wire, changes: ReadonlyArray<LifeChange>): string {
  const record: { [field: string]: unknown } = { ...wire, live: null }
  if (changes.length > 0) for (const field of Object.keys(lifecycleFields(wire))) delete record[field]
  return JSON.stringify(record)
}

const event = (name: string, json: string, id?: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}event: ${name}\ndata: ${json}\n\n`
