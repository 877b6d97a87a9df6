/** Security events: what is recorded, that floods are counts, filters, tenants and retention. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Organizations } from "../../../../src/auth/keys/Organizations.ts"
import { removeOld } from "../../../../src/store/organization/SecurityEventRetention.ts"
import { SecurityEvents } from "../../../../src/store/organization/SecurityEvents.ts"
import { asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { withinMinute } from "../../limits/withinMinute.ts"

const list = Effect.fnUntraced(function* (query = "", secretKey?: string) {
  const { admin, brand } = yield* Usher
  const path = `/api/security-events?${query}`
  const { status, body } = yield* admin({ path, headers: asServer(secretKey ?? brand.secretKey) })
  assert.strictEqual(status, 200)
  return body.data as ReadonlyArray<any>
})

const listedOnce = (query: string, secretKey?: string) =>
  Effect.repeat(list(query, secretKey), {
    until: (events) => events.length > 0,
    schedule: Schedule.spaced("50 millis")
  })

const post = Effect.fnUntraced(function* (path: string, body: object) {
  const { consumer, brand } = yield* Usher
  return yield* consumer({
    method: "POST",
    path: `/api/auth/${path}`,
    headers: { "x-publishable-key": brand.publishableKey },
    body
  })
})

const newestCode = Effect.fnUntraced(function* (to: string) {
  const { admin, brand } = yield* Usher
  const { body } = yield* Effect.repeat(admin({ path: `/api/outbox?to=${to}`, headers: asServer(brand.secretKey) }), {
    until: (answer) => answer.body.data.length > 0,
    schedule: Schedule.spaced("10 millis")
  })
  return /\b\d{6}\b/.exec(body.data[0].text)![0]
})

describe("Security events", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("show sign-ins, lock-outs, floods of codes and rotations, to their organization alone", () =>
      Effect.gen(function* () {
        const { admin, brand, stranger } = yield* Usher
        const email = "ann@example.com"
        yield* post("otp/request", { email })
        const code = yield* newestCode(email)
        const { body } = yield* post("otp/verify", { email, code })
        const { consumerId } = body.session
        for (let request = 0; request < 40; request++) yield* post("otp/request", { email: "flood@example.com" })
        for (let guess = 0; guess < 5; guess++)
          yield* post("otp/verify", { email: "flood@example.com", code: "000000" })
        const path = "/api/api-keys/publishable/rotate"
        yield* admin({ method: "POST", path, headers: asServer(brand.testSecretKey) })

        const [signIn] = yield* listedOnce("type=sign_in")
        const { id, at, lastAt, ...rest } = signIn
        assert.match(id, /^[0-9a-f-]{36}$/)
        assert.isAtLeast(Date.parse(lastAt), Date.parse(at))
        assert.deepStrictEqual(rest, {
          type: "sign_in",
          consumerId,
          clientAddress: "127.0.0.1",
          details: { by: "email" },
          count: 1
        })
        const floods = yield* Effect.repeat(list("type=code_flood"), {
          until: ([flood]) => flood?.count === 35,
          schedule: Schedule.spaced("50 millis")
        })
        assert.deepStrictEqual(
          floods.map(({ count, details }) => [count, details]),
          [[35, { channel: "email" }]]
        )
        const [lockOut] = yield* listedOnce("type=lock_out")
        assert.deepStrictEqual(lockOut.details, { channel: "email", reason: "wrong_tries" })
        assert.deepStrictEqual(yield* list("type=key_rotation"), [])
        const [rotation] = yield* listedOnce("type=key_rotation", brand.testSecretKey)
        assert.deepStrictEqual(rotation.details, { kind: "publishable", by: "admin_api" })
        assert.deepStrictEqual(yield* list("", stranger.secretKey), [])
      })
    )

    it.effect("show requests over a limit, as one event with a count for a client and a kind of request", () =>
      Effect.gen(function* () {
        yield* withinMinute(5)
        const { consumer } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        const keys = yield* (yield* Organizations).create({ name: "Limited", plan: "enterprise" })
        const settings = JSON.stringify({ rateLimits: { consumerApiPerMinute: 3 } })
        yield* sql`update organizations set settings = ${settings}::text::jsonb where id = ${keys.organizationId}`
        const headers = { "x-publishable-key": keys.publishableKey }
        const statuses = yield* Effect.replicateEffect(
          Effect.map(consumer({ path: `/api/experiences/${randomUUID()}`, headers }), ({ status }) => status),
          7
        )
        assert.deepStrictEqual(statuses, [404, 404, 404, 429, 429, 429, 429])
        const [event] = yield* Effect.repeat(list("type=rate_limited", keys.secretKey), {
          until: ([limited]) => limited?.count === 4,
          schedule: Schedule.spaced("50 millis")
        })
        assert.strictEqual(event.clientAddress, "127.0.0.1")
        assert.isNull(event.consumerId)
        assert.deepStrictEqual(event.details, { api: "consumer", category: "general" })
      })
    )

    it.effect("are filtered by kind, consumer, client and time", () =>
      Effect.gen(function* () {
        const { stranger } = yield* Usher
        const events = yield* SecurityEvents
        const tenant = { organizationId: stranger.organizationId, mode: "live" } as const
        const consumerId = randomUUID()
        yield* events.record(tenant, { type: "sign_in", consumerId, clientAddress: "192.0.2.1" })
        yield* events.record(tenant, { type: "challenge_refused", clientAddress: "192.0.2.2", details: { tries: 3 } })
        yield* events.flush
        const kinds = (query: string) =>
          Effect.map(list(query, stranger.secretKey), (found) => found.map(({ type }) => type))
        assert.deepStrictEqual(yield* kinds(`consumerId=${consumerId}`), ["sign_in"])
        assert.deepStrictEqual(yield* kinds("clientAddress=192.0.2.2"), ["challenge_refused"])
        assert.deepStrictEqual(yield* kinds("until=2020-01-01T00:00:00Z"), [])
        assert.strictEqual((yield* kinds("from=2020-01-01T00:00:00Z&sortDir=desc")).length, 2)
      })
    )

    it.effect("of a flood from many addresses stay few: the rest are counted together", () =>
      Effect.gen(function* () {
        const { brand } = yield* Usher
        const events = yield* SecurityEvents
        const tenant = { organizationId: brand.organizationId, mode: "test" } as const
        for (let n = 0; n < 20_000; n++) {
          yield* events.record(tenant, { type: "rate_limited", clientAddress: `10.0.${n >> 8}.${n & 255}` })
        }
        yield* events.flush
        // The regular write may be under way.
        const sql = yield* SqlClient.SqlClient
        yield* Effect.sleep("1 second")
        const [found] = yield* sql<{ rows: number; total: number }>`
          select count(*)::int as rows, sum(count)::int as total from security_events
          where type = 'rate_limited' and organization_id = ${brand.organizationId} and mode = 'test'`
        assert.strictEqual(found!.total, 20_000)
        assert.isAtMost(found!.rows, 1_001)
      })
    )

    it.effect("are removed after 90 days, and the oldest beyond the number that one tenant keeps", () =>
      Effect.gen(function* () {
        const { brand, stranger } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        const events = yield* SecurityEvents
        yield* sql`delete from security_events`
        const tenants = [brand, stranger].map(({ organizationId }) => ({ organizationId, mode: "live" }) as const)
        for (const tenant of tenants) {
          for (let n = 0; n < 6; n++) yield* events.record(tenant, { type: "sign_in", clientAddress: `192.0.2.${n}` })
        }
        yield* events.flush
        yield* sql`
          update security_events set first_at = now() - interval '1 day' * split_part(client_address, '.', 4)::int * 22`
        const kept = sql<{ kept: ReadonlyArray<string> }>`
          select array_agg(client_address order by client_address) as kept from security_events
          group by organization_id order by organization_id`
        assert.strictEqual(yield* removeOld(Date.now(), 1_000, { eventsMax: 4 }), 4)
        assert.deepStrictEqual((yield* kept)[0]!.kept, ["192.0.2.0", "192.0.2.1", "192.0.2.2", "192.0.2.3"])
        assert.strictEqual(yield* removeOld(Date.now() + 30 * 86_400_000, 1_000), 2)
        assert.deepStrictEqual((yield* kept)[1]!.kept, ["192.0.2.0", "192.0.2.1", "192.0.2.2"])
      })
    )
  })
})
