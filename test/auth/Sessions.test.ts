/** Sessions: refreshed once with each token, ended at once everywhere. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { Revocations } from "../../src/auth/Revocations.ts"
import { Sessions } from "../../src/auth/Sessions.ts"
import { Tokens } from "../../src/auth/Tokens.ts"
import { Invalidations } from "../../src/store/Invalidations.ts"
import * as TestDatabase from "../store/TestDatabase.ts"
import { anotherProcess, aTenant } from "./authFixture.ts"
import * as Fixture from "./authFixture.ts"

const isAlive = (accessToken: string) =>
  Effect.flatMap(Tokens, (tokens) => Effect.map(tokens.verifyAccess(accessToken), (access) => access !== undefined))

const refused = { _tag: "InvalidRefreshToken" }
const outcomeOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onFailure: ({ _tag }) => ({ _tag }), onSuccess: () => ({ _tag: "refreshed" }) })

describe.skipIf(!TestDatabase.serverAnswers)(TestDatabase.title("A session"), () => {
  layer(Fixture.layer, { timeout: "60 seconds", excludeTestServices: true })((it) => {
    it.effect("is refreshed with its latest token, again and again", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const tenant = yield* aTenant
        const started = yield* sessions.guest(tenant)
        let { refreshToken } = started
        for (let round = 0; round < 5; round++) {
          const next = yield* sessions.refresh(tenant, refreshToken)
          assert.notStrictEqual(next.refreshToken, refreshToken)
          assert.isTrue(yield* isAlive(next.accessToken))
          refreshToken = next.refreshToken
        }
        assert.isTrue(yield* isAlive(started.accessToken))
      })
    )

    it.effect("ends, whatever tokens it has, when a used refresh token is shown", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const tenant = yield* aTenant
        for (const age of [1, 2, 3]) {
          const { accessToken, refreshToken } = yield* sessions.guest(tenant)
          const accessTokens = [accessToken]
          let latest = refreshToken
          for (let round = 0; round < age; round++) {
            const next = yield* sessions.refresh(tenant, latest)
            accessTokens.push(next.accessToken)
            latest = next.refreshToken
          }
          assert.deepStrictEqual(yield* outcomeOf(sessions.refresh(tenant, refreshToken)), refused)
          assert.deepStrictEqual(yield* outcomeOf(sessions.refresh(tenant, latest)), refused)
          for (const token of accessTokens) assert.isFalse(yield* isAlive(token))
        }
      })
    )

    it.effect("gives new tokens to one of many who show the same refresh token at once, and then ends", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const other = yield* Effect.provide(Sessions, yield* anotherProcess)
        const tenant = yield* aTenant
        for (let race = 0; race < 20; race++) {
          const { accessToken, refreshToken } = yield* sessions.guest(tenant)
          const outcomes = yield* Effect.forEach(
            Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? sessions : other)),
            (process) => outcomeOf(process.refresh(tenant, refreshToken)),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(outcomes.filter(({ _tag }) => _tag === "refreshed").length, 1)
          assert.isFalse(yield* isAlive(accessToken))
        }
        const sql = yield* SqlClient.SqlClient
        const [open] = yield* sql<{ count: number }>`
          select count(*)::int as count from sessions
          where organization_id = ${tenant.organizationId} and revoked_at is null`
        assert.strictEqual(open!.count, 0)
      })
    )

    it.effect(
      "is not refreshed with anything but its refresh token, by its own tenant, while its consumer is there",
      () =>
        Effect.gen(function* () {
          const sessions = yield* Sessions
          const sql = yield* SqlClient.SqlClient
          const tenant = yield* aTenant
          const stranger = yield* aTenant
          const { accessToken, refreshToken, session } = yield* sessions.guest(tenant)
          for (const text of [
            "",
            "x",
            accessToken,
            `${refreshToken}x`,
            refreshToken.slice(0, -1),
            `${refreshToken} `,
            "a".repeat(20_000)
          ]) {
            assert.deepStrictEqual(yield* outcomeOf(sessions.refresh(tenant, text)), refused, text.slice(0, 20))
          }
          assert.deepStrictEqual(yield* outcomeOf(sessions.refresh(stranger, refreshToken)), refused)
          assert.deepStrictEqual(yield* outcomeOf(sessions.refresh({ ...tenant, mode: "test" }, refreshToken)), refused)
          yield* sql`update consumers set archived = true where id = ${session.consumerId}`
          assert.deepStrictEqual(yield* outcomeOf(sessions.refresh(tenant, refreshToken)), refused)
          yield* sql`update consumers set archived = false where id = ${session.consumerId}`
          assert.deepStrictEqual(yield* outcomeOf(sessions.refresh(tenant, refreshToken)), { _tag: "refreshed" })
        })
    )

    it.effect("that has ended is ended in every process when the answer comes, also for tokens they remember", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const other = yield* anotherProcess
        yield* Effect.sleep("50 millis")
        const tenant = yield* aTenant
        for (let round = 0; round < 20; round++) {
          const { accessToken, refreshToken } = yield* sessions.guest(tenant)
          const access = yield* Effect.flatMap(Tokens, (tokens) => tokens.verifyAccess(accessToken))
          assert.isTrue(yield* Effect.provide(isAlive(accessToken), other))
          yield* sessions.end(tenant, access!.sessionId)
          assert.isFalse(yield* isAlive(accessToken))
          assert.isFalse(yield* Effect.provide(isAlive(accessToken), other))
          assert.deepStrictEqual(yield* outcomeOf(sessions.refresh(tenant, refreshToken)), refused)
        }
      })
    )

    it.effect("that has ended is ended for a process that starts later", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { accessToken } = yield* sessions.guest(yield* aTenant)
        const access = yield* Effect.flatMap(Tokens, (tokens) => tokens.verifyAccess(accessToken))
        yield* sessions.end(access!.tenant, access!.sessionId)
        assert.isFalse(yield* Effect.provide(isAlive(accessToken), yield* anotherProcess))
      })
    )

    it.effect("that ends while a process hears nothing is ended there all the same", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const other = yield* anotherProcess
        const sessions = yield* Sessions
        const invalidations = yield* Effect.provide(Invalidations, other)
        const { accessToken } = yield* sessions.guest(tenant)
        assert.isTrue(yield* Effect.provide(isAlive(accessToken), other))
        const access = yield* Effect.flatMap(Tokens, (tokens) => tokens.verifyAccess(accessToken))
        // Behind everybody's back, and then every listening connection is cut.
        yield* sql`update sessions set revoked_at = now() where id = ${access!.sessionId}`
        yield* sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query like 'LISTEN%'`
        yield* Effect.sync(invalidations.isCurrent).pipe(
          Effect.repeat({ until: (isCurrent) => !isCurrent, schedule: Schedule.spaced("2 millis") }),
          Effect.timeout("5 seconds")
        )
        assert.isFalse(yield* Effect.provide(isAlive(accessToken), other))
        yield* Effect.sync(invalidations.isCurrent).pipe(
          Effect.repeat({ until: (isCurrent) => isCurrent, schedule: Schedule.spaced("2 millis") }),
          Effect.timeout("5 seconds")
        )
        assert.isTrue((yield* Effect.provide(Revocations, other)).isRevoked(access!))
        assert.isFalse(yield* Effect.provide(isAlive(accessToken), other))
      })
    )
  })
})
