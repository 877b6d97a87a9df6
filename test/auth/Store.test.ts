/** The data of `auth/` in the database: organizations, keys, sessions and consumers. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { decodeJwt } from "jose"
import * as ApiKeys from "../../src/auth/keys/ApiKeys.ts"
import { Consumers } from "../../src/auth/sessions/Consumers.ts"
import { Organizations } from "../../src/auth/keys/Organizations.ts"
import { Revocations } from "../../src/auth/sessions/Revocations.ts"
import { Sessions } from "../../src/auth/sessions/Sessions.ts"
import { SigningKeys } from "../../src/auth/keys/SigningKeys.ts"
import { TokenLifetimes } from "../../src/auth/tokens/TokenLifetimes.ts"
import { Tokens } from "../../src/auth/tokens/Tokens.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { Invalidations } from "../../src/store/coordination/Invalidations.ts"
import { movableClock } from "../support/movableClock.ts"
import * as TestDatabase from "../store/support/TestDatabase.ts"

const signingKeys = SigningKeys.layer.pipe(Layer.provideMerge(Invalidations.layer))

const services = Layer.mergeAll(ApiKeys.ApiKeys.layer, Consumers.layer, Organizations.layer, Sessions.layer).pipe(
  Layer.provideMerge(Layer.merge(Tokens.layer, TokenLifetimes.layer)),
  Layer.provideMerge(Revocations.layer),
  Layer.provideMerge(signingKeys),
  Layer.provideMerge(Settings.layerTest()),
  Layer.provideMerge(SecureRandom.layerWebCrypto),
  Layer.provideMerge(TestDatabase.layer)
)

const brand = Effect.flatMap(Organizations, (organizations) => organizations.create({ name: "Brand", plan: "growth" }))

/** Returns every row of every table as one text. */
const dump = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{
    name: string
  }>`select table_name as name from information_schema.tables where table_schema = 'public'`
  const texts = yield* Effect.forEach(
    tables,
    ({ name }) => sql<{ text: string }>`select t::text as text from ${sql(name)} t`
  )
  return texts
    .flat()
    .map(({ text }) => text)
    .join("\n")
})

