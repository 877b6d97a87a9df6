/** Keys that are rotated while several processes cache them. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { connect, createServer, type Socket } from "node:net"
import { ApiKeys } from "../../../src/auth/keys/ApiKeys.ts"
import * as Auth from "../../../src/auth/Auth.ts"
import { OrganizationKeys } from "../../../src/auth/keys/OrganizationKeys.ts"
import { Organizations } from "../../../src/auth/keys/Organizations.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { anotherProcess, layer as services } from "../authFixture.ts"

const brand = Effect.gen(function* () {
  const made = yield* (yield* Organizations).create({ name: "Brand", plan: "growth" })
  return { ...made, tenant: { organizationId: made.organizationId, mode: "live" } as const }
})

const rotate = (tenant: { readonly organizationId: string; readonly mode: "live" | "test" }) =>
  Effect.flatMap(OrganizationKeys, (keys) => keys.rotate(tenant, "secret", "operator"))

/** A proxy to the database that can silently withhold data from a listening connection. */
const silencingProxy = Effect.gen(function* () {
  const { url } = yield* TestDatabase.TestDatabase
  const { hostname, port } = new URL(url)
  const proxy = { isSilent: false }
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(Number(port || 5432), hostname)
    let listens = false
    client.on("data", (data) => {
      listens ||= data.includes("LISTEN")
      upstream.write(data)
    })
    upstream.on("data", (data) => (proxy.isSilent && listens ? undefined : client.write(data)))
    for (const [one, other] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      sockets.add(one)
      one.on("error", () => other.destroy())
      one.on("close", () => other.destroy())
    }
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
  )
  const through = new URL(url)
  through.host = `127.0.0.1:${(server.address() as { readonly port: number }).port}`
  return { proxy, url: through.href }
})

/** Returns the connections on which processes listen. */
const listeners = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly pid: number }>`
    select pid from pg_stat_activity where datname = current_database() and query like 'LISTEN%'`
  return rows.map(({ pid }) => pid)
})

const processAt = Effect.fnUntraced(function* (url: string) {
  const client = yield* PgClient.make({ url: Redacted.make(url), maxConnections: 4 }).pipe(
    Effect.provide(Reactivity.layer)
  )
  return yield* Layer.buildWithMemoMap(
    Auth.layer.pipe(
      Layer.provide(Layer.mergeAll(Settings.layerTest(), SecureRandom.layerWebCrypto)),
      Layer.provide(
        Layer.succeedContext(Context.make(PgClient.PgClient, client).pipe(Context.add(SqlClient.SqlClient, client)))
      )
    ),
    Layer.makeMemoMapUnsafe(),
    yield* Effect.scope
  )
})

