/** The rehearsals of an experience as its organization sees them: begun, listed, read, cancelled. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Crowd } from "../../domain/rehearsal/Crowd.ts"
import { rehearsalSorts, type RehearsalStatus, type Verdict } from "../../domain/rehearsal/Rehearsal.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { makeReadPage } from "../records/Lists.ts"
import { listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ofTenant } from "../records/Tenancy.ts"

/** The organization has a rehearsal that is under way. */
export class RehearsalExists extends Schema.TaggedError<RehearsalExists>()("RehearsalExists", {}) {}

/** What is rehearsed. */
export interface NewRehearsal {
  readonly experienceId: string
  readonly crowd: Crowd
  /** The figures of the crowd that its author has set. */
  readonly declared: ReadonlyArray<string>
  readonly seed: number
  /** When the copy begins; absent: when the original does. */
  readonly from?: Millis | undefined
}

/** A rehearsal without its report. */
export interface Rehearsal {
  readonly id: string
  readonly experienceId: string
  readonly status: RehearsalStatus
  readonly people: number
  readonly seed: number
  readonly progress: number
  /** The test clock's time; null before the clock is set. */
  readonly clockNow: Millis | null
  readonly problem: string | null
  /** How it ended; null without a report. */
  readonly verdict: Verdict | null
  readonly createdAt: Millis
  readonly createdBy: string
  readonly endedAt: Millis | null
}

/** A rehearsal with its report, if it is done. */
export interface ReportedRehearsal extends Rehearsal {
  readonly report: unknown
}

type Query = PageQuery<(typeof rehearsalSorts)[number]>

const shape = listShape("rehearsals", "r", rehearsalSorts, { createdAt: "timestamptz" })

/** All columns but those of the job, and of the report what the list shows. */
const fields = `r.id, r.experience_id, r.status, (r.crowd ->> 'people')::int as people, r.seed, r.progress, r.clock_now,
  r.problem, r.report -> 'verdict' as verdict, r.created_at, r.created_by, r.ended_at`

export class Rehearsals extends Context.Service<
  Rehearsals,
  {
    /** Begins a rehearsal: a process of the installation runs it. */
    begin(
      tenant: Tenant,
      by: string,
      wanted: NewRehearsal,
      now: Millis
    ): Effect.Effect<ReportedRehearsal, RehearsalExists | Unavailable>
    /** True if a rehearsal of the organization is under way. */
    isRunning(tenant: Tenant): Effect.Effect<boolean, Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<ReportedRehearsal, RecordNotFound | Unavailable>
    list(tenant: Tenant, experienceId: string, query: Query): Effect.Effect<Page<Rehearsal>, PageRefused | Unavailable>
    /** Asks the process that runs it to stop. One that has ended stays as it is. */
    cancel(
      tenant: Tenant,
      by: string,
      id: string,
      now: Millis
    ): Effect.Effect<ReportedRehearsal, RecordNotFound | Unavailable>
  }
>()("usher/store/rehearsal/Rehearsals") {
  static readonly layer = Layer.effect(Rehearsals)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const readPage = yield* makeReadPage(shape, toRehearsal)
      const list = Effect.fn("Rehearsals.list")(function* (tenant: Tenant, experienceId: string, query: Query) {
        return yield* readPage(tenant, query, {
          filter: { experienceId },
          fields: sql.literal(fields),
          from: sql`rehearsals r`,
          where: sql`${ofTenant(sql, tenant, "r")} and r.experience_id = ${experienceId}`
        })
      }, orUnavailable)
      return { list, ...makeReads(sql), ...makeChanges(sql, yield* SecureRandom.SecureRandom) }
    })
  )
}

const makeReads = (sql: PgClient.PgClient) => ({
  find: makeFind(sql),

  isRunning: Effect.fn("Rehearsals.isRunning")(function* (tenant: Tenant) {
    const rows = yield* sql`select 1 from rehearsals r where ${ofTenant(sql, tenant, "r")} and r.status = 'RUNNING'`
    return rows.length > 0
  }, orUnavailable)
})

const makeFind = (sql: PgClient.PgClient) =>
  Effect.fn("Rehearsals.find")(function* (tenant: Tenant, id: string) {
    const [row] = yield* sql<ReportedRow>`
      select ${sql.literal(fields)}, r.report from rehearsals r where ${ofTenant(sql, tenant, "r")} and r.id = ${id}`
    return row === undefined ? yield* new RecordNotFound({ record: "Rehearsal" }) : toReported(row)
  }, orUnavailable)

const makeChanges = (sql: PgClient.PgClient, random: SecureRandom.SecureRandom["Service"]) => {
  const find = makeFind(sql)

  const begin = Effect.fn("Rehearsals.begin")(function* (
    tenant: Tenant,
    by: string,
    { experienceId, crowd, declared, seed, from }: NewRehearsal,
    now: Millis
  ) {
    const at = new Date(now)
    const [row] = yield* sql<ReportedRow>`
      insert into rehearsals as r ${sql.insert({
        id: yield* random.uuidV7(),
        organization_id: tenant.organizationId,
        mode: tenant.mode,
        experience_id: experienceId,
        status: "RUNNING",
        crowd: sql.json(crowd),
        declared,
        seed,
        begins_at: from === undefined ? null : new Date(from),
        created_at: at,
        created_by: by,
        updated_at: at,
        updated_by: by
      })}
      on conflict (organization_id) where status = 'RUNNING' do nothing
      returning ${sql.literal(fields)}, r.report`
    return row === undefined ? yield* new RehearsalExists() : toReported(row)
  }, orUnavailable)

  const cancel = Effect.fn("Rehearsals.cancel")(function* (tenant: Tenant, by: string, id: string, now: Millis) {
    yield* sql`
      update rehearsals set is_cancelled = true, updated_at = ${new Date(now)}, updated_by = ${by}
      where ${ofTenant(sql, tenant)} and id = ${id} and status = 'RUNNING' and not is_cancelled`
    return yield* find(tenant, id)
  }, orUnavailable)

  return { begin, cancel }
}

interface Row {
  readonly id: string
  readonly experience_id: string
  readonly status: RehearsalStatus
  readonly people: number
  readonly seed: number
  readonly progress: number
  readonly clock_now: Date | null
  readonly problem: string | null
  readonly verdict: Verdict | null
  readonly created_at: Date
  readonly created_by: string
  readonly ended_at: Date | null
}

interface ReportedRow extends Row {
  readonly report: unknown
}

const toRehearsal = (row: Row): Rehearsal => ({
  id: row.id,
  experienceId: row.experience_id,
  status: row.status,
  people: row.people,
  seed: row.seed,
  progress: row.progress,
  clockNow: row.clock_now?.getTime() ?? null,
  problem: row.problem,
  verdict: row.verdict,
  createdAt: row.created_at.getTime(),
  createdBy: row.created_by,
  endedAt: row.ended_at?.getTime() ?? null
})

const toReported = (row: ReportedRow): ReportedRehearsal => ({ ...toRehearsal(row), report: row.report })
