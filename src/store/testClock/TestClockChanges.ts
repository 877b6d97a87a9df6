/** Sets, advances and deletes test clocks. Each statement decides by the row, so any process may run it. */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Schema } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { TestClock } from "../../domain/organization/TestClock.ts"
import type { TenantEventType } from "../../domain/organization/TenantEvent.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ofOrganization, ofTenant } from "../records/Tenancy.ts"
import { type Row, rowsOf, toTestClock } from "./TestClocks.ts"

/** The organization has a test clock already. */
export class TestClockExists extends Schema.TaggedError<TestClockExists>()("TestClockExists", {}) {}

/** An advance is under way. */
export class TestClockAdvances extends Schema.TaggedError<TestClockAdvances>()("TestClockAdvances", {}) {}

/** A webhook that the clock names is not one of test mode. */
export class UnknownWebhook extends Schema.TaggedError<UnknownWebhook>()("UnknownWebhook", { index: Schema.Int }) {}

interface NewClock {
  readonly frozenAt: Millis
  readonly seed: string
  readonly webhookIds: ReadonlyArray<string>
}

export class TestClockChanges extends Context.Service<
  TestClockChanges,
  {
    /** Reads the clock from the database. */
    read(tenant: Tenant): Effect.Effect<TestClock, RecordNotFound | Unavailable>
    /** Sets a clock. `by` names the author, `createdAt` is the server's time. */
    create(
      tenant: Tenant,
      by: string,
      clock: NewClock,
      createdAt: Millis
    ): Effect.Effect<TestClock, TestClockExists | UnknownWebhook | Unavailable>
    /** Begins an advance from the time that the caller has seen. A failed one is begun again. */
    begin(
      tenant: Tenant,
      from: Millis,
      to: Millis
    ): Effect.Effect<TestClock, TestClockAdvances | RecordNotFound | Unavailable>
    /** Goes to an instant, if the clock is still as it was read. Returns whether it was. */
    step(clock: TestClock, to: Millis): Effect.Effect<boolean, Unavailable>
    /** Ends the advance, with a problem if it has failed, if the clock is still as it was read. */
    finish(clock: TestClock, problem?: string): Effect.Effect<void, Unavailable>
    /** Removes the clock. `by` names the author, `at` is the server's time. */
    remove(tenant: Tenant, by: string, at: Millis): Effect.Effect<void, Unavailable>
    /** Returns the experiences of the tenant that are not archived. */
    experiences(tenant: Tenant): Effect.Effect<ReadonlyArray<string>, Unavailable>
  }
>()("usher/store/testClock/TestClockChanges") {
  static readonly layer = onDatabase(TestClockChanges, (sql) => ({ ...makeSetting(sql), ...makeAdvancing(sql) }))
}

/** Makes what reads, sets and deletes a clock. */
const makeSetting = (sql: PgClient.PgClient) => {
  const read = makeRead(sql)
  const unknownWebhook = Effect.fnUntraced(function* (tenant: Tenant, ids: ReadonlyArray<string>) {
    if (ids.length === 0) return undefined
    const rows = yield* sql<{ readonly id: string }>`
        select w.id from webhooks w
        where ${ofTenant(sql, tenant, "w")} and not w.archived and w.id = any(${ids}::uuid[])`
    const known = new Set(rows.map(({ id }) => id))
    const index = ids.findIndex((id) => !known.has(id))
    return index < 0 ? undefined : new UnknownWebhook({ index })
  })

  const create = Effect.fn("TestClockChanges.create")(function* (
    tenant: Tenant,
    by: string,
    { frozenAt, seed, webhookIds }: NewClock,
    createdAt: Millis
  ) {
    const unknown = yield* unknownWebhook(tenant, webhookIds)
    if (unknown !== undefined) return yield* unknown
    const rows = yield* sql`
        with made as (
          insert into test_clocks (organization_id, frozen_at, seed, webhook_ids, created_at, created_by)
          values (
            ${tenant.organizationId}, ${new Date(frozenAt)}, ${seed}, ${webhookIds}::uuid[], ${new Date(createdAt)}, ${by}
          )
          on conflict do nothing returning *
        )
        ${noted(sql, "test_clock.created", by, createdAt, sql`made`)}`
    if (rows.length === 0) return yield* new TestClockExists()
    return { organizationId: tenant.organizationId, frozenAt, seed, webhookIds }
  }, orUnavailable)

  const remove = ({ organizationId }: Tenant, by: string, at: Millis) =>
    sql`
        with removed as (delete from test_clocks where ${ofOrganization(sql, organizationId)} returning *)
        ${noted(sql, "test_clock.removed", by, at, sql`removed`)}`.pipe(Effect.asVoid, orUnavailable)

  const experiences = (tenant: Tenant) =>
    sql<{ readonly id: string }>`
        select e.id from experiences e where ${ofTenant(sql, tenant, "e")} and not e.archived order by e.id`.pipe(
      Effect.map((rows) => rows.map(({ id }) => id)),
      orUnavailable
    )

  return { read, create, remove, experiences }
}