describe("A rotated key", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("is unknown to every process when its rotation returns, and the new one is known", () =>
      Effect.gen(function* () {
        const { tenant, secretKey, publishableKey } = yield* brand
        const here = yield* ApiKeys
        const there = Context.get(yield* anotherProcess, ApiKeys)
        for (const keys of [here, there]) assert.isDefined(yield* keys.lookup(secretKey))
        const { key, display, kind, mode } = yield* rotate(tenant)
        assert.deepStrictEqual([kind, mode], ["secret", "live"])
        assert.match(key, /^sk_live_[\w-]{32,}$/)
        assert.strictEqual(display, `${key.slice(0, 12)}…${key.slice(-4)}`)
        for (const keys of [here, there]) {
          assert.isUndefined(yield* keys.lookup(secretKey))
          assert.deepStrictEqual((yield* keys.lookup(key))?.tenant, tenant)
          assert.isDefined(yield* keys.lookup(publishableKey), "the other key stays")
        }
      })
    )

    it.effect("is replaced for callers that send only a token", () =>
      Effect.gen(function* () {
        const { tenant, publishableKey } = yield* brand
        const here = yield* ApiKeys
        const there = Context.get(yield* anotherProcess, ApiKeys)
        const former = yield* here.lookup(publishableKey)
        assert.isDefined(former)
        for (const keys of [here, there]) assert.deepStrictEqual(yield* keys.publishableOf(tenant), former)
        const { key } = yield* (yield* OrganizationKeys).rotate(tenant, "publishable", "operator")
        const next = yield* here.lookup(key)
        assert.notStrictEqual(next!.keyId, former.keyId)
        for (const keys of [here, there]) assert.deepStrictEqual(yield* keys.publishableOf(tenant), next)
        const unknown = { organizationId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a", mode: "live" } as const
        assert.isUndefined(yield* here.publishableOf(unknown))
      })
    )

    it.effect("is not cached by a concurrent lookup", () =>
      Effect.gen(function* () {
        const { tenant, secretKey } = yield* brand
        const here = yield* ApiKeys
        const there = Context.get(yield* anotherProcess, ApiKeys)
        let key = secretKey
        for (let round = 0; round < 20; round++) {
          const old = key
          const reading = Effect.forEach([here, there], (keys) =>
            Effect.repeat(Effect.andThen(keys.forget(digestOf(old)), keys.lookup(old)), { times: 10 })
          )
          const [rotated] = yield* Effect.all([rotate(tenant), reading, reading], { concurrency: "unbounded" })
          key = rotated.key
          for (const keys of [here, there]) assert.isUndefined(yield* keys.lookup(old))
        }
      })
    )

    it.effect("is rotated twice by concurrent calls: both return, and one key is left", () =>
      Effect.gen(function* () {
        const { tenant } = yield* brand
        const keys = yield* ApiKeys
        const rotated = yield* Effect.all([rotate(tenant), rotate(tenant), rotate(tenant)], {
          concurrency: "unbounded"
        })
        const alive = yield* Effect.filter(rotated, ({ key }) =>
          Effect.map(keys.lookup(key), (holder) => holder !== undefined)
        )
        assert.strictEqual(alive.length, 1)
        const { data } = yield* (yield* OrganizationKeys).list(tenant, {})
        assert.deepInclude(
          data.map(({ display }) => display),
          alive[0]!.display
        )
        assert.strictEqual(data.length, 2)
      })
    )

    it.effect("of an unknown organization is an error, and no key is created", () =>
      Effect.gen(function* () {
        const organizationId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
        const error = yield* Effect.flip(rotate({ organizationId, mode: "live" }))
        assert.strictEqual(error._tag, "OrganizationNotFound")
        const keys = yield* OrganizationKeys
        assert.strictEqual((yield* Effect.flip(keys.ofOrganization(organizationId)))._tag, "OrganizationNotFound")
      })
    )

    it.effect("is refused by a process whose notification connection was just cut", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { tenant, secretKey } = yield* brand
        const before = yield* listeners
        const context = yield* anotherProcess
        const there = Context.get(context, ApiKeys)
        let key = secretKey
        for (let round = 0; round < 5; round++) {
          assert.isDefined(yield* there.lookup(key))
          const pids = (yield* listeners).filter((pid) => !before.includes(pid))
          yield* sql`select pg_terminate_backend(pid) from unnest(${pids}::int[]) pid`
          const old = key
          key = (yield* rotate(tenant)).key
          assert.isUndefined(yield* there.lookup(old))
        }
      })
    )

    it.effect("is refused by a process that unknowingly receives no notifications, when its rotation returns", () =>
      Effect.gen(function* () {
        const { tenant, secretKey } = yield* brand
        const { proxy, url } = yield* silencingProxy
        const context = yield* processAt(url)
        const there = Context.get(context, ApiKeys)
        assert.isDefined(yield* there.lookup(secretKey))
        yield* Effect.sleep("100 millis")
        proxy.isSilent = true
        const begun = performance.now()
        const { key } = yield* rotate(tenant)
        const seconds = (performance.now() - begun) / 1000
        assert.isAbove(seconds, 3, "the process does not respond")
        assert.isUndefined(yield* there.lookup(secretKey))
        assert.isDefined(yield* there.lookup(key))
        assert.isFalse(Context.get(context, Invalidations).isCurrent())
      })
    )
  })
})

const digestOf = (key: string) => hash("sha256", key, "base64url")
