/** Two processes over one database, and what becomes of a consumer's tokens in each when it is archived. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Consumers } from "../../src/auth/Consumers.ts"
import { Revocations } from "../../src/auth/Revocations.ts"
import { Sessions } from "../../src/auth/Sessions.ts"
import { Tokens } from "../../src/auth/Tokens.ts"
import { Settings } from "../../src/Settings.ts"
import { ConsumerRecords } from "../../src/store/ConsumerRecords.ts"
import { aTenant, anotherProcess, layer as auth } from "./authFixture.ts"
import * as TestDatabase from "../store/TestDatabase.ts"

const services = ConsumerRecords.layer.pipe(Layer.provide(Settings.layerTest()), Layer.provideMerge(auth))

const isAlive = (accessToken: string) =>
  Effect.flatMap(Tokens, (tokens) => Effect.map(tokens.verifyAccess(accessToken), (access) => access !== undefined))

describe.skipIf(!TestDatabase.serverAnswers)(TestDatabase.title("An archived consumer"), () => {
  layer(services, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("is gone in every process when the answer comes: its tokens, and for servers that name it", () =>
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
          assert.deepStrictEqual(yield* Effect.provide(here, other), [true, { isGuest: true }])
          yield* records.archive(tenant, consumerId, "x")
          yield* consumers.archived(tenant, consumerId)
          assert.deepStrictEqual(yield* here, [false, undefined])
          assert.deepStrictEqual(yield* Effect.provide(here, other), [false, undefined])
        }
      })
    )

    it.effect("is gone for a process that starts later, and where the database is asked", () =>
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
        const ended = yield* Effect.forEach(ids, ({ id }) => revocations.check(id))
        assert.deepStrictEqual(ended, [true, false])
      })
    )
  })
})
