/** A consumer's sessions on the Consumer API: how they are listed, and how they end in every process. */
import { assert, describe, layer } from "@effect/vitest"
import { Clock, Context, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { decodeJwt } from "jose"
import { randomUUID } from "node:crypto"
import { Listeners } from "../../../../src/http/server/Server.ts"
import { changesHandled } from "../../../store/support/notifications.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { type Answer, anotherServer, asConsumer, asServer, send, Usher } from "../../support/usherFixture.ts"

interface Tokens {
  readonly accessToken: string
  readonly refreshToken: string
}

const sessionIdOf = ({ accessToken }: Tokens) => decodeJwt(accessToken)["sessionId"] as string

const identity = () => ({ provider: "shop", issuer: "https://shop.example", subject: randomUUID() })

/** Starts a session of the consumer through the organization's server. */
const signedIn = Effect.fnUntraced(function* (as: object) {
  const { consumer, brand } = yield* Usher
  const vouched = yield* consumer({
    method: "POST",
    path: "/api/auth/external/authorize",
    headers: asServer(brand.secretKey),
    body: as
  })
  const { body } = yield* post("external/exchange", { exchangeCode: vouched.body.exchangeCode })
  return { ...body, consumerId: body.session.consumerId } as Fixture.Guest
})

const post = Effect.fnUntraced(function* (path: string, body: object) {
  const { consumer, brand } = yield* Usher
  const headers = { "x-publishable-key": brand.publishableKey }
  return yield* consumer({ method: "POST", path: `/api/auth/${path}`, headers, body })
})

/** The session requests of a consumer. */
const mine = Effect.fnUntraced(function* (method: string, { accessToken }: Tokens, path = "") {
  const { consumer, brand } = yield* Usher
  const headers = asConsumer(brand.publishableKey, accessToken)
  return yield* consumer({ method, path: `/api/consumers/me/sessions${path}`, headers })
})

/** The server's requests for the sessions of a consumer. */
const forIt = Effect.fnUntraced(function* (method: string, consumerId: string, path = "") {
  const { consumer, brand } = yield* Usher
  const headers = asServer(brand.secretKey, consumerId)
  return yield* consumer({ method, path: `/api/consumers/me/sessions${path}`, headers })
})

/** Returns whether the listener with this address accepts the session's tokens. */
const isAlive = Effect.fnUntraced(function* (url: string, { accessToken }: Tokens) {
  const { brand } = yield* Usher
  const { status } = yield* send(url, {
    path: "/api/consumers/me",
    headers: asConsumer(brand.publishableKey, accessToken)
  })
  return status === 200
})

/** Moves the start of the session so many hours into the past. */
const startedEarlier = (tokens: Tokens, hours: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`update sessions set created_at = created_at - ${hours}::int * interval '1 hour' where id = ${sessionIdOf(tokens)}`
  )

const isRefreshed = ({ refreshToken }: Tokens) =>
  Effect.map(post("refresh", { refreshToken }), ({ status }) => status === 200)

/** Starts two processes, and returns the addresses of their Consumer APIs. */
const listeners = Effect.gen(function* () {
  const { consumerUrl } = yield* Usher
  const other = Context.get(yield* anotherServer, Listeners).consumerUrl
  // From here on each process knows the other.
  yield* changesHandled(2)
  return [consumerUrl, other]
})

const ids = ({ body }: Answer): ReadonlyArray<string> => body.data.map(({ id }: { readonly id: string }) => id)

describe("A consumer's sessions", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("are listed, the current one first, with the times of their last refresh and their end", () =>
      Effect.gen(function* () {
        const as = identity()
        const phone = yield* signedIn(as)
        const laptop = yield* signedIn(as)
        const tablet = yield* signedIn(as)
        const [phoneId, laptopId, tabletId] = [sessionIdOf(phone), sessionIdOf(laptop), sessionIdOf(tablet)]
        yield* startedEarlier(phone, 2)
        yield* startedEarlier(laptop, 1)
        const before = yield* mine("GET", laptop)
        assert.strictEqual(before.status, 200)
        assert.deepStrictEqual(ids(before), [laptopId, tabletId, phoneId])
        const [present] = before.body.data
        assert.deepStrictEqual(present, {
          id: laptopId,
          type: "authenticated",
          createdAt: present.createdAt,
          lastRefreshedAt: null,
          expiresAt: new Date(decodeJwt(laptop.refreshToken).exp! * 1000).toISOString(),
          current: true
        })
        assert.isAtMost(Date.parse(present.createdAt), yield* Clock.currentTimeMillis)
        const { body } = yield* post("refresh", { refreshToken: phone.refreshToken })
        const after = yield* mine("GET", body)
        assert.deepStrictEqual(ids(after), [phoneId, tabletId, laptopId])
        assert.isAtLeast(Date.parse(after.body.data[0].lastRefreshedAt), Date.parse(after.body.data[0].createdAt))
        assert.deepStrictEqual(
          after.body.data.map(({ current }: { readonly current: boolean }) => current),
          [true, false, false]
        )
      })
    )

    it.effect("are listed for the organization's server too, which has no current session", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const visitor = yield* guest()
        const { body } = yield* forIt("GET", visitor.consumerId)
        assert.deepStrictEqual(
          body.data.map(({ id, type, current }: any) => [id, type, current]),
          [[sessionIdOf(visitor), "guest", false]]
        )
      })
    )

    it.effect("are listed while they last, a hundred at most, with the current one among them", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const as = identity()
        const oldest = yield* signedIn(as)
        const expired = yield* signedIn(as)
        yield* sql`
          update sessions set expires_at = now() - interval '1 second', access_expires_at = now() - interval '1 second'
          where id = ${sessionIdOf(expired)}`
        assert.deepStrictEqual(ids(yield* mine("GET", oldest)), [sessionIdOf(oldest)])
        yield* sql`
          insert into sessions (id, consumer_id, organization_id, mode, type, refresh_hash, created_at, expires_at,
            access_expires_at)
          select gen_random_uuid(), consumer_id, organization_id, mode, type, refresh_hash, created_at + n * interval '1 s',
            expires_at, access_expires_at
          from sessions, generate_series(1, 120) as n where id = ${sessionIdOf(oldest)}`
        const listed = ids(yield* mine("GET", oldest))
        assert.lengthOf(listed, 100)
        assert.strictEqual(listed[0], sessionIdOf(oldest))
        assert.strictEqual((yield* mine("DELETE", oldest)).body.ended, 121)
      })
    )

    it.effect("end one by one, at once in every process, with their refresh tokens", () =>
      Effect.gen(function* () {
        const urls = yield* listeners
        const as = identity()
        for (let round = 0; round < 3; round++) {
          const present = yield* signedIn(as)
          const other = yield* signedIn(as)
          for (const url of urls) assert.isTrue(yield* isAlive(url, other))
          const { status, body } = yield* mine("DELETE", present, `/${sessionIdOf(other)}`)
          assert.deepStrictEqual([status, body.id, body.current], [200, sessionIdOf(other), false])
          for (const url of urls) assert.isFalse(yield* isAlive(url, other))
          assert.isFalse(yield* isRefreshed(other))
          const again = yield* mine("DELETE", present, `/${sessionIdOf(other)}`)
          assert.deepStrictEqual([again.status, again.body], [404, { error: "Session not found" }])
          for (const url of urls) assert.isTrue(yield* isAlive(url, present))
          const itself = yield* mine("DELETE", present, `/${sessionIdOf(present)}`)
          assert.deepStrictEqual([itself.status, itself.body.current], [200, true])
          for (const url of urls) assert.isFalse(yield* isAlive(url, present))
          assert.isFalse(yield* isRefreshed(present))
        }
      })
    )

    it.effect("end all together, with the current one, at once in every process, and other consumers' stay", () =>
      Effect.gen(function* () {
        const urls = yield* listeners
        const { guest } = yield* Usher
        const as = identity()
        const sessions = yield* Effect.forEach([as, as, as], signedIn)
        const bystander = yield* guest()
        const { status, body } = yield* mine("DELETE", sessions[1]!)
        assert.deepStrictEqual([status, body], [200, { ended: 3 }])
        for (const session of sessions) {
          for (const url of urls) assert.isFalse(yield* isAlive(url, session))
          assert.isFalse(yield* isRefreshed(session))
        }
        for (const url of urls) assert.isTrue(yield* isAlive(url, bystander))
        const later = yield* signedIn(as)
        assert.deepStrictEqual(ids(yield* mine("GET", later)), [sessionIdOf(later)])
        assert.deepStrictEqual((yield* forIt("DELETE", later.consumerId)).body, { ended: 1 })
        assert.deepStrictEqual((yield* forIt("DELETE", later.consumerId)).body, { ended: 0 })
        assert.isFalse(yield* isRefreshed(later))
      })
    )

    it.effect("are hidden from other consumers: their ids get the same answer as unknown ones", () =>
      Effect.gen(function* () {
        const { guest, brand, stranger } = yield* Usher
        const visitor = yield* guest()
        const others = [
          yield* guest(),
          yield* guest(brand.testPublishableKey),
          yield* guest(stranger.publishableKey)
        ].map(sessionIdOf)
        for (const id of [...others, randomUUID()]) {
          for (const answer of [
            yield* mine("DELETE", visitor, `/${id}`),
            yield* forIt("DELETE", visitor.consumerId, `/${id}`)
          ]) {
            assert.deepStrictEqual([answer.status, answer.body], [404, { error: "Session not found" }])
          }
        }
        assert.strictEqual((yield* mine("DELETE", visitor, "/nobody")).status, 400)
      })
    )
  })
})
