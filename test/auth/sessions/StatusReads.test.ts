import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { ApiKeys } from "../../../src/auth/keys/ApiKeys.ts"
import { Organizations } from "../../../src/auth/keys/Organizations.ts"
import { Sessions } from "../../../src/auth/sessions/Sessions.ts"
import { Tokens } from "../../../src/auth/tokens/Tokens.ts"
import { Availability } from "../../../src/store/coordination/Availability.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import * as TestServer from "../../store/support/TestServer.ts"
import { onDatabase } from "../../store/support/connections.ts"
import { anotherProcess, aTenant, layer as authLayer } from "../authFixture.ts"

/** Returns when this process receives the database's notifications, or no longer does. */
const untilHeard = (expected: boolean) =>
  Effect.flatMap(Invalidations, ({ isCurrent }) =>
    Effect.repeat(Effect.sync(isCurrent), {
      until: (found) => found === expected,
      schedule: Schedule.spaced("1 millis")
    })
  )

/** Runs the effect while this process receives no notifications, although the database responds on open connections. */
const whileNothingIsHeard = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [{ name } = { name: "" }] = yield* sql<{ name: string }>`select current_database() as name`
    const allowConnections = (allowed: boolean) =>
      onDatabase(
        TestServer.current.url,
        (server) => server`alter database ${server(name)} allow_connections ${server.literal(String(allowed))}`
      )
    return yield* Effect.acquireUseRelease(
      allowConnections(false),
      () =>
        sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and query like 'LISTEN%'`.pipe(
          Effect.andThen(untilHeard(false)),
          Effect.andThen(effect)
        ),
      () => Effect.orDie(allowConnections(true))
    )
  })

describe("Credentials of a status read, while no notifications arrive", () => {
  layer(authLayer, { excludeTestServices: true })((it) => {
    it.effect("keep their last known state if this process has cached them and the database is away", () =>
      Effect.gen(function* () {
        const [tokens, sessions, availability] = [yield* Tokens, yield* Sessions, yield* Availability]
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const token = Effect.map(sessions.guest(tenant), ({ accessToken }) => accessToken)
        const [known, left] = [yield* token, yield* token]
        const unknown = yield* Effect.provide(
          Effect.flatMap(Sessions, (there) => there.guest(tenant)),
          yield* anotherProcess
        )
        const { sessionId } = (yield* tokens.verifyAccess(left))!
        yield* sessions.end(tenant, sessionId)
        // Without a notification.
        yield* sql`update sessions set revoked_at = now() where organization_id = ${tenant.organizationId}`
        yield* whileNothingIsHeard(
          Effect.gen(function* () {
            assert.isUndefined(yield* tokens.verifyForStatus(known), "the database is reachable and says otherwise")
            availability.isAway = true
            assert.isDefined(yield* tokens.verifyForStatus(known))
            assert.isUndefined(yield* tokens.verifyAccess(known), "only a status read works without the database")
            assert.isUndefined(yield* tokens.verifyForStatus(left), "a session that is known to have ended")
            assert.isUndefined(
              yield* tokens.verifyForStatus(unknown.accessToken),
              "a token that this process has never seen"
            )
            availability.isAway = false
          })
        )
      })
    )

    it.effect("accept only a cached key", () =>
      Effect.gen(function* () {
        const [keys, organizations, availability] = [yield* ApiKeys, yield* Organizations, yield* Availability]
        const sql = yield* SqlClient.SqlClient
        const live = yield* organizations.create({ name: "Brand", plan: "growth" })
        const other = yield* organizations.create({ name: "Other", plan: "growth" })
        yield* untilHeard(true)
        assert.isDefined(yield* keys.lookup(live.publishableKey))
        yield* sql`update api_keys set revoked_at = now()`
        yield* whileNothingIsHeard(
          Effect.gen(function* () {
            assert.isUndefined(
              yield* keys.lookupForStatus(live.publishableKey),
              "the database is reachable and says otherwise"
            )
            availability.isAway = true
            assert.isDefined(yield* keys.lookupForStatus(live.publishableKey))
            assert.isUndefined(yield* keys.lookup(live.publishableKey))
            assert.isUndefined(yield* keys.lookupForStatus(other.publishableKey))
            availability.isAway = false
          })
        )
      })
    )
  })
})
