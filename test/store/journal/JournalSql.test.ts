import { PgClient } from "@effect/sql-pg"
import { assert, describe, it, layer } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer, Redacted, References, Scope, Stream } from "effect"
import { type Commit, type Head, Journal } from "../../../src/store/journal/Journal.ts"
import { JournalCorrupt } from "../../../src/store/journal/JournalCodec.ts"
import * as JournalSql from "../../../src/store/journal/JournalSql.ts"
import { layerWith } from "./journalFixture.ts"
import { codecs, created, creation, entries, eventsOf, identity, ids, Rows, sequenceOf } from "./journalSamples.ts"
import { journalSuite } from "./journalSuite.ts"

describe("Postgres", () => {
  journalSuite("Journal in Postgres", layerWith({ pageEvents: 999 }))

  layer(layerWith({ appendTimeoutMillis: 10_000 }), { excludeTestServices: true })("The shared statement", (it) => {
    it.effect("writes all gathered commits in one transaction, except those with a stale head", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* PgClient.PgClient
        const gathered = yield* Effect.all(Array.from({ length: 40 }, () => created))
        const exits = yield* behindABusyWriter(gathered.map((id, index) => entries(id, index === 5 ? 2 : 1, ids(2))))
        assert.deepStrictEqual(
          exits.map(Exit.isSuccess),
          gathered.map((_, index) => index !== 5)
        )
        const transactions = yield* sql`
          select count(distinct j.xmin::text)::int as journal, count(distinct h.xmin::text)::int as heads,
            count(*)::int as rows, bool_and(j.xmin = h.xmin) as same
          from journal j join mechanism_heads h using (mechanism_id)
          where mechanism_id = any(${gathered}::uuid[]) and j.sequence > 1`
        assert.deepStrictEqual(transactions, [{ journal: 1, heads: 1, same: true, rows: 78 }])
        assert.strictEqual(yield* sequenceOf(gathered[5]!), 1)
        yield* journal.append(entries(gathered[5]!, 1, ids(1)))
      })
    )

    it.effect("fails only the commit whose content the database refuses", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const rows = yield* Rows
        const gathered = yield* Effect.all(Array.from({ length: 20 }, () => created))
        const poison: { readonly [index: number]: Partial<Commit> } = {
          // The server cannot store this character in JSON.
          3: {
            events: [{ _tag: "Entered", at: 5, consumerId: ids(1)[0]!, note: "\u0000" } as never]
          },
          // The parameters cannot be encoded.
          4: { events: [{ _tag: "Entered", at: 5, consumerId: "nobody" }] }
        }
        // An event already exists, although the head says that it does not.
        yield* sql`insert into journal (mechanism_id, sequence, at, type) values (${gathered[15]!}, 2, now(), 'Closed')`
        const culprits = [3, 4, 15]
        const exits = yield* behindABusyWriter(gathered.map((id, index) => entries(id, 1, ids(1), poison[index])))
        assert.deepStrictEqual(
          exits.flatMap((exit, index) => (Exit.isFailure(exit) ? [index] : [])),
          culprits
        )
        for (const exit of exits)
          if (Exit.isFailure(exit)) assert.strictEqual((Cause.squash(exit.cause) as Error).name, "Unavailable")
        for (const [index, id] of gathered.entries()) {
          assert.strictEqual(yield* sequenceOf(id), culprits.includes(index) ? 1 : 2)
          assert.strictEqual((yield* rows.places(id)).size, culprits.includes(index) ? 0 : 1)
        }
      })
    )

    it.effect("writes the places of a burst at its end, also if it has written none before", () =>
      Effect.gen(function* () {
        const rows = yield* Rows
        const id = yield* created
        const scope = yield* Scope.make()
        const own = yield* Layer.buildWithScope(Layer.fresh(JournalSql.layer({ codecs })), scope)
        yield* Context.get(own, Journal).append(entries(id, 1, ids(1_000)))
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual((yield* rows.places(id)).size, 1_000)
      })
    )

    it.effect("does not take part in the transaction of a caller", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* PgClient.PgClient
        const id = yield* created
        yield* journal
          .append(entries(id, 1, ids(1)))
          .pipe(Effect.andThen(Effect.fail("rolled back")), sql.withTransaction, Effect.flip)
        assert.strictEqual(yield* sequenceOf(id), 2)
      })
    )

    it.effect("refuses an event that could not be read back", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const id = yield* created
        const event = { _tag: "Entered", at: 1, consumerId: ids(1)[0]!, note: 5 }
        const refused = yield* Effect.flip(journal.append(entries(id, 1, [], { events: [event] })))
        assert.strictEqual(refused._tag, "Unavailable")
        assert.strictEqual(yield* sequenceOf(id), 1)
      })
    )

    it.effect("fails with Unavailable if its connection is cut, and continues over another", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* PgClient.PgClient
        const id = yield* created
        const unlock = yield* locked(id)
        const append = yield* Effect.forkChild(Effect.flip(journal.append(entries(id, 1, ids(1)))))
        const cut = sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%update mechanism_heads%'`
        yield* cut.pipe(Effect.repeat({ until: (terminated) => terminated.length > 0 }))
        assert.strictEqual((yield* Fiber.join(append))._tag, "Unavailable")
        yield* unlock
        assert.strictEqual(yield* sequenceOf(id), 1)
        yield* journal.append(entries(id, 1, ids(1)))
        assert.strictEqual(yield* sequenceOf(id), 2)
      })
    )

    it.effect("loses no commit to a connection that was cut while nothing was written", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* PgClient.PgClient
        const id = yield* created
        yield* journal.append(entries(id, 1, ids(1)))
        const cut = yield* sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and state = 'idle' and query like '%update mechanism_heads%'`
        assert.isAbove(cut.length, 0)
        yield* Effect.sleep(50)
        yield* journal.append(entries(id, 2, ids(1)))
        assert.strictEqual(yield* sequenceOf(id), 3)
      })
    )
  })

  layer(layerWith({ appendTimeoutMillis: 1_000 }), {
    excludeTestServices: true
  })("The time-out", (it) => {
    it.effect("gives up a statement that does not end, and continues without it", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const [stuck, other] = [yield* created, yield* created]
        const unlock = yield* locked(stuck)
        const late = yield* Effect.flip(journal.append(entries(stuck, 1, ids(1)))).pipe(Effect.timeout("20 minutes"))
        assert.strictEqual(late._tag, "Unavailable")
        yield* journal.append(entries(other, 1, ids(1)))
        assert.strictEqual(yield* sequenceOf(other), 2)
        yield* unlock
        // The abandoned statement is written now, or after the head is read, or never. A writer that reloads continues.
        const reload = Effect.flatMap(sequenceOf(stuck), (sequence) =>
          journal.append(entries(stuck, sequence!, ids(1)))
        )
        yield* Effect.retry(reload, { while: ({ _tag }) => _tag === "JournalConflict", times: 1 })
      })
    )
  })

  layer(layerWith({ appendTimeoutMillis: 20_000, waitingEventsMax: 10 }), {
    excludeTestServices: true
  })("The waiting list", (it) => {
    it.effect("refuses a commit immediately while too many events wait", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const mechanisms = yield* Effect.all(Array.from({ length: 5 }, () => created))
        const [stuck, first, second, third, last] = mechanisms as [string, string, string, string, string]
        const unlock = yield* locked(stuck)
        const blocking = yield* Effect.forkChild(journal.append(entries(stuck, 1, ids(20))), {
          startImmediately: true
        })
        yield* isWaiting
        const waiting = yield* Effect.forkChild(
          Effect.all([journal.append(entries(first, 1, ids(6))), journal.append(entries(second, 1, ids(4)))], {
            concurrency: 2
          }),
          { startImmediately: true }
        )
        const refused = yield* Effect.flip(journal.append(entries(third, 1, ids(1)))).pipe(Effect.timeout("20 minutes"))
        assert.strictEqual(refused._tag, "Unavailable")
        yield* unlock
        yield* Fiber.join(blocking)
        yield* Fiber.join(waiting)
        yield* journal.append(entries(last, 1, ids(1)))
        assert.deepStrictEqual(yield* Effect.forEach(mechanisms, sequenceOf), [21, 7, 5, 1, 2])
      })
    )
  })

  layer(layerWith({}), { excludeTestServices: true })("Creating", (it) => {
    it.effect("takes part in the caller's transaction, and is rolled back with it", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* PgClient.PgClient
        const [kept, undone] = [identity(), identity()]
        yield* sql.withTransaction(journal.create([creation(kept)]))
        yield* journal
          .create([creation(undone)])
          .pipe(Effect.andThen(Effect.fail("no")), sql.withTransaction, Effect.flip)
        assert.strictEqual(yield* sequenceOf(kept.id), 1)
        assert.strictEqual(yield* sequenceOf(undone.id), undefined)
        const left =
          yield* sql`select 1 from mechanisms where id = ${undone.id} union all select 1 from journal where mechanism_id = ${undone.id}`
        assert.deepStrictEqual(left, [])
      })
    )

    it.effect("keeps the creator of the mechanism, and the time", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const sql = yield* PgClient.PgClient
        const of = identity()
        yield* journal.create([creation(of)])
        const rows = yield* sql`select created_by, created_at, updated_by from mechanisms where id = ${of.id}`
        const createdAt = new Date(creation(of).commit.events[0]!.at)
        assert.deepStrictEqual(rows, [{ created_by: "a founder", created_at: createdAt, updated_by: "an admin" }])
      })
    )
  })

  layer(layerWith({ pageEvents: 10 }), { excludeTestServices: true })("Reading", (it) => {
    const corruption = Effect.fnUntraced(function* (id: string) {
      const journal = yield* Journal
      const exit = yield* Effect.exit(Stream.runDrain(journal.read((yield* journal.head(id)) as Head, 0)))
      return Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    })

    it.effect("names the event that its schema does not accept", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const id = yield* created
        yield* (yield* Journal).append(entries(id, 1, ids(30)))
        yield* sql`update journal set data = '{"note": 5}' where mechanism_id = ${id} and sequence = 23`
        const problem = yield* corruption(id)
        assert.instanceOf(problem, JournalCorrupt)
        assert.deepStrictEqual([problem.mechanismId, problem.sequence], [id, 23])
      })
    )

    it.effect("notices a missing event, in the middle and at the end", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        for (const missing of [14, 31]) {
          const id = yield* created
          yield* (yield* Journal).append(entries(id, 1, ids(30)))
          yield* sql`delete from journal where mechanism_id = ${id} and sequence = ${missing}`
          const problem = yield* corruption(id)
          assert.instanceOf(problem, JournalCorrupt)
          assert.strictEqual(problem.sequence, missing)
        }
      })
    )

    it.effect("reads other mechanisms than the corrupt one", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const [corrupt, sound] = [yield* created, yield* created]
        yield* sql`update journal set type = 'Forgotten' where mechanism_id = ${corrupt}`
        assert.instanceOf(yield* corruption(corrupt), JournalCorrupt)
        assert.strictEqual((yield* eventsOf(sound)).length, 1)
      })
    )
  })
})

describe("The journal without a server", () => {
  const unreachable = PgClient.layer({
    url: Redacted.make("postgres://root@127.0.0.1:9/usher"),
    connectTimeout: "1 second"
  })

  it.live("fails with Unavailable", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const [id, consumer] = ids(2) as [string, string]
      assert.strictEqual((yield* Effect.flip(journal.append(entries(id, 1, [consumer]))))._tag, "Unavailable")
      assert.strictEqual((yield* Effect.flip(journal.head(id)))._tag, "Unavailable")
      assert.strictEqual((yield* Effect.flip(journal.create([creation()])))._tag, "Unavailable")
      assert.strictEqual((yield* Effect.flip(journal.unfinished))._tag, "Unavailable")
    }).pipe(Effect.provide(JournalSql.layer({ codecs }).pipe(Layer.provide([unreachable, silence]))))
  )
})

const silence = Layer.succeed(References.MinimumLogLevel, "None")

/** Locks a mechanism's head, as a transaction of another process might. Returns an effect that releases the lock. */
const locked = Effect.fnUntraced(function* (mechanismId: string) {
  const sql = yield* PgClient.PgClient
  const [held, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const transaction = yield* sql`select from mechanism_heads where mechanism_id = ${mechanismId} for update`.pipe(
    Effect.andThen(Deferred.succeed(held, undefined)),
    Effect.andThen(Deferred.await(release)),
    sql.withTransaction,
    Effect.forkScoped
  )
  yield* Deferred.await(held)
  return Effect.andThen(Deferred.succeed(release, undefined), Fiber.join(transaction))
})

/** Waits until a statement of the journal waits for a lock. */
const isWaiting = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`
    select 1 from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%update mechanism_heads%'`.pipe(
    Effect.repeat({ until: (rows) => rows.length > 0 })
  )
})

/** Appends while the writer is busy with another mechanism, so that all commits go into the next statement. */
const behindABusyWriter = Effect.fnUntraced(function* (commits: ReadonlyArray<Commit>) {
  const journal = yield* Journal
  const busy = yield* created
  const unlock = yield* locked(busy)
  const first = yield* Effect.forkChild(journal.append(entries(busy, 1, ids(1))), {
    startImmediately: true
  })
  yield* isWaiting
  const all = yield* Effect.forkChild(
    Effect.forEach(commits, (commit) => Effect.exit(journal.append(commit)), {
      concurrency: "unbounded"
    }),
    { startImmediately: true }
  )
  yield* Effect.yieldNow
  yield* unlock
  yield* Fiber.join(first)
  return yield* Fiber.join(all)
})
