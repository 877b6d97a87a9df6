import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { release } from "../../../src/domain/values/Release.ts"
import * as Measures from "../../../src/measures/Measures.ts"
import { Availability } from "../../../src/store/coordination/Availability.ts"
import { CurrentRelease } from "../../../src/store/coordination/CurrentRelease.ts"
import { Heartbeat } from "../../../src/store/coordination/Heartbeat.ts"
import * as BoundedClient from "../../../src/store/postgres/BoundedClient.ts"
import * as Migrations from "../../../src/store/postgres/Migrations.ts"
import { latest } from "../../../src/store/postgres/Steps.ts"
import * as Upgrade from "../../../src/store/postgres/Upgrade.ts"
import {
  contracted,
  exclusiveRelease,
  expanded,
  nextRelease,
  nextSteps,
  rewritten
} from "../../e2e/support/release/nextRelease.ts"
import { connect } from "../support/connections.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** Runs an effect as the release after this one. */
const asNext = <A, E, R>(effect: Effect.Effect<A, E, R>) => effect.pipe(Effect.provide(nextRelease))

/** A database of this release, and how processes use it. */
const aDatabase = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  const sql = yield* connect(url, 4)
  const client = yield* BoundedClient.make({ url: Redacted.make(url), maxConnections: 8 }).pipe(
    Effect.provide(Reactivity.layer)
  )
  const services = (yield* Layer.build(Layer.fresh(Measures.layer))).pipe(
    Context.add(PgClient.PgClient, client),
    Context.add(SqlClient.SqlClient, client),
    Context.add(Availability, { isAway: false })
  )
  const process = (name: string) =>
    Effect.map(Layer.build(Layer.fresh(Heartbeat.layer({ name }))), Context.get(Heartbeat)).pipe(
      Effect.provide(services)
    )
  const run = Effect.provide(Migrations.run, services)
  const finish = Effect.provide(Upgrade.finish, services)
  const status = Effect.provide(Upgrade.status, services)
  const noteFormer = Effect.provide(Upgrade.finishWhenDue, services)
  return { sql, process, run, finish, status, noteFormer }
})

const messageOf = <A, E extends { readonly message: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), ({ message }) => message)

describe("an upgrade", () => {
  it.live("expands the schema next to processes of the former release, and contracts it when it is finished", () =>
    Effect.gen(function* () {
      const { sql, process, run, finish, status } = yield* aDatabase
      yield* Effect.gen(function* () {
        const former = yield* process("former")
        assert.deepStrictEqual(yield* asNext(run), [expanded])
        assert.isUndefined(former.problem())
        assert.include(yield* messageOf(asNext(finish)), "former (1.0.0)")
        assert.deepInclude(yield* asNext(status), { isPending: true, formatVersion: 1 })
        // The former release can still be started.
        assert.deepStrictEqual(yield* run, [])
        yield* Effect.scoped(process("another"))
      }).pipe(Effect.scoped)
      assert.deepStrictEqual(yield* asNext(finish), [contracted])
      assert.deepInclude(yield* asNext(status), { isPending: false, formatVersion: 2 })
      const [found] = yield* sql`select format_version, schema_base from installation`
      assert.deepStrictEqual(found, { format_version: 2, schema_base: latest + 2 })
      const refused = yield* messageOf(run)
      assert.include(refused, `at steps ${latest + 2} and level 2`)
      assert.include(refused, `knows steps up to ${latest} and levels 1`)
      assert.deepStrictEqual(yield* asNext(run), [])
    })
  )

  it.live("tries again when a step does not get a lock in time", () =>
    Effect.gen(function* () {
      const { sql, run } = yield* aDatabase
      const isLocked = sql`select from pg_locks where relation = 'places'::regclass`
      yield* Effect.forkScoped(
        sql.withTransaction(Effect.andThen(sql`lock table places in access share mode`, sql`select pg_sleep(4)`))
      )
      yield* Effect.repeat(isLocked, {
        until: (rows) => rows.length > 0,
        schedule: Schedule.spaced("10 millis")
      })
      assert.deepStrictEqual(yield* asNext(run), [expanded])
    })
  )

  it.live("builds the indexes of large tables after the step, and again after a build that was ended", () =>
    Effect.gen(function* () {
      const { sql, run } = yield* aDatabase
      const index = sql<{ readonly isValid: boolean }>`
        select indisvalid as "isValid" from pg_index where indexrelid = to_regclass('places_next_release')`
      yield* asNext(run)
      assert.deepStrictEqual([...(yield* index)], [{ isValid: true }])
      yield* sql`update pg_index set indisvalid = false where indexrelid = 'places_next_release'::regclass`
      yield* Effect.all([asNext(run), asNext(run), asNext(run)], { concurrency: "unbounded" })
      assert.deepStrictEqual([...(yield* index)], [{ isValid: true }])
    })
  )

  it.live("fills a new column of the rows that are there before its index is built", () =>
    Effect.gen(function* () {
      const { sql, run } = yield* aDatabase
      const organizationId = randomUUID()
      yield* sql`
        insert into organizations (id, name, plan, created_at) values (${organizationId}, 'Brand', 'growth', now())`
      yield* sql`
        insert into consumers (id, organization_id, mode, type, created_at)
        select gen_random_uuid(), ${organizationId}, 'live', 'guest', now() from generate_series(1, 2500)`
      yield* asNext(run)
      const [found] = yield* sql`select count(*)::int4 as rows, count(next_release)::int4 as filled from consumers`
      assert.deepStrictEqual(found, { rows: 2500, filled: 2500 })
    })
  )

  it.live("keeps the former release out after a step that runs while no process serves", () =>
    Effect.gen(function* () {
      const { run } = yield* aDatabase
      assert.deepStrictEqual(yield* Effect.provide(run, exclusiveRelease), [rewritten])
      assert.include(yield* messageOf(run), `at steps ${latest + 1} and level 1`)
    })
  )

  it.live("is finished by a worker an hour after the last process of the former release", () =>
    Effect.gen(function* () {
      const { sql, process, run, status, noteFormer } = yield* aDatabase
      const version = Effect.map(asNext(status), ({ formatVersion }) => formatVersion)
      const wait = (minutes: number) =>
        sql`update installation set former_at = former_at - make_interval(mins => ${minutes}::int4)`
      yield* asNext(run)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* process("former")
          yield* asNext(noteFormer)
          yield* wait(61)
          yield* asNext(noteFormer)
          assert.strictEqual(yield* version, 1)
        })
      )
      yield* wait(59)
      yield* asNext(noteFormer)
      assert.strictEqual(yield* version, 1)
      yield* wait(2)
      yield* asNext(noteFormer)
      assert.strictEqual(yield* version, 2)
    })
  )

  it.live("is refused next to a process whose ranges do not overlap, naming both", () =>
    Effect.gen(function* () {
      const { process, run } = yield* aDatabase
      yield* process("former")
      const far = { ...release, version: "3.0.0", protocol: [7, 8] } as const
      const refused = yield* messageOf(Effect.provideService(run, CurrentRelease, far))
      assert.include(refused, "(3.0.0)")
      assert.include(refused, "protocol 7 to 8 here, 1 there")
      assert.include(refused, "former (1.0.0)")
    })
  )

  it("has steps of which the contracting ones come last", () => {
    const kinds = Object.values(nextSteps).map(({ kind }) => kind)
    assert.deepStrictEqual(kinds.slice(-2), ["expand", "contract"])
  })
})
