/** Two processes on one database: a consumer's tokens in each when it is archived. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Consumers } from "../../../src/auth/sessions/Consumers.ts"
import { Revocations } from "../../../src/auth/sessions/Revocations.ts"
import { Sessions } from "../../../src/auth/sessions/Sessions.ts"
import { Tokens } from "../../../src/auth/tokens/Tokens.ts"
import { defaults } from "../../../src/domain/consumer/Consumer.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import { ConsumerRecords } from "../../../src/store/consumer/ConsumerRecords.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import type { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import { aTenant, anotherProcess, layer as auth } from "../authFixture.ts"
import { changesHandled } from "../../store/support/notifications.ts"

const services = ConsumerRecords.layer.pipe(Layer.provide(Settings.layerTest()), Layer.provideMerge(auth))

const isAlive = (accessToken: string) =>
  Effect.flatMap(Tokens, (tokens) => Effect.map(tokens.verifyAccess(accessToken), (access) => access !== undefined))

describe("An archived consumer", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("is invalid in every process when the call returns: its tokens, and its id for servers", () =>
      Effect.gen(function* () {
        const records = yield* ConsumerRecords
        const sessions = yield* Sessions
        const consumers = yield* Consumers
        const other = yield* anotherProcess
        yield* changesHandled(2)
        const tenant = yield* aTenant
        for (let round = 0; round < 10; round++) {
          const guest = yield* sessions.guest(tenant)
          const { consumerId } = guest.session
          const here = Effect.all([
            isAlive(guest.accessToken),
            Effect.flatMap(Consumers, (known) => known.find(tenant, consumerId))
          ])
          assert.deepStrictEqual(yield* Effect.provide(here, other), [true, { isGuest: true }])
          yield* records.archive(tenant, consumerId, "x")
          yield* consumers.archived(tenant, consumerId)
          assert.deepStrictEqual(yield* here, [false, undefined])
          assert.deepStrictEqual(yield* Effect.provide(here, other), [false, undefined])
        }
      })
    )

    it.effect("is valid again in every process after it was restored, a guest with its session", () =>
      Effect.gen(function* () {
        const records = yield* ConsumerRecords
        const sessions = yield* Sessions
        const consumers = yield* Consumers
        const other = yield* anotherProcess
        yield* Effect.sleep("50 millis")
        const tenant = yield* aTenant
        for (let round = 0; round < 10; round++) {
          const guest = yield* sessions.guest(tenant)
          const { consumerId } = guest.session
          const here = Effect.all([
            isAlive(guest.accessToken),
            Effect.flatMap(Consumers, (known) => known.find(tenant, consumerId))
          ])
          yield* records.archive(tenant, consumerId, "x")
          yield* consumers.archived(tenant, consumerId)
          assert.deepStrictEqual(yield* Effect.provide(here, other), [false, undefined])
          yield* consumers.endSessionsOfArchived(tenant, consumerId)
          yield* records.restore(tenant, consumerId, "x")
          yield* consumers.restored(consumerId)
          assert.deepStrictEqual(yield* here, [true, { isGuest: true }])
          assert.deepStrictEqual(yield* Effect.provide(here, other), [true, { isGuest: true }])
          yield* sessions.refresh(tenant, guest.refreshToken)
        }
      })
    )

    it.effect("has no earlier authenticated session after it was restored", () =>
      Effect.gen(function* () {
        const records = yield* ConsumerRecords
        const sessions = yield* Sessions
        const consumers = yield* Consumers
        const other = yield* anotherProcess
        const tenant = yield* aTenant
        const { id: consumerId } = yield* records.create(tenant, "x", { ...defaults, email: "ann@example.com" })
        const before = yield* sessions.start({ tenant, consumerId })
        yield* consumers.endSessionsOfArchived(tenant, consumerId)
        assert.isTrue(yield* isAlive(before.accessToken), "it is not archived")
        yield* records.archive(tenant, consumerId, "x")
        yield* consumers.archived(tenant, consumerId)
        yield* consumers.endSessionsOfArchived({ ...tenant, mode: "test" }, consumerId)
        yield* consumers.endSessionsOfArchived(tenant, consumerId)
        yield* records.restore(tenant, consumerId, "x")
        yield* consumers.restored(consumerId)
        const after = yield* sessions.start({ tenant, consumerId })
        for (const one of [isAlive(before.accessToken), Effect.provide(isAlive(before.accessToken), other)]) {
          assert.isFalse(yield* one)
        }
        for (const one of [isAlive(after.accessToken), Effect.provide(isAlive(after.accessToken), other)]) {
          assert.isTrue(yield* one)
        }
        yield* Effect.flip(sessions.refresh(tenant, before.refreshToken))
      })
    )

    it.effect(
      "that was restored while a process received no notifications is valid again after it has read what it missed",
      () =>
        Effect.gen(function* () {
          const records = yield* ConsumerRecords
          const sessions = yield* Sessions
          const tenant = yield* aTenant
          const [restored, archived] = [yield* sessions.guest(tenant), yield* sessions.guest(tenant)]
          for (const { session } of [restored, archived]) yield* records.archive(tenant, session.consumerId, "x")
          yield* records.restore(tenant, restored.session.consumerId, "x")
          let refresh: Effect.Effect<void, Unavailable> = Effect.void
          const deaf = Layer.succeed(Invalidations, {
            publish: () => Effect.void,
            settled: Effect.void,
            settledForCertain: Effect.void,
            subscribe: (_, subscriber) => Effect.sync(() => void (refresh = subscriber.refresh)),
            isCurrent: () => true,
            orLastHeard: (current) => current
          })
          yield* Effect.gen(function* () {
            const revocations = yield* Revocations
            const isRevoked = ({ session: { consumerId } }: { readonly session: { readonly consumerId: string } }) =>
              revocations.isRevoked({ sessionId: "", consumerId })
            for (const { session } of [restored, archived]) revocations.add(session.consumerId, 9e15)
            assert.deepStrictEqual([restored, archived].map(isRevoked), [true, true])
            yield* refresh
            assert.deepStrictEqual([restored, archived].map(isRevoked), [false, true])
          }).pipe(Effect.provide(Layer.fresh(Revocations.layer).pipe(Layer.provide(deaf))))
        })
    )

    it.effect("is invalid for a process that starts later, and where the database is queried", () =>
      Effect.gen(function* () {
        const records = yield* ConsumerRecords
        const sessions = yield* Sessions
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const { accessToken, session } = yield* sessions.guest(tenant)
        const bystander = yield* sessions.guest(tenant)
        yield* records.archive(tenant, session.consumerId, "x")
        const later = yield* anotherProcess
        assert.isFalse(yield* Effect.provide(isAlive(accessToken), later))
        assert.isTrue(yield* Effect.provide(isAlive(bystander.accessToken), later))
        const ids = yield* sql<{ readonly id: string }>`
          select id from sessions where consumer_id in ${sql.in([session.consumerId, bystander.session.consumerId])}
          order by consumer_id = ${bystander.session.consumerId}`
        const revocations = yield* Revocations
        const asked = [...ids.map(({ id }) => id), randomUUID(), "no id"]
        for (const concurrency of [1, "unbounded"] as const) {
          const ended = yield* Effect.forEach(asked, (id) => revocations.check(id), { concurrency })
          assert.deepStrictEqual(ended, [true, false, true, true])
        }
      })
    )
  })
})
