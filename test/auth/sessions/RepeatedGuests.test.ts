/** A client that does not get the answer to its first request, and sends it again. */
import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Sessions } from "../../../src/auth/sessions/Sessions.ts"
import { Tokens } from "../../../src/auth/tokens/Tokens.ts"
import { aTenant } from "../authFixture.ts"
import * as Fixture from "../authFixture.ts"

describe("A guest whose client names its attempt", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect(
      "is the same for each repetition within a minute, also for simultaneous ones, and its tokens are good",
      () =>
        Effect.gen(function* () {
          const sessions = yield* Sessions
          const tokens = yield* Tokens
          const sql = yield* SqlClient.SqlClient
          const tenant = yield* aTenant
          const attempt = randomUUID()
          const first = yield* sessions.guest(tenant, attempt)
          const { consumerId } = first.session
          const again = yield* Effect.replicateEffect(sessions.guest(tenant, attempt), 8, { concurrency: "unbounded" })
          for (const { session, accessToken } of again) {
            assert.strictEqual(session.consumerId, consumerId)
            assert.strictEqual((yield* tokens.verifyAccess(accessToken))?.consumerId, consumerId)
          }
          const { accessToken } = yield* sessions.refresh(tenant, again[0]!.refreshToken)
          assert.strictEqual((yield* tokens.verifyAccess(accessToken))?.consumerId, consumerId)
          const rows = yield* sql`select from sessions where consumer_id = ${consumerId}`
          assert.lengthOf(rows, 1)
        })
    )

    it.effect("is one guest with one session, however many requests of the attempt come at once", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const tenant = yield* aTenant
        for (let round = 0; round < 5; round++) {
          const attempts = [randomUUID(), randomUUID()]
          const made = yield* Effect.forEach(
            Array.from({ length: 16 }, (_, index) => attempts[index % 2]!),
            (attempt) => Effect.map(sessions.guest(tenant, attempt), ({ session }) => session.consumerId),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(new Set(made).size, 2)
        }
        assert.deepStrictEqual(yield* Fixture.countsOf(tenant), { consumers: 10, sessions: 10 })
      })
    )

    it.effect("is the same one if another request of the attempt commits while it is written", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const attempt = randomUUID()
        const { consumerId } = (yield* sessions.guest(tenant, attempt)).session
        const [row] = yield* sql`delete from sessions where consumer_id = ${consumerId} returning *`
        const [isWritten, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const other = yield* Effect.forkChild(
          sql.withTransaction(
            sql`insert into sessions ${sql.insert(row!)}`.pipe(
              Effect.andThen(Deferred.succeed(isWritten, undefined)),
              Effect.andThen(Deferred.await(mayCommit))
            )
          )
        )
        yield* Deferred.await(isWritten)
        const repeated = yield* Effect.forkChild(sessions.guest(tenant, attempt))
        yield* sql<{ readonly waiting: number }>`select count(*)::int4 as waiting from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.pipe(
          Effect.repeat({ until: ([row]) => row!.waiting > 0, schedule: Schedule.spaced("10 millis") })
        )
        yield* Deferred.succeed(mayCommit, undefined)
        yield* Fiber.join(other)
        assert.strictEqual((yield* Fiber.join(repeated)).session.consumerId, consumerId)
        assert.lengthOf(yield* sql`select from consumers where organization_id = ${tenant.organizationId}`, 1)
      })
    )

    it.effect("is another one for another attempt, another tenant, an ended session, and after a minute", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const tokens = yield* Tokens
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const attempt = randomUUID()
        const guest = (of = tenant, name: string = attempt) =>
          Effect.map(sessions.guest(of, name), (made) => ({ ...made, consumerId: made.session.consumerId }))
        const first = yield* guest()
        const others = [yield* guest(tenant, randomUUID()), yield* guest(yield* aTenant)]
        yield* sql`update sessions set created_at = created_at - interval '61 seconds'
          where consumer_id = ${first.consumerId}`
        others.push(yield* guest(), yield* guest())
        const ended = yield* guest(tenant, "another attempt")
        yield* sessions.end(tenant, (yield* tokens.verifyAccess(ended.accessToken))!.sessionId)
        others.push(yield* guest(tenant, "another attempt"))
        const ids = [first, ended, ...others].map(({ consumerId }) => consumerId)
        assert.lengthOf(new Set(ids), ids.length)
      })
    )
  })
})
