import { PgClient } from "@effect/sql-pg"
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Schedule } from "effect"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { currentPlaces, ofMechanism, PlaceWriters } from "../../../src/store/journal/CurrentPlaces.ts"
import { ConsumerPlaces } from "../../../src/store/mechanism/ConsumerPlaces.ts"
import { Mechanisms } from "../../../src/store/mechanism/Mechanisms.ts"
import { Places } from "../../../src/store/mechanism/Places.ts"
import { ConsumerExports } from "../../../src/store/privacy/ConsumerExports.ts"
import * as WantedPlaces from "../../../src/workers/WantedPlaces.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import { Profiles } from "../../../src/store/consumer/Profiles.ts"
import { aConsumer, aQueue, aTenant, layer as records } from "../support/recordsFixture.ts"

interface Case {
  readonly tenant: Tenant
  readonly id: string
  readonly consumerId: string
}

/** The readers of places. Each returns how many places of the consumer it shows. */
const readers = {
  "the consumers of a mechanism": ({ tenant, id }: Case) =>
    Effect.flatMap(Places, (places) => Effect.map(places.list(tenant, id, {}, {}), ({ data }) => data.length)),
  "the consumers of a mechanism at risk": ({ tenant, id }: Case) =>
    Effect.flatMap(Places, (places) => Effect.map(places.atRisk(tenant, id, 0, 10), ({ length }) => length)),
  "the mechanisms in which a consumer stands": ({ tenant, consumerId }: Case) =>
    Effect.flatMap(Places, (places) => Effect.map(places.unfinished(tenant, consumerId, []), ({ length }) => length)),
  "the numbers of a mechanism without its actor": ({ tenant, id }: Case) =>
    Effect.flatMap(Mechanisms, (all) => Effect.map(all.tally(tenant, id), ({ counts }) => counts["QUEUED"] ?? 0)),
  "the places of a consumer": ({ tenant, consumerId }: Case) =>
    Effect.flatMap(ConsumerPlaces, (places) =>
      Effect.map(places.list(tenant, consumerId, {}), ({ data }) => data.length)
    ),
  "the profile of a consumer": ({ tenant, consumerId }: Case) =>
    Effect.flatMap(Profiles, (profiles) =>
      Effect.map(profiles.find(tenant, consumerId), ({ places }) => places.length)
    ),
  "the export of a consumer": ({ tenant, consumerId }: Case) =>
    Effect.flatMap(ConsumerExports, (exports) =>
      Effect.map(exports.collect(tenant, consumerId), ({ places }) => places.length)
    )
}

/** Appends the entry of a consumer. */
const entered = Effect.fnUntraced(function* (id: string, consumerId: string, expectedSequence: number) {
  const journal = yield* Journal
  const place = { consumerId, status: "QUEUED", enteredAt: 5, updatedAt: 5, fields: {} } as const
  yield* journal.append({
    mechanismId: id,
    kind: "queue",
    expectedSequence,
    events: [{ _tag: "Entered", at: 5, consumerId }],
    places: [place],
    wakeAt: null
  })
})

/** Runs `during` while a lock keeps the writer of places waiting. Its argument releases the lock. */
const held = <A, E, R>(during: (release: Effect.Effect<void>) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const [locked, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
    const lock = yield* sql`lock table place_projections in exclusive mode`.pipe(
      Effect.andThen(Deferred.succeed(locked, undefined)),
      Effect.andThen(Deferred.await(release)),
      sql.withTransaction,
      Effect.forkChild
    )
    yield* Deferred.await(locked)
    const result = yield* during(Effect.asVoid(Deferred.succeed(release, undefined)))
    yield* Fiber.join(lock)
    return result
  })

/** Waits until a reader has seen that places are behind. */
const readerWaits = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`
    select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query like '%p.sequence < h.sequence%'`.pipe(
    Effect.repeat({ until: (rows) => rows.length > 0, schedule: Schedule.spaced("5 millis") })
  )
})

const services = Layer.mergeAll(ConsumerPlaces.layer, ConsumerExports.layer).pipe(Layer.provideMerge(records))

describe("Places that are not written yet", () => {
  layer(services, { excludeTestServices: true })((it) => {
    for (const [name, read] of Object.entries(readers)) {
      it.effect(`are waited for by ${name}`, () =>
        Effect.gen(function* () {
          const sql = yield* PgClient.PgClient
          const tenant = yield* aTenant()
          const consumerId = yield* aConsumer(tenant)
          const { id } = yield* aQueue(tenant)
          const found = yield* held((release) =>
            Effect.gen(function* () {
              yield* entered(id, consumerId, 1)
              assert.deepStrictEqual(yield* sql`select from places where mechanism_id = ${id}`, [])
              const reading = yield* Effect.forkChild(read({ tenant, id, consumerId }))
              yield* readerWaits
              assert.isUndefined(reading.pollUnsafe())
              yield* release
              return yield* Fiber.join(reading)
            })
          )
          assert.strictEqual(found, 1)
        })
      )
    }

    it.effect("keep nobody waiting who asks for another mechanism", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const tenant = yield* aTenant()
        const consumerId = yield* aConsumer(tenant)
        const [busy, quiet] = [yield* aQueue(tenant), yield* aQueue(tenant)]
        yield* held((release) =>
          Effect.gen(function* () {
            yield* entered(busy.id, consumerId, 1)
            yield* currentPlaces(sql, ofMechanism(sql, quiet.id))
            yield* release
          })
        )
      })
    )

    it.effect("are written by another process that a reader asks", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const { id } = yield* aQueue(yield* aTenant())
        yield* sql`update mechanism_heads set sequence = 9 where mechanism_id = ${id}`
        const write = sql`update place_projections set sequence = 9 where mechanism_id = ${id}`
        const writers = new WeakMap([[sql.config as object, Effect.asVoid(Effect.orDie(write))]])
        yield* Layer.build(WantedPlaces.layer.pipe(Layer.provide(Layer.succeed(PlaceWriters, writers))))
        yield* Effect.provideService(currentPlaces(sql, ofMechanism(sql, id)), PlaceWriters, new WeakMap())
      }).pipe(Effect.provide(Invalidations.layer))
    )

    it.effect("are not waited for if the mechanism is parked", () =>
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        const { id } = yield* aQueue(yield* aTenant())
        yield* sql`update mechanism_heads set sequence = 9 where mechanism_id = ${id}`
        yield* sql`
          insert into parked_mechanisms (mechanism_id, node, parked_at, restarts, cause) values (${id}, 'a', now(), 5, 'odd')`
        yield* currentPlaces(sql, ofMechanism(sql, id))
      })
    )
  })
})
