/** The list of grants that ended before their time. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { decodeJwt } from "jose"
import { GrantChecker } from "../../../../src/auth/offline/GrantChecker.ts"
import { revokedPageMax } from "../../../../src/store/mechanism/RevokedGrants.ts"
import * as Fixture from "../../support/testClockFixture.ts"
import { asServer, Usher } from "../../support/usherFixture.ts"
import { aMechanism, aQueueByHand, inMechanism } from "./mechanismFixture.ts"

const list = Effect.fnUntraced(function* (query = "", secretKey?: string) {
  const { consumer, brand } = yield* Usher
  return yield* consumer({
    path: `/api/grants/revoked${query}`,
    headers: asServer(secretKey ?? brand.secretKey)
  })
})

/** Returns all pages of a list. */
const wholeList = Effect.fnUntraced(function* (since?: string) {
  const found: Array<{ readonly jti: string; readonly status: string; readonly expiresAt: string | null }> = []
  let pages = 0
  for (let after: string | null = ""; after !== null; pages++) {
    const parameters = new URLSearchParams({ ...(since && { since }), ...(after && { after }) })
    const { status, body, text } = yield* list(`?${parameters}`)
    assert.strictEqual(status, 200, text)
    found.push(...body.data)
    after = body.next
  }
  return { found, pages }
})

const jtiOf = (token: string): string => decodeJwt(token).jti!

