/** The sessions of a consumer on the Admin API: how they are listed, and how they end in every process. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { decodeJwt } from "jose"
import { randomUUID } from "node:crypto"
import { Sessions } from "../../../../src/auth/sessions/Sessions.ts"
import { Tokens } from "../../../../src/auth/tokens/Tokens.ts"
import { anotherProcess } from "../../../auth/authFixture.ts"
import { changesHandled } from "../../../store/support/notifications.ts"
import { aConsumer } from "../../../store/support/recordsFixture.ts"
import { Admin, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const sessionIdOf = ({ accessToken }: { readonly accessToken: string }) => decodeJwt(accessToken)["sessionId"] as string

/** Creates a session of the brand's consumer. */
const signedIn = Effect.fnUntraced(function* (consumerId: string) {
  const { brand } = yield* Admin
  return yield* (yield* Sessions).start({ tenant: brand.tenant, consumerId })
})

const aGuest = Effect.gen(function* () {
  const { brand } = yield* Admin
  const started = yield* (yield* Sessions).guest(brand.tenant)
  return { ...started, consumerId: started.session.consumerId }
})

/** This process and another one on the same database, after each has discovered the other. */
const processes = Effect.gen(function* () {
  const here = yield* Effect.context<Tokens>()
  const there = yield* anotherProcess
  yield* changesHandled(2)
  return [here, there].map((context) => Context.get(context, Tokens))
})

const isRefreshed = Effect.fnUntraced(function* ({ refreshToken }: { readonly refreshToken: string }) {
  const { brand } = yield* Admin
  return (yield* Effect.option((yield* Sessions).refresh(brand.tenant, refreshToken)))._tag === "Some"
})