/** The end of a statement: it notes an event of the audit log for the clock that `changed` has, and returns a row for it. */
const noted = (
  sql: PgClient.PgClient,
  type: Extract<TenantEventType, `test_clock.${string}`>,
  by: string,
  at: Millis,
  changed: Fragment
): Fragment => {
  const shown = sql`jsonb_build_object('frozenAt', to_char(frozen_at at time zone 'utc', ${isoFormat}))`
  const [before, after] = type === "test_clock.created" ? [sql`'{}'::jsonb`, shown] : [shown, sql`'{}'::jsonb`]
  return sql`
    insert into noted_events (organization_id, mode, at, type, actor, subject_id, data)
    select organization_id, 'test', ${new Date(at)}, ${type}, ${by}, organization_id,
      jsonb_build_object('changed', jsonb_build_array('frozenAt'), 'before', ${before}, 'after', ${after})
    from ${changed} returning 1`
}

/** How the audit log shows an instant. */
const isoFormat = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'

/** Makes what begins an advance, and its steps. */
const makeAdvancing = (sql: PgClient.PgClient) => {
  const read = makeRead(sql)
  const begin = Effect.fn("TestClockChanges.begin")(function* (tenant: Tenant, from: Millis, to: Millis) {
    const [row] = yield* sql<Row>`
        update test_clocks set advance_from = frozen_at, advance_to = ${new Date(to)}, problem = null
        where ${ofOrganization(sql, tenant.organizationId)} and frozen_at = ${new Date(from)}
          and (advance_to is null or problem is not null)
        returning *`
    if (row !== undefined) return toTestClock(row)
    yield* read(tenant)
    return yield* new TestClockAdvances()
  }, orUnavailable)

  /** True for the row as it was read. */
  const isStill = ({ organizationId, frozenAt, advance }: TestClock) => sql`
      ${ofOrganization(sql, organizationId)} and frozen_at = ${new Date(frozenAt)} and problem is null
      and advance_to = ${advance === undefined ? null : new Date(advance.to)}`

  const step = Effect.fnUntraced(function* (clock: TestClock, to: Millis) {
    const rows = yield* sql`update test_clocks set frozen_at = ${new Date(to)} where ${isStill(clock)} returning 1`
    return rows.length > 0
  }, orUnavailable)

  const finish = (clock: TestClock, problem?: string) =>
    Effect.asVoid(
      problem === undefined
        ? sql`update test_clocks set advance_from = null, advance_to = null where ${isStill(clock)}`
        : sql`update test_clocks set problem = ${problem} where ${isStill(clock)}`
    ).pipe(orUnavailable)

  return { begin, step, finish }
}

const makeRead = (sql: PgClient.PgClient) =>
  Effect.fn("TestClockChanges.read")(function* ({ organizationId }: Tenant) {
    const [row] = yield* rowsOf(sql, organizationId)
    return row === undefined ? yield* new RecordNotFound({ record: "Test clock" }) : toTestClock(row)
  }, orUnavailable)
