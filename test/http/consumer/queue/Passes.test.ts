/** Visits to a site behind a gate: `pass` and `renew`, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { asConsumer, asServer, Usher } from "../../support/usherFixture.ts"
import { layer as usherLayer, withTestClock } from "../../support/testClockFixture.ts"
import { soon } from "../mechanism/mechanismFixture.ts"

const admissionRenewal = { idleSeconds: 60, maxSeconds: 3_600 }

/** A queue in front of a site, and the requests of its gate. */
const aSite = Effect.fnUntraced(function* (settings: object = {}) {
  const { admin, brand, consumer, queue } = yield* Usher
  const id = yield* queue({ admitRate: 6_000, standby: true, admissionRenewal, ...settings })
  const post = (operation: string, body: unknown, headers: object = {}) =>
    consumer({
      method: "POST",
      path: `/api/queues/${id}/${operation}`,
      headers: { ...asServer(brand.secretKey), ...headers },
      body
    })
  return {
    id,
    post,
    pass: (body: unknown = {}, headers: object = {}) => post("pass", body, headers),
    renew: (...grants: ReadonlyArray<string>) => post("renew", { grants }),
    status: (accessToken: string) =>
      consumer({ path: `/api/queues/${id}/status`, headers: asConsumer(brand.publishableKey, accessToken) }),
    steer: (method: string, path: string, body?: unknown) =>
      admin({ method, path: `/api${path}`, headers: asServer(brand.secretKey), body })
  }
})

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString())

const seconds = (text: string): number => Date.parse(text) / 1_000