describe("A consumer's sessions on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are listed by start, for guests too, without those that have ended", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const sql = yield* SqlClient.SqlClient
        const consumerId = yield* aConsumer(brand.tenant)
        const path = `/consumers/${consumerId}/sessions`
        assert.deepStrictEqual((yield* call("GET", path)).body, {
          data: [],
          pageInfo: { startCursor: null, endCursor: null }
        })
        const [first, second, ended, expired] = [
          yield* signedIn(consumerId),
          yield* signedIn(consumerId),
          yield* signedIn(consumerId),
          yield* signedIn(consumerId)
        ]
        yield* sql`update sessions set created_at = created_at - interval '1 hour' where id = ${sessionIdOf(first)}`
        yield* (yield* Sessions).end(brand.tenant, sessionIdOf(ended))
        yield* sql`
          update sessions set expires_at = now() - interval '1 second', access_expires_at = now() - interval '1 second'
          where id = ${sessionIdOf(expired)}`
        const refreshed = yield* (yield* Sessions).refresh(brand.tenant, second.refreshToken)
        const { body } = yield* call("GET", path)
        assert.deepStrictEqual(body.data[0], {
          id: sessionIdOf(first),
          type: "authenticated",
          createdAt: body.data[0].createdAt,
          lastRefreshedAt: null,
          expiresAt: new Date(first.session.expiresAt).toISOString()
        })
        assert.deepInclude(body.data[1], {
          id: sessionIdOf(second),
          expiresAt: new Date(decodeJwt(refreshed.refreshToken).exp! * 1000).toISOString()
        })
        assert.isAtLeast(Date.parse(body.data[1].lastRefreshedAt), Date.parse(body.data[1].createdAt))
        assert.lengthOf(body.data, 2)
        const guest = yield* aGuest
        const guests = yield* call("GET", `/consumers/${guest.consumerId}/sessions?type=guest`)
        assert.deepStrictEqual(
          guests.body.data.map(({ id, type }: any) => [id, type]),
          [[sessionIdOf(guest), "guest"]]
        )
        const none = yield* call("GET", `/consumers/${guest.consumerId}/sessions?type=authenticated`)
        assert.deepStrictEqual(none.body.data, [])
        assert.deepStrictEqual(issuesOf(yield* call("GET", `${path}?type=root`)), ["type: picklist"])
        assert.deepStrictEqual(issuesOf(yield* call("GET", `${path}?sortBy=expiresAt`)), ["sortBy: picklist"])
      })
    )

    it.effect("end one by one, at once in every process, with their refresh tokens", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const everywhere = yield* processes
        const consumerId = yield* aConsumer(brand.tenant)
        const ending = yield* signedIn(consumerId)
        const staying = yield* signedIn(consumerId)
        const path = `/consumers/${consumerId}/sessions`
        for (const tokens of everywhere) assert.isDefined(yield* tokens.verifyAccess(ending.accessToken))
        const listed = (yield* call("GET", path)).body.data.find(({ id }: any) => id === sessionIdOf(ending))
        const { status, body } = yield* call("DELETE", `${path}/${sessionIdOf(ending)}`)
        assert.deepStrictEqual([status, body], [200, listed])
        for (const tokens of everywhere) {
          assert.isUndefined(yield* tokens.verifyAccess(ending.accessToken))
          assert.isDefined(yield* tokens.verifyAccess(staying.accessToken))
        }
        assert.isFalse(yield* isRefreshed(ending))
        assert.isTrue(yield* isRefreshed(staying))
        const again = yield* call("DELETE", `${path}/${sessionIdOf(ending)}`)
        assert.deepStrictEqual([again.status, again.body], [404, { error: "Session not found" }])
      })
    )

    it.effect("end all together, for guests too, at once in every process", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const everywhere = yield* processes
        const consumerId = yield* aConsumer(brand.tenant)
        const guest = yield* aGuest
        const bystander = yield* aGuest
        const sessions = [yield* signedIn(consumerId), yield* signedIn(consumerId), guest]
        const ended = yield* call("DELETE", `/consumers/${consumerId}/sessions`)
        assert.deepStrictEqual([ended.status, ended.body], [200, { ended: 2 }])
        assert.deepStrictEqual((yield* call("DELETE", `/consumers/${guest.consumerId}/sessions`)).body, { ended: 1 })
        for (const session of sessions) {
          for (const tokens of everywhere) assert.isUndefined(yield* tokens.verifyAccess(session.accessToken))
          assert.isFalse(yield* isRefreshed(session))
        }
        for (const tokens of everywhere) assert.isDefined(yield* tokens.verifyAccess(bystander.accessToken))
        assert.deepStrictEqual((yield* call("DELETE", `/consumers/${consumerId}/sessions`)).body, { ended: 0 })
        assert.isTrue(yield* isRefreshed(yield* signedIn(consumerId)))
      })
    )

    it.effect("are visible to their own organization in its own mode, and only for consumers that exist", () =>
      Effect.gen(function* () {
        const { call, brand, stranger, rehearsal } = yield* Admin
        const consumerId = yield* aConsumer(brand.tenant)
        const other = yield* aConsumer(brand.tenant)
        const session = yield* signedIn(consumerId)
        const notFound = { error: "Consumer not found" }
        const all = `/consumers/${consumerId}/sessions`
        const requests = [
          ["GET", all],
          ["DELETE", all],
          ["DELETE", `${all}/${sessionIdOf(session)}`]
        ] as const
        for (const [method, path] of requests) {
          for (const as of [stranger, rehearsal]) {
            const answer = yield* call(method, path, undefined, as)
            assert.deepStrictEqual([answer.status, answer.body], [404, notFound])
          }
          const unknown = yield* call(method, path.replace(consumerId, randomUUID()))
          assert.deepStrictEqual([unknown.status, unknown.body], [404, notFound])
        }
        const anothers = yield* call("DELETE", `/consumers/${other}/sessions/${sessionIdOf(session)}`)
        assert.deepStrictEqual([anothers.status, anothers.body], [404, { error: "Session not found" }])
        assert.isTrue(yield* isRefreshed(session))
        yield* call("DELETE", `/consumers/${consumerId}`)
        assert.deepStrictEqual((yield* call("GET", all)).body, notFound)
      })
    )
  })
})
