/** A consumer's sessions on the Consumer API: listed, and ended in every process. */
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

/** A new session of the consumer that the organization's server vouches for. */
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

/** What a consumer does with its sessions. */
const mine = Effect.fnUntraced(function* (method: string, { accessToken }: Tokens, path = "") {
  const { consumer, brand } = yield* Usher
  const headers = asConsumer(brand.publishableKey, accessToken)
  return yield* consumer({ method, path: `/api/consumers/me/sessions${path}`, headers })
})

/** What the server does with the sessions of a consumer. */
const forIt = Effect.fnUntraced(function* (method: string, consumerId: string, path = "") {
  const { consumer, brand } = yield* Usher
  const headers = asServer(brand.secretKey, consumerId)
  return yield* consumer({ method, path: `/api/consumers/me/sessions${path}`, headers })
})

/** Whether the session's tokens are good at the listener with this address. */
const isAlive = Effect.fnUntraced(function* (url: string, { accessToken }: Tokens) {
  const { brand } = yield* Usher
  const { status } = yield* send(url, {
    path: "/api/consumers/me",
    headers: asConsumer(brand.publishableKey, accessToken)
  })
  return status === 200
})

/** Has the session started so many hours ago. */
const startedEarlier = (tokens: Tokens, hours: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`update sessions set created_at = created_at - ${hours}::int * interval '1 hour' where id = ${sessionIdOf(tokens)}`
  )

const isRefreshed = ({ refreshToken }: Tokens) =>
  Effect.map(post("refresh", { refreshToken }), ({ status }) => status === 200)

/** The addresses of the Consumer API of two processes. */
const listeners = Effect.gen(function* () {
  const { consumerUrl } = yield* Usher
  const other = Context.get(yield* anotherServer, Listeners).consumerUrl
  // Now each has heard of the other.
  yield* changesHandled(2)
  return [consumerUrl, other]
})

const ids = ({ body }: Answer): ReadonlyArray<string> => body.data.map(({ id }: { readonly id: string }) => id)

describe("A consumer's sessions", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("are listed, the present one first, with when they were refreshed and when they end", () =>
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

    it.effect("are listed for the organization's server too, which has none of its own", () =>
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

    it.effect("are listed as long as they last, a hundred at most, the present one among them", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const as = identity()
        const oldest = yield* signedIn(as)
        const expired = yield* signedIn(as)
        yield* sql`
          update sessions set expires_at = now(), access_expires_at = now() where id = ${sessionIdOf(expired)}`
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

    it.effect("end one by one, at once in every process, refresh token included", () =>
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

    it.effect("end all together, the present one too, at once in every process, and none of another consumer", () =>
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

    it.effect("are nobody else's: those of another consumer cannot be told from none", () =>
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
