/** The SQL of the journals' heads: the text of each statement, and how its rows are read. */
import type { ActorKind } from "../../domain/mechanism/Mechanism.ts"
import type { Mode } from "../../domain/values/Ids.ts"
import type { Head } from "./Journal.ts"

const headColumns = `id, organization_id, mode, experience_id, sequence_id, kind, head.sequence::float8, head.epoch,
  head.format_version, head.wake_at, projection.sequence::float8, archived and teardown_status is not distinct from 'completed'`

const heads = `select ${headColumns} from mechanisms join mechanism_heads as head on head.mechanism_id = id
  join place_projections as projection on projection.mechanism_id = id`

/** The head of one mechanism, by its id. {@link toHead} reads its row. */
export const head = `${heads} where id = $1::uuid`

/** The heads of all unfinished mechanisms. */
export const unfinished = `${heads} where teardown_status is distinct from 'completed'`

/** The heads of all mechanisms with a wake-up at or before an instant, or the time of their test clock. */
export const due = `${heads} left join test_clocks as clock using (organization_id)
  where head.wake_at <= coalesce(case when mode = 'test' then clock.frozen_at end, $1::timestamptz)`

/** The heads of all mechanisms whose places are not written up to their last event. */
export const behind = `${heads} where projection.sequence < head.sequence`

/**
 * Begins a new epoch for mechanisms, by their ids. A concurrent commit is written before it or refused. Heads are
 * locked in the order of their ids, so that two processes that take over do not deadlock.
 */
export const takeOver = `
  with held as (
    select mechanism_id from mechanism_heads where mechanism_id = any($1::uuid[]) order by mechanism_id for update
  )
  update mechanism_heads as head set epoch = head.epoch + 1
  from held join mechanisms on id = held.mechanism_id
  join place_projections as projection on projection.mechanism_id = id
  where head.mechanism_id = held.mechanism_id
  returning ${headColumns}`

/** A row of {@link head}, {@link unfinished}, {@link due}, {@link behind} or {@link takeOver}. */
export type HeadRow = readonly [
  id: string,
  organizationId: string,
  mode: Mode,
  experienceId: string | null,
  sequenceId: string | null,
  kind: ActorKind,
  sequence: number,
  epoch: number,
  formatVersion: number,
  wakeAt: Date | null,
  placesSequence: number,
  isOver: boolean
]

export const toHead = ([
  id,
  organizationId,
  mode,
  experienceId,
  sequenceId,
  kind,
  sequence,
  epoch,
  formatVersion,
  wakeAt,
  placesSequence,
  isOver
]: HeadRow): Head => ({
  identity: {
    id,
    organizationId,
    mode,
    kind,
    experienceId: experienceId ?? undefined,
    sequenceId: sequenceId ?? undefined
  },
  sequence,
  epoch,
  formatVersion,
  wakeAt: wakeAt === null ? null : wakeAt.getTime(),
  placesSequence,
  isOver
})
