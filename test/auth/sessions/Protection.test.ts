/** Two processes on one database, and what each admits while the other changes it. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { randomUUID } from "node:crypto"
import { Protection } from "../../../src/auth/sessions/Protection.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { AudienceMembers } from "../../../src/store/consumer/AudienceMembers.ts"
import { Audiences } from "../../../src/store/consumer/Audiences.ts"
import { ConsumerRecords } from "../../../src/store/consumer/ConsumerRecords.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import { Orders } from "../../../src/store/consumer/Orders.ts"
import { type Admission, SequenceAccess } from "../../../src/store/experience/SequenceAccess.ts"
import { Sequences } from "../../../src/store/experience/Sequences.ts"
import { aConsumer, aTenant, layer as records } from "../../store/support/recordsFixture.ts"
import { changesHandled } from "../../store/support/notifications.ts"

/** A separate process that counts its queries for admissions. */
const aProcess = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const context = yield* Effect.context<SequenceAccess | Layer.Services<typeof Invalidations.layer>>()
  const access = yield* SequenceAccess
  let queries = 0
  const counting = Layer.succeed(SequenceAccess, {
    ...access,
    admission: (...parameters) =>
      Effect.suspend(() => {
        queries++
        return access.admission(...parameters)
      })
  })
  const built = yield* Layer.buildWithMemoMap(
    Protection.layer.pipe(
      Layer.provide(counting),
      Layer.provideMerge(Invalidations.layer),
      Layer.provide(Layer.succeedContext(context))
    ),
    Layer.makeMemoMapUnsafe(),
    scope
  )
  const protection = yield* Effect.provide(Protection, built)
  const invalidations = yield* Effect.provide(Invalidations, built)
  const mayEnter = (...parameters: Parameters<typeof protection.admission>) =>
    Effect.map(protection.admission(...parameters), (admission) => admission.startsWith("admitted"))
  return { ...protection, mayEnter, invalidations, queries: () => queries }
})

const aSequence = Effect.fnUntraced(function* (tenant: Tenant, settings: object = {}, code?: string) {
  const experiences = yield* Experiences
  const sequences = yield* Sequences
  const { id: experienceId } = yield* experiences.create(tenant, "x", {
    name: "Drop",
    timeZone: "UTC",
    currencyCode: "USD"
  })
  const sequence = yield* sequences.create(tenant, "x", experienceId, { name: "VIP", priority: 0, ...settings }, code)
  return { ...tenant, sequenceId: sequence.id, experienceId }
})

/** One process that receives all notifications, over results that the test sets. */
const over = (access: Partial<SequenceAccess["Service"]>) =>
  Protection.layer.pipe(
    Layer.provide(
      Layer.mergeAll(
        Layer.succeed(SequenceAccess, {
          protectedIds: () => Effect.succeed([]),
          protectedAmong: () => Effect.succeed([]),
          admission: () => Effect.succeed("admitted"),
          show: () => Effect.succeed(false),
          ...access
        }),
        Layer.succeed(Invalidations, {
          publish: () => Effect.void,
          settled: Effect.void,
          settledForCertain: Effect.void,
          subscribe: (_, { refresh }) => refresh,
          isCurrent: () => true,
          orLastHeard: (current) => current
        })
      )
    )
  )