describe("A visitor who passes", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("has a session, a place and a grant with one request", () =>
      Effect.gen(function* () {
        const { pass, post, status } = yield* aSite()
        const passed = yield* pass()
        assert.strictEqual(passed.status, 200)
        const { consumerId, accessToken, refreshToken, admissionGrant, expiresAt, ...rest } = passed.body
        assert.deepStrictEqual(rest, { status: "GRANTED" })
        assert.isString(refreshToken)
        assert.deepStrictEqual((yield* post("validate", { consumerId, token: admissionGrant })).body, true)
        const standing = (yield* status(accessToken)).body
        assert.deepInclude(standing, { status: "GRANTED", admissionGrant, expiresAt })
        const { iat, exp } = claimsOf(admissionGrant)
        assert.closeTo(exp - iat, admissionRenewal.maxSeconds, 1)
        assert.closeTo(seconds(expiresAt) - iat, admissionRenewal.idleSeconds, 1)
      })
    )

    it.effect("waits in the room with that session if rate or limit do not allow more", () =>
      Effect.gen(function* () {
        const { id, pass, status, steer } = yield* aSite({ insideLimit: 1 })
        yield* pass()
        const queued = yield* pass(null)
        const { consumerId, accessToken, refreshToken, roomUrl, ...rest } = queued.body
        assert.deepStrictEqual(rest, { status: "QUEUED", position: 1 })
        const { experienceId } = (yield* steer("GET", `/queues/${id}`)).body
        assert.include(roomUrl, `/e/${experienceId}/visit?token=`)
        assert.isString(refreshToken)
        assert.deepInclude((yield* status(accessToken)).body, { status: "QUEUED", position: 1 })
        yield* steer("PUT", `/queues/${id}`, { insideLimit: 2 })
        assert.deepInclude((yield* status(accessToken)).body, { status: "GRANTED" })
        const { data } = (yield* steer("GET", `/distributions/${id}/consumers?status=GRANTED`)).body
        assert.include(
          data.map((one: { consumerId: string }) => one.consumerId),
          consumerId
        )
      })
    )

    it.effect("is the same one when the gate repeats its request", () =>
      Effect.gen(function* () {
        const { pass } = yield* aSite()
        const key = { "idempotency-key": randomUUID() }
        const answers = yield* Effect.all([pass({}, key), pass({}, key), pass({}, key)], { concurrency: "unbounded" })
        const [first, ...others] = answers.map(({ body }) => [body.consumerId, body.admissionGrant, body.status])
        assert.strictEqual(first![2], "GRANTED")
        for (const other of others) assert.deepStrictEqual(other, first)
        assert.notStrictEqual((yield* pass({}, { "idempotency-key": randomUUID() })).body.consumerId, first![0])
      })
    )

    it.effect("is the same one when the answer was lost between the commits of its session and of its place", () =>
      Effect.gen(function* () {
        const { id, pass, steer } = yield* aSite({ insideLimit: 1 })
        const { brand, consumer } = yield* Usher
        const attempt = randomUUID()
        // As `pass` names it: the first commit alone.
        const begun = yield* consumer({
          method: "POST",
          path: "/api/auth/guest",
          headers: { "x-publishable-key": brand.publishableKey, "idempotency-key": `pass ${id} ${attempt}` }
        })
        const key = { "idempotency-key": attempt }
        const first = (yield* pass({}, key)).body
        assert.deepStrictEqual([first.status, first.consumerId], ["GRANTED", begun.body.session.consumerId])
        yield* pass({}, { "idempotency-key": randomUUID() })
        const again = (yield* pass({}, key)).body
        assert.deepStrictEqual([again.consumerId, again.admissionGrant], [first.consumerId, first.admissionGrant])
        const live = (yield* steer("GET", `/distributions/${id}/live`)).body
        assert.deepStrictEqual([live.inside, live.waiting], [1, 1])
      })
    )

    it.effect("keeps its place in the line when its request is repeated", () =>
      Effect.gen(function* () {
        const { id, pass, steer } = yield* aSite({ insideLimit: 1 })
        yield* pass()
        const key = { "idempotency-key": randomUUID() }
        const answers = yield* Effect.all([pass({}, key), pass({}, key), pass({}, key)], { concurrency: "unbounded" })
        answers.push(yield* pass({}, key))
        for (const { body } of answers) {
          assert.deepStrictEqual(
            [body.status, body.position, body.consumerId],
            ["QUEUED", 1, answers[0].body.consumerId]
          )
        }
        const live = (yield* steer("GET", `/distributions/${id}/live`)).body
        assert.deepStrictEqual([live.inside, live.waiting], [1, 1])
      })
    )

    it.effect("is another one in another queue, although the name of the attempt is the same", () =>
      Effect.gen(function* () {
        const [one, two] = [yield* aSite(), yield* aSite()]
        const key = { "idempotency-key": randomUUID() }
        const [first, second] = [(yield* one.pass({}, key)).body, (yield* two.pass({}, key)).body]
        assert.deepStrictEqual([first.status, second.status], ["GRANTED", "GRANTED"])
        assert.notStrictEqual(first.consumerId, second.consumerId)
      })
    )

    it.effect("counts for its address: a crowd from one goes to the room, and others pass", () =>
      Effect.gen(function* () {
        const { id, pass, steer } = yield* aSite()
        const from = (clientAddress: string, headers: object = {}) => pass({ clientAddress }, headers)
        const key = { "idempotency-key": randomUUID() }
        const known = (yield* from("203.0.113.7", key)).body
        let refused: Effect.Success<ReturnType<typeof from>> | undefined
        let passed = 1
        for (let visitor = 0; visitor < 200 && refused === undefined; visitor++) {
          const answer = yield* from("203.0.113.7")
          if (answer.status === 200) passed++
          else refused = answer
        }
        assert.deepInclude(refused, { status: 403 })
        assert.strictEqual(refused!.body.code, "CHALLENGE_REQUIRED")
        // The refused one has no place, and one that was let in before may be repeated.
        assert.strictEqual((yield* steer("GET", `/distributions/${id}/live`)).body.inside, passed)
        assert.strictEqual((yield* from("203.0.113.7", key)).body.consumerId, known.consumerId)
        assert.strictEqual((yield* from("198.51.100.1")).status, 200)
        assert.strictEqual((yield* from("2001:db8::1")).status, 200)
        assert.strictEqual((yield* pass()).status, 200)
      })
    )

    it.effect("is refused with an address that is none", () =>
      Effect.gen(function* () {
        const { pass } = yield* aSite()
        for (const clientAddress of ["", "x", "203.0.113.7:80", "[::1]", "1.2.3.4, 5.6.7.8", "x".repeat(100), 7]) {
          assert.strictEqual((yield* pass({ clientAddress })).status, 400, String(clientAddress))
        }
        assert.strictEqual((yield* pass({ clientAddress: null })).status, 200)
      })
    )

    it.effect("is a consumer that the shop names, until its place has ended for good", () =>
      Effect.gen(function* () {
        const { pass, post, steer } = yield* aSite()
        const externalId = randomUUID()
        const first = (yield* pass({ externalId })).body
        const second = (yield* pass({ externalId })).body
        assert.deepStrictEqual([second.consumerId, second.admissionGrant], [first.consumerId, first.admissionGrant])
        const record = (yield* steer("GET", `/consumers/${first.consumerId}`)).body
        assert.deepInclude(record, { externalId, type: "authenticated" })
        yield* post("complete", { consumerId: first.consumerId })
        const refused = yield* pass({ externalId })
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "INVALID_STATUS"])
      })
    )

    it.effect("is refused as an entry is", () =>
      Effect.gen(function* () {
        const { queue, consumer, brand } = yield* Usher
        const pass = (id: string) =>
          consumer({ method: "POST", path: `/api/queues/${id}/pass`, headers: asServer(brand.secretKey), body: {} })
        const later = yield* pass(yield* queue({ openAt: soon(60) }))
        assert.deepStrictEqual([later.status, later.body.code], [423, "NOT_OPEN"])
        const full = yield* queue({ capacity: 1 })
        yield* pass(full)
        const refused = yield* pass(full)
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "QUEUE_FULL"])
        assert.isDefined(refused.headers["retry-after"])
        assert.strictEqual((yield* pass(yield* queue({ supportsGuest: false }))).status, 403)
      })
    )
  })
})

