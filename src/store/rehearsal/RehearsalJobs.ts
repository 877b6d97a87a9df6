/** Rehearsals as the processes run them. Each statement decides by the row, and the holder of a lease runs the job. */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import type { Crowd } from "../../domain/rehearsal/Crowd.ts"
import { authorOf, keptMax, minutesMax } from "../../domain/rehearsal/Rehearsal.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofOrganization } from "../records/Tenancy.ts"

/** Seconds that the keys of a rehearsal stay valid without its process. */
export const keySeconds = 30

/** A rehearsal to run. */
export interface Job {
  readonly id: string
  readonly organizationId: string
  readonly experienceId: string
  readonly crowd: Crowd
  /** The figures of the crowd that its author has set. */
  readonly declared: ReadonlyArray<string>
  readonly seed: number
  readonly from: Millis | undefined
  /** True if a process has begun it. */
  readonly isClaimed: boolean
  readonly isCancelled: boolean
}

/** How far a rehearsal is: the share that is done, and the test clock's time. */
export interface Reached {
  readonly progress: number
  readonly now: Millis | undefined
}

/** How a rehearsal ended. */
export type Ending = { readonly report: object } | { readonly problem: string }

export class RehearsalJobs extends Context.Service<
  RehearsalJobs,
  {
    /** Returns the rehearsals of all organizations that have not ended, the oldest first. */
    readonly running: Effect.Effect<ReadonlyArray<Job>, Unavailable>
    /** Begins it, with keys of this digest. Returns false if another process has begun it, or it was cancelled. */
    claim(job: Job, keysHash: Uint8Array, now: Millis): Effect.Effect<boolean, Unavailable>
    /** Notes how far it is, and extends its keys from `at` on. Returns false if it was cancelled or has ended. */
    beat(job: Job, reached: Reached, at: Millis): Effect.Effect<boolean, Unavailable>
    /** Ends its keys. */
    endKeys(job: Job): Effect.Effect<void, Unavailable>
    /** True if the organization's test clock is that of this rehearsal. */
    hasClock(job: Job): Effect.Effect<boolean, Unavailable>
    /** Notes the end, if it has none, and removes what is too old. */
    finish(job: Job, ending: Ending, now: Millis): Effect.Effect<void, Unavailable>
  }
>()("usher/store/rehearsal/RehearsalJobs") {
  static readonly layer = onDatabase(RehearsalJobs, (sql) => ({
    running: running(sql),
    ...makeRunning(sql),
    finish: makeFinish(sql)
  }))
}

const keysUntil = (now: Millis): Date => new Date(now + keySeconds * 1_000)

interface Row {
  readonly id: string
  readonly organization_id: string
  readonly experience_id: string
  readonly crowd: Crowd
  readonly declared: ReadonlyArray<string>
  readonly seed: number
  readonly begins_at: Date | null
  readonly claimed_at: Date | null
  readonly is_cancelled: boolean
}

const running = (sql: PgClient.PgClient) =>
  sql<Row>`select * from rehearsals where status = 'RUNNING' order by created_at, id`.pipe(
    Effect.map((rows) =>
      rows.map((row): Job => ({
        id: row.id,
        organizationId: row.organization_id,
        experienceId: row.experience_id,
        crowd: row.crowd,
        declared: row.declared,
        seed: row.seed,
        from: row.begins_at?.getTime(),
        isClaimed: row.claimed_at !== null,
        isCancelled: row.is_cancelled
      }))
    ),
    orUnavailable
  )

const makeRunning = (sql: PgClient.PgClient) => {
  const own = ({ id, organizationId }: Job) => sql`id = ${id} and ${ofOrganization(sql, organizationId)}`

  const claim = Effect.fn("RehearsalJobs.claim")(function* (job: Job, keysHash: Uint8Array, now: Millis) {
    const rows = yield* sql`
      update rehearsals set claimed_at = ${new Date(now)}, keys_hash = ${keysHash},
        keys_until = ${keysUntil(now)}
      where ${own(job)} and status = 'RUNNING' and claimed_at is null and not is_cancelled returning 1`
    return rows.length > 0
  }, orUnavailable)

  const beat = Effect.fn("RehearsalJobs.beat")(function* (job: Job, { progress, now }: Reached, at: Millis) {
    const rows = yield* sql`
      update rehearsals set progress = ${progress}, clock_now = ${now === undefined ? null : new Date(now)},
        keys_until = least(${keysUntil(at)}, claimed_at + make_interval(mins => ${minutesMax}))
      where ${own(job)} and status = 'RUNNING' and not is_cancelled returning 1`
    return rows.length > 0
  }, orUnavailable)

  const endKeys = (job: Job) =>
    orUnavailable(Effect.asVoid(sql`update rehearsals set keys_hash = null, keys_until = null where ${own(job)}`))

  const hasClock = Effect.fn("RehearsalJobs.hasClock")(function* ({ id, organizationId }: Job) {
    const rows = yield* sql`
      select 1 from test_clocks where ${ofOrganization(sql, organizationId)} and created_by = ${authorOf(id)}`
    return rows.length > 0
  }, orUnavailable)

  return { claim, beat, endKeys, hasClock }
}

const makeFinish = (sql: PgClient.PgClient) =>
  Effect.fn("RehearsalJobs.finish")(function* ({ id, organizationId, experienceId }: Job, ending: Ending, now: Millis) {
    const [report, problem] = "report" in ending ? [sql.json(ending.report), null] : [null, ending.problem]
    yield* sql`
        update rehearsals set status = ${report === null ? "FAILED" : "DONE"}, report = ${report}, problem = ${problem},
          progress = case when ${report === null} then progress else 1 end, ended_at = ${new Date(now)},
          keys_hash = null, keys_until = null
        where id = ${id} and ${ofOrganization(sql, organizationId)} and status = 'RUNNING'`
    yield* sql`
        delete from rehearsals where id in (
          select id from rehearsals
          where experience_id = ${experienceId} and ${ofOrganization(sql, organizationId)} and status <> 'RUNNING'
          order by created_at desc, id desc offset ${keptMax}
        )`
  }, orUnavailable)