describe("Protection in memory", () => {
  const mechanism = { organizationId: "o", mode: "live", sequenceId: "s" } as const

  it.effect("does not cache a result that a change has made obsolete", () => {
    let queries = 0
    const asking = Deferred.makeUnsafe<void>()
    const gate = Deferred.makeUnsafe<Admission>()
    const admission = () =>
      Effect.suspend(() => {
        Deferred.doneUnsafe(asking, Effect.void)
        return ++queries === 1 ? Deferred.await(gate) : Effect.succeed<Admission>("not invited")
      })
    return Effect.gen(function* () {
      const protection = yield* Protection
      const first = yield* Effect.forkChild(protection.admission(mechanism, "c"))
      yield* Deferred.await(asking)
      yield* protection.changed()
      yield* Deferred.succeed(gate, "admitted")
      assert.strictEqual(yield* Fiber.join(first), "admitted")
      assert.strictEqual(yield* protection.admission(mechanism, "c"), "not invited")
    }).pipe(Effect.provide(over({ protectedIds: () => Effect.succeed(["s"]), admission })))
  })

  it.effect("caches an admission for ten seconds, unless the consumer changes", () => {
    const queries: Array<string> = []
    const admission = (_tenant: Tenant, sequenceId: string, consumerId: string) =>
      Effect.sync((): Admission => {
        queries.push(`${sequenceId} ${consumerId}`)
        return "admitted"
      })
    return Effect.gen(function* () {
      const protection = yield* Protection
      const enter = (...consumerIds: ReadonlyArray<string>) =>
        Effect.andThen(
          Effect.sync(() => queries.splice(0)),
          Effect.as(
            Effect.forEach(consumerIds, (consumerId) => protection.admission(mechanism, consumerId)),
            queries
          )
        )
      assert.deepStrictEqual(yield* enter("c", "d", "c", "d"), ["s c", "s d"])
      yield* protection.consumersChanged(["c", "e"])
      assert.deepStrictEqual(yield* enter("c", "d"), ["s c"])
      yield* TestClock.adjust("9999 millis")
      assert.deepStrictEqual(yield* enter("c", "d"), [])
      yield* TestClock.adjust("1 millis")
      assert.deepStrictEqual(yield* enter("c", "d"), ["s c", "s d"])
    }).pipe(Effect.provide(over({ protectedIds: () => Effect.succeed(["s"]), admission })))
  })

  it.effect("does not cache a result that a change of the consumer has made obsolete", () => {
    let queries = 0
    const asking = Deferred.makeUnsafe<void>()
    const gate = Deferred.makeUnsafe<Admission>()
    const admission = () =>
      Effect.suspend(() => {
        Deferred.doneUnsafe(asking, Effect.void)
        return ++queries === 1 ? Deferred.await(gate) : Effect.succeed<Admission>("not invited")
      })
    return Effect.gen(function* () {
      const protection = yield* Protection
      const first = yield* Effect.forkChild(protection.admission(mechanism, "c"))
      yield* Deferred.await(asking)
      yield* protection.consumersChanged(["c"])
      yield* Deferred.succeed(gate, "admitted")
      assert.strictEqual(yield* Fiber.join(first), "admitted")
      assert.strictEqual(yield* protection.admission(mechanism, "c"), "not invited")
    }).pipe(Effect.provide(over({ protectedIds: () => Effect.succeed(["s"]), admission })))
  })

  it.effect("queries every sequence if there are more protected ones than it can hold", () =>
    Effect.gen(function* () {
      const protection = yield* Protection
      assert.strictEqual(yield* protection.admission(mechanism, "c"), "not invited")
    }).pipe(
      Effect.provide(
        over({
          protectedIds: (limit) => Effect.succeed(Array.from({ length: limit }, (_, n) => `${n}`)),
          admission: () => Effect.succeed("not invited")
        })
      )
    )
  )
})

