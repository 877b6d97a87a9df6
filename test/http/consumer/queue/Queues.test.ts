/** The path of a consumer through a queue, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose"
import { ApiKeys } from "../../../../src/auth/keys/ApiKeys.ts"
import { asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/testClockFixture.ts"
import { inQueue } from "./queueFixture.ts"

const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const soon = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

describe("A queue on the Consumer API", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("places each consumer at the end of the line, once", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const { enter, status } = yield* inQueue(yield* queue({ admitRate: 0 }))
        const [first, second] = [yield* guest(), yield* guest()]
        assert.deepStrictEqual((yield* status(first)).body, { status: "NOT_QUEUED" })
        const one = yield* enter(first)
        assert.deepStrictEqual([one.status, one.body.status, one.body.position], [200, "QUEUED", 1])
        assert.strictEqual(one.body.positionDisplayMode, "precise")
        assert.match(one.body.enteredAt, isoUtc)
        assert.strictEqual((yield* enter(second)).body.position, 2)
        assert.deepStrictEqual((yield* enter(first)).body, one.body)
        assert.deepStrictEqual((yield* status(first)).body, one.body)
      })
    )

    it.effect("returns the estimated wait at its rate", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const { enter } = yield* inQueue(yield* queue({ admitRate: 6, lobbyOpenAt: soon(-60), openAt: soon(60) }))
        const early = yield* enter(yield* guest())
        assert.deepStrictEqual([early.body.status, early.body.position], ["QUEUED", undefined])
        const open = yield* inQueue(yield* queue({ admitRate: 6 }))
        yield* open.enter(yield* guest())
        yield* open.enter(yield* guest())
        const { body } = yield* open.enter(yield* guest())
        assert.strictEqual(body.estimatedWaitTimeInSeconds, Math.ceil((body.position / 6) * 60))
      })
    )

    it.effect("admits at its rate without a request, and issues a grant that can be verified offline", () =>
      Effect.gen(function* () {
        const { consumer, guest, queue, brand } = yield* Usher
        const queueId = yield* queue({ admitRate: 6000, admissionExpirationSeconds: 600 })
        const { enter, status, get } = yield* inQueue(queueId)
        const someone = yield* guest()
        yield* enter(someone)
        const granted = yield* status(someone).pipe(
          Effect.repeat({
            until: ({ body }) => body.status === "GRANTED",
            schedule: Schedule.spaced("10 millis"),
            times: 200
          })
        )
        const { admissionGrant, grantedAt, expiresAt } = granted.body
        assert.match(grantedAt, isoUtc)
        assert.strictEqual(Date.parse(expiresAt) - Date.parse(grantedAt), 600_000)
        const jwks = (yield* consumer({ path: "/.well-known/jwks.json" })).body
        const { payload, protectedHeader } = yield* Effect.promise(() =>
          jwtVerify(admissionGrant, createLocalJWKSet(jwks), { issuer: "usher", audience: "usher:admission" })
        )
        const { experienceId, sequenceId } = (yield* get).body
        assert.strictEqual(protectedHeader.alg, "EdDSA")
        assert.deepInclude(payload, {
          type: "admission",
          consumerId: someone.consumerId,
          organizationId: brand.organizationId,
          distributionId: queueId,
          distributionType: "queue",
          experienceId,
          sequenceId,
          iat: Math.floor(Date.parse(grantedAt) / 1000),
          exp: Math.ceil(Date.parse(expiresAt) / 1000)
        })
        assert.match(payload.jti!, new RegExp(`^${queueId}\\.\\d+\\.[\\w-]{22}$`))
        assert.strictEqual((yield* status(someone)).body.admissionGrant, admissionGrant)
        assert.notProperty(granted.body, "grantSequence")
      })
    )

    it.effect("omits the expiry of a grant that does not expire", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const { enter, admit } = yield* inQueue(yield* queue())
        const someone = yield* guest()
        yield* enter(someone)
        const { status, body } = yield* admit({ consumerId: someone.consumerId })
        assert.deepStrictEqual([status, body.status, "expiresAt" in body], [200, "GRANTED", false])
        assert.notProperty(decodeJwt(body.admissionGrant), "exp")
      })
    )

    it.effect("validates a grant, and returns whether it admits", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const line = yield* inQueue(yield* queue())
        const other = yield* inQueue(yield* queue())
        const [holder, stranger] = [yield* guest(), yield* guest()]
        yield* Effect.all([line.enter(holder), line.enter(stranger), other.enter(holder)])
        const { consumerId, accessToken } = holder
        const token = (yield* line.admit({ consumerId })).body.admissionGrant as string
        assert.strictEqual((yield* line.validate({ consumerId, token })).body, true)

        const code = (answer: { readonly body: any }) => {
          assert.deepStrictEqual([answer.body.valid, typeof answer.body.error], [false, "string"])
          return answer.body.code as string
        }
        const shown = (consumerId: string, token: string) => Effect.map(line.validate({ consumerId, token }), code)
        assert.strictEqual(yield* shown(consumerId, "nonsense"), "INVALID_TOKEN")
        assert.strictEqual(yield* shown(consumerId, accessToken), "INVALID_TOKEN")
        assert.strictEqual(yield* shown(stranger.consumerId, token), "WRONG_CONSUMER")
        const otherToken = (yield* other.admit({ consumerId })).body.admissionGrant as string
        assert.strictEqual(yield* shown(consumerId, otherToken), "WRONG_DISTRIBUTION")

        yield* line.leave(holder)
        assert.strictEqual(yield* shown(consumerId, token), "NOT_GRANTED")
        yield* line.enter(holder)
        const second = (yield* line.admit({ consumerId })).body.admissionGrant as string
        assert.strictEqual(yield* shown(consumerId, token), "GRANT_REPLACED")
        yield* line.complete({ consumerId })
        assert.strictEqual(yield* shown(consumerId, second), "GRANT_COMPLETED")
        const third = (yield* other.deny({ consumerId, reason: "FRAUD_DETECTED" })).body
        assert.deepStrictEqual([third.status, third.reason], ["DENIED", "FRAUD_DETECTED"])
        assert.strictEqual(code(yield* other.validate({ consumerId, token: otherToken })), "GRANT_DENIED")
      })
    )

    it.effect("does not admit a consumer with an expired grant", () =>
      Fixture.withTestClock((advance) =>
        Effect.gen(function* () {
          const { guest, queue } = yield* Usher
          const { enter, admit, validate, status } = yield* inQueue(yield* queue({ admissionExpirationSeconds: 1 }))
          const someone = yield* guest()
          yield* enter(someone)
          const { consumerId } = someone
          const token = (yield* admit({ consumerId })).body.admissionGrant as string
          assert.isTrue((yield* validate({ consumerId, token })).body)
          yield* advance(1)
          const { body } = yield* validate({ consumerId, token })
          assert.deepStrictEqual([body.valid, body.code], [false, "GRANT_EXPIRED"])
          const state = (yield* status(someone)).body
          assert.deepStrictEqual([state.status, state.reason], ["DENIED", "ADMISSION_EXPIRED"])
        })
      )
    )

    it.effect("completes a grant once, however often a server requests it", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const { enter, admit, complete } = yield* inQueue(yield* queue())
        const someone = yield* guest()
        yield* enter(someone)
        const { consumerId } = someone
        const early = yield* complete({ consumerId })
        assert.deepStrictEqual(
          [early.status, early.body],
          [409, { error: "Not possible in status QUEUED", code: "INVALID_STATUS" }]
        )
        yield* admit({ consumerId })
        const first = yield* complete({ consumerId })
        assert.deepStrictEqual([first.status, first.body.status], [200, "COMPLETED"])
        assert.match(first.body.completedAt, isoUtc)
        const again = (yield* complete({ consumerId })).body
        assert.deepStrictEqual(again, { ...first.body, alreadyCompleted: true })
      })
    )

    it.effect("can be left before admission, and entered again at its end", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const { enter, leave } = yield* inQueue(yield* queue())
        const [first, second] = [yield* guest(), yield* guest()]
        const nowhere = yield* leave(first)
        assert.deepStrictEqual([nowhere.status, nowhere.body.code], [409, "INVALID_STATUS"])
        yield* enter(first)
        yield* enter(second)
        const left = yield* leave(first)
        assert.deepStrictEqual([left.status, left.body.status], [200, "LEFT"])
        assert.match(left.body.leftAt, isoUtc)
        assert.strictEqual((yield* enter(first)).body.position, 2)
      })
    )

    it.effect("is full at its capacity, and says when to retry", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const { enter } = yield* inQueue(yield* queue({ capacity: 1 }))
        yield* enter(yield* guest())
        const { status, body, headers } = yield* enter(yield* guest())
        assert.deepStrictEqual([status, body], [409, { error: "Queue is full", code: "QUEUE_FULL" }])
        assert.match(headers["retry-after"]!, /^[1-9]\d*$/)
      })
    )

    it.effect("cannot be entered before it opens or after it closes", () =>
      Effect.gen(function* () {
        const { admin, guest, queue, brand } = yield* Usher
        const opensAt = soon(3600)
        const later = yield* (yield* inQueue(yield* queue({ openAt: opensAt }))).enter(yield* guest())
        assert.deepStrictEqual(
          [later.status, later.body],
          [423, { error: "Queue is not open yet", code: "NOT_OPEN", opensAt }]
        )
        const seconds = Number(later.headers["retry-after"])
        assert.isTrue(seconds > 3590 && seconds <= 3600)
        const queueId = yield* queue()
        const { status } = yield* admin({
          method: "POST",
          path: `/api/queues/${queueId}/end`,
          headers: asServer(brand.secretKey)
        })
        assert.strictEqual(status, 200)
        const over = yield* (yield* inQueue(queueId)).enter(yield* guest())
        assert.deepStrictEqual([over.status, over.body], [409, { error: "Queue is closed", code: "CLOSED" }])
      })
    )

    it.effect("refuses guests where they are not supported", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const { enter } = yield* inQueue(yield* queue({ supportsGuest: false }))
        const { status, body } = yield* enter(yield* guest())
        assert.deepStrictEqual([status, body], [403, { error: "Queue does not admit guests" }])
      })
    )

    it.effect("shows its public fields without a session", () =>
      Effect.gen(function* () {
        const { queue } = yield* Usher
        const openAt = soon(60)
        const queueId = yield* queue({
          admitRate: 30,
          openAt: openAt.replace("Z", "+00:00"),
          timeZone: "Europe/Berlin",
          capacity: 500,
          loyaltyHeadStartSeconds: 7
        })
        const { status, body } = yield* (yield* inQueue(queueId)).get
        assert.strictEqual(status, 200)
        assert.deepInclude(body, {
          id: queueId,
          timeZone: "Europe/Berlin",
          openAt,
          closeAt: null,
          admitRate: 30,
          capacity: 500,
          maxAdmissions: null,
          admissionExpirationSeconds: null,
          supportsGuest: true,
          loyaltyBiasEnabled: false,
          riskWeight: 0,
          riskRule: null,
          lifecycle: "scheduled",
          statusOverride: null,
          teardownStatus: null
        })
        assert.notProperty(body, "loyaltyHeadStartSeconds")
      })
    )

    it.effect("moves a loyal consumer ahead, where loyalty counts", () =>
      Effect.gen(function* () {
        const { guest, queue, brand } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        const queueId = yield* queue({ loyaltyBiasEnabled: true, loyaltyHeadStartSeconds: 3600 })
        const { enter, status } = yield* inQueue(queueId)
        const [plain, loyal] = [yield* guest(), yield* guest()]
        yield* sql`update organizations set settings = '{"loyaltyFullScoreBalance": 50}' where id = ${brand.organizationId}`
        yield* sql`update consumers set loyalty_balance = 80 where id = ${loyal.consumerId}`
        const first = yield* enter(plain)
        assert.deepStrictEqual([first.body.position, first.body.positionDisplayMode], [1, "qualitative"])
        assert.strictEqual((yield* enter(loyal)).body.position, 1)
        assert.strictEqual((yield* status(plain)).body.position, 2)
        yield* sql`update organizations set settings = '{}' where id = ${brand.organizationId}`
      })
    )

    it.effect("accepts the entry of a server for its consumer", () =>
      Effect.gen(function* () {
        const { consumer, guest, queue, brand } = yield* Usher
        const queueId = yield* queue()
        const someone = yield* guest()
        const entered = yield* consumer({
          method: "POST",
          path: `/api/queues/${queueId}/enter`,
          headers: asServer(brand.secretKey, someone.consumerId)
        })
        assert.deepStrictEqual([entered.status, entered.body.position], [200, 1])
        assert.deepStrictEqual((yield* (yield* inQueue(queueId)).status(someone)).body, entered.body)
      })
    )

    it.effect("answers from memory: status runs no statement, also for a new connection", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        const keys = yield* ApiKeys
        const { enter, status } = yield* inQueue(yield* queue())
        const someone = yield* guest()
        const entered = yield* enter(someone)
        // A statement that needs one of these tables would now wait, and so would its request.
        const answers = sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`lock table organizations, api_keys, consumers, sessions, mechanisms, journal, places in access exclusive mode`
            return yield* Effect.all([status(someone), status(someone)]).pipe(Effect.timeout("20 minutes"))
          })
        )
        for (const { body } of yield* answers) assert.deepStrictEqual(body, entered.body)
        yield* keys.invalidate
      })
    )
  })
})
