/** The services of `auth/` on a fresh database, a tenant, and a second process on the same database. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import * as Auth from "../../src/auth/Auth.ts"
import { Organizations } from "../../src/auth/keys/Organizations.ts"
import type { Tenant } from "../../src/domain/values/Ids.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { Availability } from "../../src/store/coordination/Availability.ts"
import * as TestDatabase from "../store/support/TestDatabase.ts"

const base = Layer.mergeAll(Settings.layerTest(), SecureRandom.layerWebCrypto)

/** All services of `auth/`, with their database. */
export const layer = Auth.layer.pipe(Layer.provideMerge(base), Layer.provideMerge(TestDatabase.layer))

/** A second process on the same database, with its own connections and caches. */
export const anotherProcess = Effect.gen(function* () {
  const { url } = yield* TestDatabase.TestDatabase
  const scope = yield* Effect.scope
  const client = yield* PgClient.make({ url: Redacted.make(url), maxConnections: 4 }).pipe(
    Effect.provide(Reactivity.layer)
  )
  const database = Layer.succeedContext(
    Context.make(PgClient.PgClient, client).pipe(
      Context.add(SqlClient.SqlClient, client),
      Context.add(Availability, { isAway: false })
    )
  )
  return yield* Layer.buildWithMemoMap(
    Auth.layer.pipe(Layer.provide(base), Layer.provide(database)),
    Layer.makeMemoMapUnsafe(),
    scope
  )
})

/** The live tenant of an organization. */
export const aTenant = Effect.gen(function* () {
  const organizations = yield* Organizations
  const { organizationId } = yield* organizations.create({ name: "Brand", plan: "growth" })
  return { organizationId, mode: "live" } as const
})

/** How many consumers and sessions an organization has. */
export const countsOf = Effect.fnUntraced(function* ({ organizationId }: Tenant) {
  const sql = yield* SqlClient.SqlClient
  const [counts] = yield* sql<{ readonly consumers: number; readonly sessions: number }>`
    select (select count(*)::int4 from consumers where organization_id = ${organizationId}) as consumers,
      (select count(*)::int4 from sessions where organization_id = ${organizationId}) as sessions`
  return counts!
})