describe("Protection", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("admits every consumer to an open sequence without a query", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const { mayEnter, queries } = yield* aProcess
        const mechanism = yield* aSequence(tenant)
        for (let n = 0; n < 100; n++) assert.isTrue(yield* mayEnter(mechanism, randomUUID()))
        assert.strictEqual(queries(), 0)
      })
    )

    it.effect("queries once for a consumer it admits, and each time for one it refuses", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const access = yield* SequenceAccess
        const mechanism = yield* aSequence(tenant, {}, "open")
        const { mayEnter, queries } = yield* aProcess
        const { experienceId } = mechanism
        const consumerId = yield* aConsumer(tenant)
        for (let n = 0; n < 3; n++) assert.isFalse(yield* mayEnter(mechanism, consumerId))
        assert.strictEqual(queries(), 3)
        yield* access.show(tenant, { experienceId, consumerId, accessCode: "open" })
        for (let n = 0; n < 3; n++) assert.isTrue(yield* mayEnter(mechanism, consumerId))
        assert.strictEqual(queries(), 4)
      })
    )

    it.effect("refuses a consumer everywhere after the change that excludes it has returned", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const audiences = yield* Audiences
        const members = yield* AudienceMembers
        const sequences = yield* Sequences
        const [one, other] = [yield* aProcess, yield* aProcess]
        // The first process has been notified of the second.
        yield* changesHandled(2)
        const mechanism = yield* aSequence(tenant)
        const consumerId = yield* aConsumer(tenant)
        const { id: audienceId } = yield* audiences.create(tenant, "x", { name: "Friends" })
        const entries = () => Effect.forEach([one, other], ({ mayEnter }) => mayEnter(mechanism, consumerId))
        for (let round = 0; round < 3; round++) {
          assert.deepStrictEqual(yield* entries(), [true, true])
          yield* sequences.change(tenant, mechanism.sequenceId, "x", (settings) =>
            Result.succeed({ ...settings, audienceId })
          )
          yield* one.changed(mechanism.sequenceId)
          assert.deepStrictEqual(yield* entries(), [false, false])
          yield* members.add(tenant, audienceId, "x", [consumerId])
          assert.deepStrictEqual(yield* entries(), [true, true])
          yield* members.remove(tenant, audienceId, "x", [consumerId])
          yield* one.changed()
          assert.deepStrictEqual(yield* entries(), [false, false])
          yield* sequences.change(tenant, mechanism.sequenceId, "x", ({ name, priority }) =>
            Result.succeed({ name, priority })
          )
        }
      })
    )

    it.effect("refuses an excluded consumer after the sequence was archived and restored", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const sequences = yield* Sequences
        const [one, other] = [yield* aProcess, yield* aProcess]
        yield* changesHandled(2)
        const mechanism = yield* aSequence(tenant, {}, "open")
        const consumerId = yield* aConsumer(tenant)
        const entries = Effect.forEach([one, other], ({ mayEnter }) => mayEnter(mechanism, consumerId))
        yield* one.changed(mechanism.sequenceId)
        assert.deepStrictEqual(yield* entries, [false, false])
        yield* sequences.archive(tenant, mechanism.sequenceId, "x")
        yield* one.changed(mechanism.sequenceId)
        yield* sequences.restore(tenant, mechanism.sequenceId, "x")
        yield* one.changed(mechanism.sequenceId)
        assert.deepStrictEqual(yield* entries, [false, false])
      })
    )

    it.effect("refuses a consumer in all sequences of an experience that gets an access code", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const experiences = yield* Experiences
        const access = yield* SequenceAccess
        const [one, other] = [yield* aProcess, yield* aProcess]
        yield* changesHandled(2)
        const { experienceId, sequenceId } = yield* aSequence(tenant)
        const consumerId = yield* aConsumer(tenant)
        const entries = Effect.forEach([one, other], ({ mayEnter }) => mayEnter({ ...tenant, sequenceId }, consumerId))
        assert.deepStrictEqual(yield* entries, [true, true])
        yield* experiences.change(tenant, experienceId, "x", Result.succeed, "open")
        yield* one.changed(sequenceId)
        assert.deepStrictEqual(yield* entries, [false, false])
        yield* access.show(tenant, { experienceId, consumerId, accessCode: "open" })
        assert.deepStrictEqual(yield* entries, [true, true])
        const restarted = yield* aProcess
        assert.isFalse(yield* restarted.mayEnter({ ...tenant, sequenceId }, randomUUID()))
      })
    )

    it.effect("queries each time for a sequence with an order limit, and counts an order at once", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const orders = yield* Orders
        const mechanism = yield* aSequence(tenant, { orderLimitPerConsumer: 1 })
        const { admission, queries } = yield* aProcess
        const consumerId = yield* aConsumer(tenant)
        for (let n = 0; n < 3; n++) assert.strictEqual(yield* admission(mechanism, consumerId), "admitted for now")
        assert.strictEqual(queries(), 3)
        const { origin } = yield* orders.originOf(tenant, { consumerId, sequenceId: mechanism.sequenceId })
        const settings = { status: "PAID", currencyCode: "USD", items: [], placedAt: 1_000 } as const
        yield* orders.create(tenant, "x", origin, settings)
        assert.strictEqual(yield* admission(mechanism, consumerId), "order limit reached")
      })
    )

    it.effect("refuses a consumer everywhere after it no longer matches an audience's rules", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const audiences = yield* Audiences
        const consumers = yield* ConsumerRecords
        const [one, other] = [yield* aProcess, yield* aProcess]
        yield* changesHandled(2)
        const rules = { match: "all", rules: [{ field: "fullName", op: "eq", value: "Ann" }] } as const
        const { id: audienceId } = yield* audiences.create(tenant, "x", { name: "Anns", rules })
        const mechanism = yield* aSequence(tenant, { audienceId })
        yield* one.changed(mechanism.sequenceId)
        const consumerId = yield* aConsumer(tenant)
        const named = (fullName: string) =>
          Effect.andThen(
            consumers.change(tenant, consumerId, "x", (settings) => ({ ...settings, fullName })),
            one.consumersChanged([consumerId])
          )
        const entries = () => Effect.forEach([one, other], ({ mayEnter }) => mayEnter(mechanism, consumerId))
        for (let round = 0; round < 3; round++) {
          assert.deepStrictEqual(yield* entries(), [false, false])
          yield* named("Ann")
          assert.deepStrictEqual(yield* entries(), [true, true])
          yield* named("Bob")
        }
      })
    )

    it.effect("stops querying for a sequence that has become open", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const sequences = yield* Sequences
        const mechanism = yield* aSequence(tenant, {}, "open")
        const { mayEnter, queries } = yield* aProcess
        assert.isFalse(yield* mayEnter(mechanism, randomUUID()))
        yield* sequences.change(tenant, mechanism.sequenceId, "x", Result.succeed, null)
        const isQuiet = Effect.gen(function* () {
          const before = queries()
          assert.isTrue(yield* mayEnter(mechanism, randomUUID()))
          return queries() === before
        })
        yield* Effect.repeat(Effect.andThen(Effect.sleep("5 millis"), isQuiet), { until: (quiet) => quiet })
      }).pipe(Effect.timeout("20 minutes"))
    )

    it.effect("queries every sequence while it may have missed a notification, and none after it has caught up", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant()
        const sql = yield* SqlClient.SqlClient
        const sequences = yield* Sequences
        const { mayEnter, queries, invalidations } = yield* aProcess
        const mechanism = yield* aSequence(tenant)
        assert.isTrue(yield* mayEnter(mechanism, randomUUID()))
        yield* sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query like 'LISTEN%'`
        yield* Effect.repeat(Effect.sleep("1 millis"), { until: () => !invalidations.isCurrent() })
        yield* sequences.change(tenant, mechanism.sequenceId, "x", Result.succeed, "open")
        assert.isFalse(yield* mayEnter(mechanism, randomUUID()))
        assert.isAbove(queries(), 0)
        yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => invalidations.isCurrent() })
        assert.isFalse(yield* mayEnter(mechanism, randomUUID()))
      })
    )
  })
})
