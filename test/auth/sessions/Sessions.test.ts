/** Sessions: refreshed once per token by any process, and ended everywhere at once. */
import { assert, describe, layer } from "@effect/vitest"
import { Clock, Context, Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { decodeJwt } from "jose"
import { randomUUID } from "node:crypto"
import { Revocations } from "../../../src/auth/sessions/Revocations.ts"
import { Sessions } from "../../../src/auth/sessions/Sessions.ts"
import { SigningKeyRotation } from "../../../src/auth/keys/SigningKeyRotation.ts"
import { Tokens } from "../../../src/auth/tokens/Tokens.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { changesHandled } from "../../store/support/notifications.ts"
import { anotherProcess, aTenant } from "../authFixture.ts"
import * as Fixture from "../authFixture.ts"

const isAlive = (accessToken: string) =>
  Effect.flatMap(Tokens, (tokens) => Effect.map(tokens.verifyAccess(accessToken), (access) => access !== undefined))

const refused = { _tag: "InvalidRefreshToken" }
const outcomeOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.match(effect, { onFailure: ({ _tag }) => ({ _tag }), onSuccess: () => ({ _tag: "refreshed" }) })

/** The services of this process and of a second one on the same database. */
const twoProcesses = Effect.gen(function* () {
  const processes = [yield* Effect.context<Sessions | Tokens>(), yield* anotherProcess] as const
  // Each process has been notified of the other.
  yield* changesHandled(processes.length)
  return processes
})

/** Runs the effect at a fixed instant, however long it takes. */
const at =
  (millis: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.clockWith((clock) =>
      Effect.provideService(
        effect,
        Clock.Clock,
        new Proxy(clock, {
          get: (real, name) => {
            if (name === "currentTimeMillis") return Effect.succeed(millis)
            return name === "currentTimeMillisUnsafe" ? () => millis : Reflect.get(real, name, real)
          }
        })
      )
    )

/** Refreshes a guest's session `rounds` times. Returns all its access and refresh tokens. */
const refreshed = Effect.fnUntraced(function* (tenant: Tenant, rounds: number) {
  const sessions = yield* Sessions
  const { accessToken, refreshToken } = yield* sessions.guest(tenant)
  const [accessTokens, refreshTokens] = [[accessToken], [refreshToken]]
  for (let round = 0; round < rounds; round++) {
    const next = yield* sessions.refresh(tenant, refreshTokens.at(-1)!)
    accessTokens.push(next.accessToken)
    refreshTokens.push(next.refreshToken)
  }
  return { accessTokens, refreshTokens, latest: refreshTokens.at(-1)! }
})

/** Asserts that no token of the session is valid in any process. */
const isOver = Effect.fnUntraced(function* (
  processes: ReadonlyArray<Context.Context<Sessions | Tokens>>,
  tenant: Tenant,
  { accessTokens, latest }: { readonly accessTokens: ReadonlyArray<string>; readonly latest: string }
) {
  for (const context of processes) {
    for (const token of accessTokens) assert.isFalse(yield* Effect.provide(isAlive(token), context))
    assert.deepStrictEqual(yield* outcomeOf(Context.get(context, Sessions).refresh(tenant, latest)), refused)
  }
})

describe("A session", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("is refreshed with its latest token, repeatedly", () =>
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

    it.effect("ends in every process when a token older than the one just replaced is presented, at any age", () =>
      Effect.gen(function* () {
        const processes = yield* twoProcesses
        const tenant = yield* aTenant
        for (const rounds of [2, 3, 4]) {
          for (const age of [2, rounds]) {
            for (const context of processes) {
              const session = yield* refreshed(tenant, rounds)
              const shown = session.refreshTokens.at(-1 - age)!
              assert.deepStrictEqual(yield* outcomeOf(Context.get(context, Sessions).refresh(tenant, shown)), refused)
              yield* isOver(processes, tenant, session)
            }
          }
        }
      })
    )

    it.effect("returns the same successor for the token just replaced, in every process, for ten seconds", () =>
      Effect.gen(function* () {
        const processes = yield* twoProcesses
        const tenant = yield* aTenant
        for (const rounds of [1, 3]) {
          const now = yield* Clock.currentTimeMillis
          const session = yield* refreshed(tenant, rounds).pipe(at(now))
          const replaced = session.refreshTokens.at(-2)!
          const accessTokens = [...session.accessTokens]
          for (const later of [0, 5_000, 9_999]) {
            for (const context of processes) {
              const again = yield* Context.get(context, Sessions)
                .refresh(tenant, replaced)
                .pipe(at(now + later))
              assert.strictEqual(again.refreshToken, session.latest)
              assert.strictEqual(again.refreshTokenTtlSeconds, 2_592_000)
              assert.strictEqual(decodeJwt(again.accessToken).exp! * 1000, again.accessTokenExpiresAt)
              accessTokens.push(again.accessToken)
            }
          }
          assert.strictEqual(new Set(accessTokens).size, rounds + 1 + 6)
          for (const context of processes) {
            for (const token of accessTokens) assert.isTrue(yield* Effect.provide(isAlive(token), context))
          }
          const next = yield* Context.get(processes[1], Sessions).refresh(tenant, session.latest)
          assert.isTrue(yield* isAlive(next.accessToken))
        }
      })
    )

    it.effect("ends when the token just replaced is presented later, however often it was presented before", () =>
      Effect.gen(function* () {
        const processes = yield* twoProcesses
        const sessions = yield* Sessions
        const tenant = yield* aTenant
        for (const context of processes) {
          const now = yield* Clock.currentTimeMillis
          const session = yield* refreshed(tenant, 2).pipe(at(now))
          const replaced = session.refreshTokens.at(-2)!
          for (const later of [6_000, 9_999]) yield* sessions.refresh(tenant, replaced).pipe(at(now + later))
          const late = Context.get(context, Sessions)
            .refresh(tenant, replaced)
            .pipe(at(now + 10_000))
          assert.deepStrictEqual(yield* outcomeOf(late), refused)
          yield* isOver(processes, tenant, session)
        }
      })
    )

    it.effect("continues when a lost refresh is repeated by its name, however late, until its successor is used", () =>
      Effect.gen(function* () {
        const processes = yield* twoProcesses
        const tenant = yield* aTenant
        const attempt = randomUUID()
        for (const context of processes) {
          const sessions = Context.get(context, Sessions)
          const now = yield* Clock.currentTimeMillis
          const { refreshToken } = yield* sessions.guest(tenant).pipe(at(now))
          const lost = yield* sessions.refresh(tenant, refreshToken, attempt).pipe(at(now))
          const repeated = yield* sessions.refresh(tenant, refreshToken, attempt).pipe(at(now + 3_600_000))
          assert.strictEqual(repeated.refreshToken, lost.refreshToken)
          yield* sessions.refresh(tenant, repeated.refreshToken).pipe(at(now + 3_600_000))
          const late = sessions.refresh(tenant, refreshToken, attempt).pipe(at(now + 3_600_000))
          assert.deepStrictEqual(yield* outcomeOf(late), refused)
        }
      })
    )

    it.effect("ends when the token just replaced is presented later under another name, or without one", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const tenant = yield* aTenant
        for (const other of [randomUUID(), undefined]) {
          const now = yield* Clock.currentTimeMillis
          const { refreshToken } = yield* sessions.guest(tenant).pipe(at(now))
          const next = yield* sessions.refresh(tenant, refreshToken, randomUUID()).pipe(at(now))
          const copied = sessions.refresh(tenant, refreshToken, other).pipe(at(now + 10_000))
          assert.deepStrictEqual(yield* outcomeOf(copied), refused)
          const afterwards = sessions.refresh(tenant, next.refreshToken).pipe(at(now + 10_000))
          assert.deepStrictEqual(yield* outcomeOf(afterwards), refused)
        }
      })
    )

    it.effect("ends when a replaced token is presented after its successor was used, also within these seconds", () =>
      Effect.gen(function* () {
        const processes = yield* twoProcesses
        const sessions = yield* Sessions
        const tenant = yield* aTenant
        const { accessTokens, refreshTokens } = yield* refreshed(tenant, 1)
        const again = yield* sessions.refresh(tenant, refreshTokens[0]!)
        const next = yield* sessions.refresh(tenant, again.refreshToken)
        assert.deepStrictEqual(yield* outcomeOf(sessions.refresh(tenant, refreshTokens[0]!)), refused)
        const all = [...accessTokens, again.accessToken, next.accessToken]
        yield* isOver(processes, tenant, { accessTokens: all, latest: next.refreshToken })
      })
    )

    it.effect("continues with one successor when many requests present the same refresh token, on two processes", () =>
      Effect.gen(function* () {
        const processes = yield* twoProcesses
        const tenant = yield* aTenant
        for (let race = 0; race < 20; race++) {
          const now = yield* Clock.currentTimeMillis
          // From the first token, and from a token that a concurrent refresh returned.
          let latest = (yield* Context.get(processes[0], Sessions).guest(tenant)).refreshToken
          for (let generation = 0; generation < 2; generation++) {
            const results = yield* Effect.forEach(
              Array.from({ length: 10 }, (_, index) => Context.get(processes[index % 2]!, Sessions)),
              (sessions) => sessions.refresh(tenant, latest),
              { concurrency: "unbounded" }
            ).pipe(at(now))
            assert.strictEqual(new Set(results.map(({ refreshToken }) => refreshToken)).size, 1)
            assert.strictEqual(new Set(results.map(({ accessToken }) => accessToken)).size, 10)
            for (const { accessToken } of results) {
              for (const context of processes) assert.isTrue(yield* Effect.provide(isAlive(accessToken), context))
            }
            latest = results[0]!.refreshToken
          }
          const next = yield* Context.get(processes[1], Sessions).refresh(tenant, latest)
          assert.isTrue(yield* isAlive(next.accessToken))
        }
        const sql = yield* SqlClient.SqlClient
        const [open] = yield* sql<{ count: number }>`
          select count(*)::int as count from sessions
          where organization_id = ${tenant.organizationId} and revoked_at is null`
        assert.strictEqual(open!.count, 20)
      })
    )

    it.effect("stores no refresh token in the database, and no id of one", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const { refreshTokens } = yield* refreshed(tenant, 2)
        yield* (yield* Sessions).refresh(tenant, refreshTokens.at(-2)!)
        const [stored] = yield* sql<{ row: string }>`
          select s::text as row from sessions s where organization_id = ${tenant.organizationId}`
        for (const token of refreshTokens) {
          const id = Buffer.from(decodeJwt(token).jti!)
          const forms = [id.toString(), id.toString("hex"), Buffer.from(id.toString(), "base64url").toString("hex")]
          for (const secret of [...forms, token.split(".")[2]!]) assert.notInclude(stored!.row, secret)
        }
      })
    )

    it.effect(
      "returns a successor with the same id if the signing key was rotated in between, and both are valid",
      () =>
        Effect.gen(function* () {
          const [, other] = yield* twoProcesses
          const sessions = yield* Sessions
          const tenant = yield* aTenant
          const { refreshTokens, latest } = yield* refreshed(tenant, 1)
          yield* (yield* SigningKeyRotation).rotate
          const again = yield* Context.get(other, Sessions).refresh(tenant, refreshTokens[0]!)
          assert.notStrictEqual(again.refreshToken, latest)
          assert.deepStrictEqual(decodeJwt(again.refreshToken), decodeJwt(latest))
          const next = yield* sessions.refresh(tenant, latest)
          assert.deepStrictEqual(
            yield* sessions.refresh(tenant, again.refreshToken).pipe(Effect.map(({ refreshToken }) => refreshToken)),
            next.refreshToken
          )
        }).pipe(Effect.provide(SigningKeyRotation.layer))
    )

    it.effect("is refreshed only with its refresh token, by its own tenant, while its consumer exists", () =>
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

    it.effect("that has ended is invalid in every process when the call returns, also for cached tokens", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const other = yield* anotherProcess
        yield* changesHandled(2)
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

    it.effect("that has ended is invalid for a process that starts later", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const { accessToken } = yield* sessions.guest(yield* aTenant)
        const access = yield* Effect.flatMap(Tokens, (tokens) => tokens.verifyAccess(accessToken))
        yield* sessions.end(access!.tenant, access!.sessionId)
        assert.isFalse(yield* Effect.provide(isAlive(accessToken), yield* anotherProcess))
      })
    )

    it.effect("that ends while a process receives no notifications is invalid there too", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const other = yield* anotherProcess
        const sessions = yield* Sessions
        const invalidations = yield* Effect.provide(Invalidations, other)
        const { accessToken } = yield* sessions.guest(tenant)
        assert.isTrue(yield* Effect.provide(isAlive(accessToken), other))
        const access = yield* Effect.flatMap(Tokens, (tokens) => tokens.verifyAccess(accessToken))
        // Without a notification, and then every listening connection is cut.
        yield* sql`update sessions set revoked_at = now() where id = ${access!.sessionId}`
        yield* sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query like 'LISTEN%'`
        yield* Effect.sync(invalidations.isCurrent).pipe(
          Effect.repeat({ until: (isCurrent) => !isCurrent, schedule: Schedule.spaced("2 millis") }),
          Effect.timeout("20 minutes")
        )
        assert.isFalse(yield* Effect.provide(isAlive(accessToken), other))
        yield* Effect.sync(invalidations.isCurrent).pipe(
          Effect.repeat({ until: (isCurrent) => isCurrent, schedule: Schedule.spaced("2 millis") }),
          Effect.timeout("20 minutes")
        )
        assert.isTrue((yield* Effect.provide(Revocations, other)).isRevoked(access!))
        assert.isFalse(yield* Effect.provide(isAlive(accessToken), other))
      })
    )
  })
})