describe("A visitor who was seen", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("keeps its grant, which the gate names by token or `jti`", () =>
      withTestClock((advance) =>
        Effect.gen(function* () {
          const { pass, renew } = yield* aSite()
          const [one, two] = [(yield* pass()).body, (yield* pass()).body]
          const [first, second] = [claimsOf(one.admissionGrant).jti, claimsOf(two.admissionGrant).jti]
          yield* advance(1)
          const { status, body } = yield* renew(one.admissionGrant, second)
          assert.strictEqual(status, 200)
          assert.strictEqual(body.renewed, 2)
          assert.deepStrictEqual(
            body.results.map(({ jti }: { jti: string }) => jti),
            [first, second]
          )
          assert.strictEqual(seconds(body.results[0].expiresAt) - seconds(one.expiresAt), 1)
          const again = (yield* renew(first, second)).body
          assert.deepStrictEqual(again, body)
        })
      )
    )

    it.effect("is told apart from one whose grant has ended, and from other texts", () =>
      Effect.gen(function* () {
        const { pass, post, renew } = yield* aSite()
        const other = yield* aSite()
        const { consumerId, admissionGrant } = (yield* pass()).body
        const { jti } = claimsOf(admissionGrant)
        yield* post("complete", { consumerId })
        const foreign = claimsOf((yield* other.pass()).body.admissionGrant).jti
        const guessed = `${jti.slice(0, -1)}${jti.endsWith("A") ? "B" : "A"}`
        const { body } = yield* renew(jti, foreign, guessed, jti.split(".").slice(0, 2).join("."), "a.b.c", "")
        assert.strictEqual(body.renewed, 0)
        assert.deepStrictEqual(body.results[0], { jti, code: "GRANT_ENDED" })
        for (const result of body.results.slice(1)) {
          assert.deepStrictEqual(result, { jti: null, code: "INVALID_GRANT" })
        }
      })
    )

    it.effect("loses its grant when it is not seen: others move up, and shops that check offline learn of it", () =>
      withTestClock((advance) =>
        Effect.gen(function* () {
          const { consumer, brand } = yield* Usher
          const settings = { insideLimit: 1, admissionRenewal: { idleSeconds: 1, maxSeconds: 600 } }
          const { pass, post, status, renew } = yield* aSite(settings)
          const first = (yield* pass()).body
          const second = (yield* pass()).body
          assert.deepStrictEqual([first.status, second.status], ["GRANTED", "QUEUED"])
          yield* advance(1)
          assert.strictEqual((yield* status(second.accessToken)).body.status, "GRANTED")
          const { jti } = claimsOf(first.admissionGrant)
          assert.deepStrictEqual((yield* renew(jti)).body.results, [{ jti, code: "GRANT_ENDED" }])
          const shown = { consumerId: first.consumerId, token: first.admissionGrant }
          assert.deepInclude((yield* post("validate", shown)).body, { valid: false, code: "GRANT_EXPIRED" })
          const headers = asServer(brand.secretKey)
          const { data } = (yield* consumer({ path: "/api/grants/revoked", headers })).body
          const listed = data.find((one: { jti: string }) => one.jti === jti)
          assert.deepInclude(listed, { status: "EXPIRED" })
          assert.closeTo(seconds(listed.expiresAt), claimsOf(first.admissionGrant).exp, 1)
        })
      )
    )

    it.effect("needs a queue that renews grants, and at most 1,000 grants in a request", () =>
      Effect.gen(function* () {
        const { pass, renew } = yield* aSite({ admissionRenewal: null })
        const { admissionGrant } = (yield* pass()).body
        const refused = yield* renew(admissionGrant)
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "NOT_RENEWABLE"])
        const site = yield* aSite()
        assert.strictEqual((yield* site.renew()).status, 400)
        assert.strictEqual((yield* site.renew(...Array.from({ length: 1_001 }, () => "a.b.c"))).status, 400)
        const many = yield* site.renew(...Array.from({ length: 1_000 }, () => "a.b.c"))
        assert.deepStrictEqual([many.status, many.body.renewed, many.body.results.length], [200, 0, 1_000])
      })
    )
  })
})