describe("Auth", () => {
  layer(services, { excludeTestServices: true })("An organization", (it) => {
    it.effect("is created with four working keys, and can be found", () =>
      Effect.gen(function* () {
        const organizations = yield* Organizations
        const keys = yield* ApiKeys.ApiKeys
        const before = yield* organizations.count
        const made = yield* brand
        assert.strictEqual(yield* organizations.count, before + 1)
        const { organizationId } = made
        const prefixes = {
          publishableKey: ["pk_live_", "publishable", "live"],
          secretKey: ["sk_live_", "secret", "live"],
          testPublishableKey: ["pk_test_", "publishable", "test"],
          testSecretKey: ["sk_test_", "secret", "test"]
        } as const
        for (const [name, [prefix, kind, mode]] of Object.entries(prefixes)) {
          const key = made[name as keyof typeof prefixes]
          assert.match(key, new RegExp(`^${prefix}[A-Za-z0-9_-]{32,}$`))
          const holder = yield* keys.lookup(key)
          assert.deepStrictEqual([holder?.kind, holder?.tenant], [kind, { organizationId, mode }])
        }
        const found = yield* organizations.find(organizationId)
        const { createdAt, ...rest } = Option.getOrThrow(found)
        assert.isBelow(Math.abs(Date.now() - createdAt), 60_000)
        assert.deepStrictEqual(rest, {
          id: organizationId,
          name: "Brand",
          plan: "growth",
          settings: {},
          hasChallengeSecret: false,
          updatedAt: null,
          updatedBy: null
        })
        assert.isTrue(Option.isNone(yield* organizations.find("0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a")))
      })
    )

    it.effect("is created as a whole or not at all", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const organizations = yield* Organizations
        const before = yield* organizations.count
        yield* sql`alter table api_keys add constraint no_test check (mode <> 'test') not valid`
        assert.strictEqual((yield* Effect.exit(brand))._tag, "Failure")
        yield* sql`alter table api_keys drop constraint no_test`
        assert.strictEqual(yield* organizations.count, before)
      })
    )
  })

  layer(services, { excludeTestServices: true })("A key", (it) => {
    it.effect("is stored as a hash, with its ends for display", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const made = yield* brand
        const text = yield* dump
        for (const key of [made.publishableKey, made.secretKey, made.testPublishableKey, made.testSecretKey]) {
          assert.notInclude(text, key.slice("sk_live_".length + 4))
          const hash = createHash("sha256").update(key).digest()
          const rows = yield* sql<{ display: string }>`select display from api_keys where hash = ${hash}`
          assert.strictEqual(rows[0]?.display, `${key.slice(0, 12)}…${key.slice(-4)}`)
        }
      })
    )

    it.effect("that is malformed is refused without SQL", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const keys = yield* ApiKeys.ApiKeys
        const { secretKey } = yield* brand
        const malformed = [
          "",
          "sk_live_",
          "sk_live_short",
          secretKey.replace("sk", "xk"),
          secretKey.replace("live", "prod"),
          `${secretKey} `,
          `${secretKey}!`,
          ` ${secretKey}`,
          `sk_live_${"a".repeat(129)}`
        ]
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`lock table api_keys in access exclusive mode`
            for (const key of malformed) assert.isUndefined(yield* Effect.timeout(keys.lookup(key), "1 second"), key)
          })
        )
      })
    )

    it.effect("costs one query for concurrent lookups", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const keys = yield* ApiKeys.ApiKeys
        const { secretKey } = yield* brand
        const holders = yield* Effect.all(
          Array.from({ length: 500 }, () => keys.lookup(secretKey)),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(holders).size, 1)
        yield* sql`update api_keys set revoked_at = now()`
        assert.strictEqual(yield* keys.lookup(secretKey), holders[0])
        yield* keys.invalidate
        assert.isUndefined(yield* keys.lookup(secretKey))
      })
    )

    it.effect("that is created after a lookup of it works soon", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const keys = yield* ApiKeys.ApiKeys
        const { organizationId } = yield* brand
        yield* sql`update api_keys set revoked_at = now() where organization_id = ${organizationId}`
        const key = ApiKeys.make("secret", "live")
        assert.isUndefined(yield* keys.lookup(key.text))
        yield* sql`
          insert into api_keys (id, organization_id, mode, kind, hash, display, created_at)
          values (gen_random_uuid(), ${organizationId}, 'live', 'secret', ${key.hash}, ${key.display}, now())`
        const later = movableClock()
        yield* later.putForward(2_100)
        const found = yield* Effect.provide(keys.lookup(key.text), later.layer)
        assert.strictEqual(found?.tenant.organizationId, organizationId)
      })
    )
  })

  layer(services, { excludeTestServices: true })("A guest", (it) => {
    it.effect("has a consumer and a session in the database, and no secrets there", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const sessions = yield* Sessions
        const { organizationId } = yield* brand
        const started = yield* sessions.guest({ organizationId, mode: "test" })
        const { consumerId, guestId, type, expiresAt } = started.session
        assert.deepStrictEqual([guestId, type], [consumerId, "guest"])
        assert.strictEqual(started.refreshTokenTtlSeconds, 2_592_000)
        const consumers =
          yield* sql`select organization_id, mode, type, archived from consumers where id = ${consumerId}`
        assert.deepStrictEqual(consumers, [
          { organization_id: organizationId, mode: "test", type: "guest", archived: false }
        ])
        const { sessionId } = decodeJwt(started.accessToken) as { sessionId: string }
        const { jti } = decodeJwt(started.refreshToken) as { jti: string }
        const rows = yield* sql<{ consumer_id: string; refresh_hash: Uint8Array; expires_at: Date }>`
          select consumer_id, refresh_hash, expires_at from sessions where id = ${sessionId}`
        assert.strictEqual(rows[0]?.consumer_id, consumerId)
        assert.strictEqual(rows[0]?.expires_at.getTime(), expiresAt)
        assert.deepStrictEqual(Buffer.from(rows[0]!.refresh_hash), createHash("sha256").update(jti).digest())
        const text = yield* dump
        for (const secret of [jti, started.accessToken, started.refreshToken]) assert.notInclude(text, secret)
      })
    )

    it.effect("is written in one statement with others that arrive at the same time", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const sessions = yield* Sessions
        const tokens = yield* Tokens
        const tenants = [yield* brand, yield* brand].map(
          ({ organizationId }) => ({ organizationId, mode: "live" }) as const
        )
        const started = yield* Effect.forEach(
          Array.from({ length: 3_000 }, (_, n) => tenants[n % 2]!),
          (tenant) => Effect.map(sessions.guest(tenant), (session) => ({ tenant, session })),
          { concurrency: "unbounded" }
        )
        const statements = yield* sql<{ count: number }>`
          select count(distinct xmin::text)::int as count from sessions where organization_id in ${sql.in(tenants.map((t) => t.organizationId))}`
        assert.isBelow(statements[0]!.count, 300)
        const ids = new Set(started.map(({ session }) => session.session.consumerId))
        assert.strictEqual(ids.size, 3_000)
        for (const tenant of tenants) {
          const rows = yield* sql<{
            id: string
          }>`select id from consumers where organization_id = ${tenant.organizationId}`
          assert.strictEqual(rows.length, 1_500)
          for (const { id } of rows) assert.isTrue(ids.has(id))
        }
        for (const { tenant, session } of started.slice(0, 50)) {
          const access = yield* tokens.verifyAccess(session.accessToken)
          assert.deepStrictEqual([access?.tenant, access?.consumerId], [tenant, session.session.consumerId])
        }
      })
    )

    it.effect("is refused if the database does not store it", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const sessions = yield* Sessions
        const { organizationId } = yield* brand
        yield* sql`alter table sessions rename to elsewhere`
        const exit = yield* Effect.exit(sessions.guest({ organizationId, mode: "live" }))
        assert.strictEqual(exit._tag, "Failure")
        yield* sql`alter table elsewhere rename to sessions`
        assert.strictEqual((yield* sessions.guest({ organizationId, mode: "live" })).session.type, "guest")
        const rows = yield* sql<{
          count: number
        }>`select count(*)::int as count from consumers where organization_id = ${organizationId}`
        assert.strictEqual(rows[0]?.count, 1)
      })
    )
  })

  layer(services, { excludeTestServices: true })("A consumer", (it) => {
    it.effect("is found only by its own tenant, and only if not archived", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const consumers = yield* Consumers
        const sessions = yield* Sessions
        const [mine, other] = [yield* brand, yield* brand]
        const tenant = { organizationId: mine.organizationId, mode: "live" } as const
        const { consumerId } = (yield* sessions.guest(tenant)).session
        assert.deepStrictEqual(yield* consumers.find(tenant, consumerId), { isGuest: true })
        assert.isUndefined(yield* consumers.find({ ...tenant, mode: "test" }, consumerId))
        assert.isUndefined(yield* consumers.find({ ...tenant, organizationId: other.organizationId }, consumerId))
        const archived = (yield* sessions.guest(tenant)).session.consumerId
        yield* sql`update consumers set archived = true where id = ${archived}`
        assert.isUndefined(yield* consumers.find(tenant, archived))
      })
    )

    it.effect("has the loyalty score of its balance, at most 1", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const consumers = yield* Consumers
        const sessions = yield* Sessions
        const { organizationId } = yield* brand
        const tenant = { organizationId, mode: "live" } as const
        const { consumerId } = (yield* sessions.guest(tenant)).session
        const score = (balance: number) =>
          Effect.andThen(
            sql`update consumers set loyalty_balance = ${balance} where id = ${consumerId}`,
            consumers.loyaltyScore(tenant, consumerId)
          )
        assert.strictEqual(yield* score(0), 0)
        assert.strictEqual(yield* score(250), 0.25)
        assert.strictEqual(yield* score(5000), 1)
        assert.strictEqual(yield* score(-5), 0)
        yield* sql`update organizations set settings = '{"loyaltyFullScoreBalance": 500}' where id = ${organizationId}`
        assert.strictEqual(yield* score(250), 0.5)
        assert.strictEqual(yield* consumers.loyaltyScore({ ...tenant, mode: "test" }, consumerId), 0)
      })
    )
  })

  layer(TestDatabase.layer, { excludeTestServices: true })("Signing keys", (it) => {
    it.effect("are the same for all processes, also if several start first at the same time", () =>
      Effect.gen(function* () {
        const kid = Effect.map(SigningKeys, ({ current }) => current.kid).pipe(Effect.provide(Layer.fresh(signingKeys)))
        const kids = yield* Effect.all([kid, kid, kid, kid], { concurrency: "unbounded" })
        kids.push(yield* kid)
        assert.strictEqual(new Set(kids).size, 1)
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ count: number }>`select count(*)::int as count from signing_keys`
        assert.strictEqual(rows[0]?.count, 1)
      })
    )

    it.effect("that are retired still verify, but do not sign", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const load = Effect.provide(SigningKeys, Layer.fresh(signingKeys))
        const before = (yield* load).current.kid
        yield* sql`update signing_keys set retired_at = now()`
        const keys = yield* load
        assert.notStrictEqual(keys.current.kid, before)
        assert.isDefined(keys.publicKey(before))
        assert.sameMembers(
          keys.jwks.map(({ kid }) => kid),
          [before, keys.current.kid]
        )
      })
    )
  })
})