describe("The revoked grants", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("are those that were left, denied or completed, at once, and no others", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const [left, denied, completed, kept] = [yield* guest(), yield* guest(), yield* guest(), yield* guest()]
        const queue = yield* aQueueByHand()
        const [a, b, c, d] = yield* Effect.all([left, denied, completed, kept].map(queue.granted))
        const again = yield* queue.leave(left)
        assert.strictEqual(again.body.status, "LEFT")
        yield* queue.deny({ consumerId: denied.consumerId, reason: "FRAUD_DETECTED" })
        yield* queue.complete({ consumerId: completed.consumerId })
        const { found } = yield* wholeList()
        const statusOf = (token: string) => found.find(({ jti }) => jti === jtiOf(token))?.status
        assert.deepStrictEqual([a!, b!, c!, d!].map(statusOf), ["LEFT", "DENIED", "COMPLETED", undefined])
        const { expiresAt } = found.find(({ jti }) => jti === jtiOf(a!))!
        assert.strictEqual(Math.ceil(Date.parse(expiresAt!) / 1000), decodeJwt(a!).exp)
      })
    )

    it.effect("contain each grant of a consumer that entered again, and those of every kind that grants", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const someone = yield* guest()
        const queue = yield* aQueueByHand({ admissionExpirationSeconds: null })
        const first = yield* queue.granted(someone)
        yield* queue.leave(someone)
        const second = yield* queue.granted(someone)
        yield* queue.complete({ consumerId: someone.consumerId })
        const release = yield* inMechanism("timed-releases", yield* aMechanism("timed-releases"))
        const third = (yield* release.byConsumer("POST", "/enter")(someone)).body.admissionGrant as string
        yield* release.byConsumer("POST", "/leave")(someone)
        const settleAt = new Date(Date.now() + 3_600_000).toISOString()
        const dutch = { auctionType: "dutch", startPrice: "9", floorPrice: "1", priceDropAmount: "1", settleAt }
        const id = yield* aMechanism("auctions", { ...dutch, priceDropIntervalSeconds: 60 })
        const auction = yield* inMechanism("auctions", id)
        const fourth = (yield* auction.byConsumer("POST", "/bid")(someone)).body.admissionGrant as string
        yield* auction.byServer("/deny")({ consumerId: someone.consumerId, reason: "ADMIN_ACTION" })
        const { found } = yield* wholeList()
        const jtis = found.map(({ jti }) => jti)
        assert.includeMembers(jtis, [first, second, third, fourth].map(jtiOf))
        assert.isNull(found.find(({ jti }) => jti === jtiOf(first))!.expiresAt)
      })
    )

    it.effect("leave out those that have expired by now, and those that ended before since", () =>
      Fixture.withTestClock((advance) =>
        Effect.gen(function* () {
          const { guest } = yield* Usher
          const [brief, early] = [yield* guest(), yield* guest()]
          const short = yield* aQueueByHand({ admissionExpirationSeconds: 1 })
          const expiring = yield* short.granted(brief)
          yield* short.leave(brief)
          const queue = yield* aQueueByHand()
          const token = yield* queue.granted(early)
          yield* queue.leave(early)
          yield* advance(1)
          const all = (yield* wholeList()).found.map(({ jti }) => jti)
          assert.notInclude(all, jtiOf(expiring))
          assert.include(all, jtiOf(token))
          const late = (yield* wholeList(new Date(Date.now() + 2000).toISOString())).found
          assert.deepStrictEqual(late, [])
        })
      )
    )

    it.effect("belong to one tenant, and only its secret key reads them", () =>
      Effect.gen(function* () {
        const { guest, consumer, brand, stranger } = yield* Usher
        const someone = yield* guest()
        const queue = yield* aQueueByHand()
        const jti = jtiOf(yield* queue.granted(someone))
        yield* queue.leave(someone)
        assert.include((yield* list()).text, jti)
        for (const key of [stranger.secretKey, brand.testSecretKey]) assert.notInclude((yield* list("", key)).text, jti)
        const headers = { "x-publishable-key": brand.publishableKey }
        const refused = yield* consumer({ path: "/api/grants/revoked", headers })
        assert.deepStrictEqual([refused.status, refused.body.error], [401, "Secret key required"])
        for (const query of ["?since=yesterday", "?after=x", "?after=1_2_3_4"]) {
          assert.strictEqual((yield* list(query)).status, 400)
        }
      })
    )

    it.effect("come in pages that together contain each grant once", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { guest } = yield* Usher
        const someone = yield* guest()
        const queues = [yield* aQueueByHand(), yield* aQueueByHand()]
        const before = new Set((yield* wholeList()).found.map(({ jti }) => jti))
        const each = revokedPageMax + 7
        for (const { id } of queues) {
          yield* sql`
            insert into journal (mechanism_id, sequence, at, type, consumer_id, data)
            select ${id}, 1000000 + n, date_trunc('milliseconds', now()) - interval '1 minute' + (n / 3) * interval '1 millisecond', 'Left',
              ${someone.consumerId}, jsonb_build_object('grant', jsonb_build_object('sequence', n))
            from generate_series(1, ${each}) as n`
        }
        const { found, pages } = yield* wholeList()
        const added = found.map(({ jti }) => jti).filter((jti) => !before.has(jti))
        assert.strictEqual(added.length, 2 * each)
        assert.strictEqual(new Set(added).size, 2 * each)
        assert.isAtLeast(pages, 3)
        for (const { id } of queues) yield* sql`delete from journal where mechanism_id = ${id} and sequence > 1000000`
      })
    )

    it.effect("let a shop check grants offline, within a second", () =>
      Effect.gen(function* () {
        const { guest, consumer, brand } = yield* Usher
        const { organizationId } = brand
        const someone = yield* guest()
        const queue = yield* aQueueByHand()
        const checker = new GrantChecker()
        checker.setKeys((yield* consumer({ path: "/.well-known/jwks.json" })).body)
        const refresh = Effect.gen(function* () {
          do checker.addRevoked((yield* list(checker.query)).body, Date.now())
          while (checker.hasMore)
        })
        yield* refresh
        const token = yield* queue.granted(someone)
        const check = () => checker.check(token, { organizationId, distributionId: queue.id }, Date.now())
        assert.isTrue(check().valid)
        yield* queue.complete({ consumerId: someone.consumerId })
        yield* refresh
        assert.deepStrictEqual(check(), { valid: false, code: "GRANT_REVOKED" })
      })
    )
  })
})
