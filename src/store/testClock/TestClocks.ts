/**
 * The test clocks, in the memory of each process: the time of a tenant in test mode costs no query, and that of live mode
 * not even a look-up. A change of a clock is a notification, so every process has it with the commit. After a
 * gap of the notifications all clocks are read again; until then a process goes on with those it knows.
 *
 * A tenant in test mode always gets a {@link TestModeClock}: it shows the server's time until the organization sets a test
 * clock, and again after it has deleted it. So a fiber that lives long, such as an actor's, needs no other clock then.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { TestClock } from "../../domain/organization/TestClock.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { Invalidations } from "../coordination/Invalidations.ts"
import { TestModeClock } from "../coordination/TestModeClock.ts"
import * as Time from "../coordination/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofOrganization } from "../records/Tenancy.ts"

export interface TestClocks {
  /** Returns the test clock of the tenant, if it has one. Live mode has none. */
  readonly of: (tenant: Tenant) => TestClock | undefined
  /** The same from the database while memory may be out of date. For what must not leave the installation. */
  readonly find: (tenant: Tenant) => Effect.Effect<TestClock | undefined, Unavailable>
  readonly all: () => ReadonlyArray<TestClock>
  /** Returns the clock of a tenant in test mode; undefined for live mode, which has the server's. */
  readonly clockOf: (tenant: Tenant) => Clock.Clock | undefined
  /** Calls `listener` with the organization after its clock has changed. Returns an unsubscribe function. */
  readonly onChange: (listener: (organizationId: string) => void) => () => void
}

/** Without a database no tenant has a test clock. */
export const TestClocks = Context.Reference<TestClocks>("usher/store/testClock/TestClocks", {
  defaultValue: () => ({
    of: () => undefined,
    find: () => Effect.undefined,
    all: () => [],
    clockOf: () => undefined,
    onChange: () => () => undefined
  })
})

/** Runs an effect in the time of a tenant. */
export const inTimeOf =
  (clocks: TestClocks, tenant: Tenant) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const clock = clocks.clockOf(tenant)
    return clock === undefined ? effect : Effect.provideService(effect, Clock.Clock, clock)
  }

/** Adds the clock of a tenant to services. */
export const withTimeOf = <R>(clocks: TestClocks, services: Context.Context<R>, tenant: Tenant): Context.Context<R> => {
  const clock = clocks.clockOf(tenant)
  return clock === undefined ? services : Context.add(services, Clock.Clock, clock)
}

/** The test clocks of the database. */
export const layer = Layer.effect(
  TestClocks,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const invalidations = yield* Invalidations
    const server = yield* Time.serverClock
    const known = new Map<string, TestClock>()
    const clocks = new Map<string, TestModeClock>()
    const listeners = new Set<(organizationId: string) => void>()

    const keep = (organizationId: string, clock: TestClock | undefined): void => {
      if (clock === undefined) known.delete(organizationId)
      else known.set(organizationId, clock)
      for (const listener of listeners) listener(organizationId)
    }
    const read = (organizationId: string) =>
      Effect.map(rowsOf(sql, organizationId), ([row]) => row && toTestClock(row)).pipe(orUnavailable)

    yield* invalidations.subscribe("test_clock", {
      handle: (organizationId) =>
        read(organizationId).pipe(
          Effect.map((clock) => keep(organizationId, clock)),
          // The next step of the advance tells it again.
          Effect.catch(() => Effect.logWarning("A test clock could not be read", organizationId))
        ),
      refresh: Effect.map(rowsOf(sql), (rows) => {
        const found = new Map(rows.map((row) => [row.organization_id, toTestClock(row)]))
        for (const organizationId of new Set([...known.keys(), ...found.keys()])) {
          keep(organizationId, found.get(organizationId))
        }
      }).pipe(orUnavailable)
    })

    const clockOf = (organizationId: string): TestModeClock => {
      let clock = clocks.get(organizationId)
      if (clock === undefined) {
        clock = new TestModeClock(server, () => known.get(organizationId)?.frozenAt)
        clocks.set(organizationId, clock)
      }
      return clock
    }

    return {
      of: ({ organizationId, mode }) => (mode === "live" ? undefined : known.get(organizationId)),
      find: ({ organizationId, mode }) => {
        if (mode === "live") return Effect.undefined
        return invalidations.isCurrent() ? Effect.succeed(known.get(organizationId)) : read(organizationId)
      },
      all: () => [...known.values()],
      clockOf: ({ organizationId, mode }) => (mode === "live" ? undefined : clockOf(organizationId)),
      onChange: (listener) => {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      }
    }
  })
)

/** A row of the table. */
export interface Row {
  readonly organization_id: string
  readonly frozen_at: Date
  readonly seed: string
  readonly webhook_ids: ReadonlyArray<string>
  readonly advance_from: Date | null
  readonly advance_to: Date | null
  readonly problem: string | null
}

/** Reads the clock of an organization, or all. */
export const rowsOf = (sql: SqlClient.SqlClient, organizationId?: string) =>
  sql<Row>`
    select * from test_clocks where ${organizationId === undefined ? sql`true` : ofOrganization(sql, organizationId)}`

export const toTestClock = (row: Row): TestClock => ({
  organizationId: row.organization_id,
  frozenAt: row.frozen_at.getTime(),
  seed: row.seed,
  webhookIds: row.webhook_ids,
  ...(row.advance_from !== null &&
    row.advance_to !== null && { advance: { from: row.advance_from.getTime(), to: row.advance_to.getTime() } }),
  ...(row.problem !== null && { problem: row.problem })
})
