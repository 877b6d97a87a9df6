/** Requests that are sent more than once with an idempotency key. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { hash, randomUUID } from "node:crypto"
import { request } from "node:http"
import { removeExpired } from "../../../../src/auth/sessions/Expiry.ts"
import * as Server from "../../../../src/http/server/Server.ts"
import { IdempotencyKeys } from "../../../../src/store/coordination/IdempotencyKeys.ts"
import { movableClock } from "../../../support/movableClock.ts"
import { type Answer, asServer, send, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"

const clock = movableClock()

/** Sends a POST of the brand to one of its servers. */
const post = Effect.fnUntraced(function* (
  path: string,
  body: unknown,
  key: string,
  options: { readonly as?: string; readonly at?: string } = {}
) {
  const { adminUrl, brand } = yield* Usher
  const headers = { ...asServer(options.as ?? brand.secretKey), "idempotency-key": key }
  return yield* send(options.at ?? adminUrl, { method: "POST", path: `/api${path}`, headers, body })
})

const isReplayed = ({ headers }: Answer) => headers["idempotency-replayed"] === "true"

/** Counts the audiences with this name, of all tenants. */
const audiencesNamed = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql<{ count: number }>`select count(*)::int as count from audiences where name = ${name}`)[0]!.count
})

/** Makes Postgres run a statement before it inserts an audience with this name. */
const whenMade = Effect.fnUntraced(function* (name: string, statement: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe(`
    create or replace function test_on_audience() returns trigger language plpgsql as $$ begin
      if new.name = '${name}' then ${statement}; end if; return new;
    end $$`)
  yield* sql.unsafe(`
    create or replace trigger test_on_audience before insert on audiences
    for each row execute function test_on_audience()`)
})

/** Writes the request's claim as a process leaves it that has died since. */
const claimedBySomeone = Effect.fnUntraced(function* (path: string, body: unknown, key: string) {
  const { brand } = yield* Usher
  const keys = yield* IdempotencyKeys
  const tenant = { organizationId: brand.organizationId, mode: "live" } as const
  const fingerprint = hash("sha256", `POST /api${path}\n${JSON.stringify(body)}`, "buffer")
  const claim = yield* keys.claim({ tenant, key, fingerprint })
  assert.strictEqual(claim._tag, "Claimed")
})

const services = IdempotencyKeys.layer.pipe(Layer.provideMerge(Fixture.layer), Layer.provide(clock.layer))

describe("A POST with an Idempotency-Key", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("runs once for fifty simultaneous calls on two servers, and all get the same answer", () =>
      Effect.gen(function* () {
        const { adminUrl } = yield* Usher
        const other = Context.get(yield* Fixture.anotherServer, Server.Listeners).adminUrl
        for (const urls of [[adminUrl], [adminUrl, other]]) {
          const name = `Friends ${randomUUID()}`
          const key = randomUUID()
          const answers = yield* Effect.forEach(
            Array.from({ length: 50 }, (_, index) => urls[index % urls.length]!),
            (at) => post("/audiences", { name }, key, { at }),
            { concurrency: "unbounded" }
          )
          for (const { status, text } of answers) assert.deepStrictEqual([status, text], [201, answers[0]!.text])
          assert.strictEqual(answers.filter((answer) => !isReplayed(answer)).length, 1)
          assert.strictEqual(yield* audiencesNamed(name), 1)
        }
      })
    )

    it.effect("creates one mechanism, however many calls there are", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const sequence = {
          experienceId: (yield* post("/experiences", { name: "Drop" }, randomUUID())).body.id,
          name: "Sale"
        }
        const sequenceId = (yield* post("/sequences", sequence, randomUUID())).body.id
        const key = randomUUID()
        const answers = yield* Effect.forEach(
          Array.from({ length: 20 }),
          () => post("/queues", { sequenceId, name: "Line", admitRate: 0 }, key),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(new Set(answers.map(({ text }) => text)).size, 1)
        const path = `/api/queues?sequenceId=${sequenceId}`
        assert.lengthOf((yield* admin({ path, headers: asServer(brand.secretKey) })).body.data, 1)
      })
    )

    it.effect("binds its key to its body and path; each tenant has separate keys", () =>
      Effect.gen(function* () {
        const { brand, stranger } = yield* Usher
        const key = "order/17:~!"
        const body = { name: `Friends ${randomUUID()}` }
        const first = yield* post("/audiences", body, key)
        for (const [path, other] of [
          ["/audiences", { name: "Others" }],
          ["/audiences", `${JSON.stringify(body)} `],
          ["/audiences?a=b", body],
          ["/experiences", body]
        ] as const) {
          const refused = yield* post(path, other, key)
          assert.deepStrictEqual([refused.status, refused.body.code], [409, "IDEMPOTENCY_KEY_REUSED"], path)
          assert.isFalse(isReplayed(refused))
        }
        const ids = new Set([first.body.id])
        for (const as of [brand.testSecretKey, stranger.secretKey]) {
          const answer = yield* post("/audiences", body, key, { as })
          assert.deepStrictEqual([answer.status, isReplayed(answer)], [201, false])
          ids.add(answer.body.id)
        }
        assert.strictEqual(ids.size, 3)
        const again = yield* post("/audiences", body, key)
        assert.deepStrictEqual([again.status, again.text, isReplayed(again)], [201, first.text, true])
        for (const name of ["content-type", "content-length"])
          assert.strictEqual(again.headers[name], first.headers[name])
      })
    )

    it.effect("repeats refusals that only another request can avoid, except those about the credential", () =>
      Effect.gen(function* () {
        const { stranger } = yield* Usher
        for (const [path, body, status] of [
          ["/sequences", { name: "Sale", experienceId: randomUUID() }, 404],
          [`/queues/${randomUUID()}/end`, {}, 404]
        ] as const) {
          const key = randomUUID()
          const first = yield* post(path, body, key)
          const again = yield* post(path, body, key)
          assert.deepStrictEqual([first.status, isReplayed(first)], [status, false])
          assert.deepStrictEqual([again.status, again.text, isReplayed(again)], [status, first.text, true])
        }
        const key = randomUUID()
        const as = `${stranger.secretKey.slice(0, -4)}AAAA`
        assert.strictEqual((yield* post("/audiences", { name: "Friends" }, key, { as })).status, 401)
        const known = yield* post("/audiences", { name: "Friends" }, key, { as: stranger.secretKey })
        assert.deepStrictEqual([known.status, isReplayed(known)], [201, false])
      })
    )

    it.effect("accepts a corrected body after a 400, and then binds the key to that body", () =>
      Effect.gen(function* () {
        for (const wrong of [{ name: 1 }, "{", { name: "" }]) {
          const key = randomUUID()
          const body = { name: `Corrected ${randomUUID()}` }
          for (const attempt of [1, 2]) {
            const refused = yield* post("/audiences", wrong, key)
            assert.deepStrictEqual([refused.status, isReplayed(refused)], [400, false], `attempt ${attempt}`)
          }
          const made = yield* post("/audiences", body, key)
          assert.deepStrictEqual([made.status, isReplayed(made)], [201, false])
          const again = yield* post("/audiences", body, key)
          assert.deepStrictEqual([again.text, isReplayed(again)], [made.text, true])
          assert.strictEqual((yield* post("/audiences", wrong, key)).body.code, "IDEMPOTENCY_KEY_REUSED")
        }
      })
    )

    it.effect("is free after a 400 about a missing record; fifty simultaneous corrections create one record", () =>
      Effect.gen(function* () {
        const key = randomUUID()
        const unknown = yield* post("/orders", { consumerId: randomUUID() }, key)
        assert.strictEqual(unknown.status, 400)
        const sql = yield* SqlClient.SqlClient
        assert.deepStrictEqual(yield* sql`select 1 from idempotency_keys where key = ${key}`, [])
        const body = { name: `Corrected ${randomUUID()}` }
        const answers = yield* Effect.forEach(Array.from({ length: 50 }), () => post("/audiences", body, key), {
          concurrency: "unbounded"
        })
        for (const { status, text } of answers) assert.deepStrictEqual([status, text], [201, answers[0]!.text])
        assert.strictEqual(yield* audiencesNamed(body.name), 1)
      })
    )

    it.effect("runs again after a defect, and then its answer is kept", () =>
      Effect.gen(function* () {
        const body = { name: `Broken ${randomUUID()}` }
        const key = randomUUID()
        yield* whenMade(body.name, "raise exception 'no' using errcode = 'check_violation'")
        for (const attempt of [1, 2]) {
          const failed = yield* post("/audiences", body, key)
          assert.deepStrictEqual([failed.status, isReplayed(failed)], [500, false], `attempt ${attempt}`)
        }
        yield* whenMade("nobody", "null")
        assert.strictEqual((yield* post("/audiences", { name: "Another" }, key)).body.code, "IDEMPOTENCY_KEY_REUSED")
        const made = yield* post("/audiences", body, key)
        assert.deepStrictEqual([made.status, isReplayed(made)], [201, false])
        const again = yield* post("/audiences", body, key)
        assert.deepStrictEqual([again.text, isReplayed(again)], [made.text, true])
        assert.strictEqual(yield* audiencesNamed(body.name), 1)
      })
    )

    it.effect("runs to its end although its caller has disconnected, and the repeat gets the answer", () =>
      Effect.gen(function* () {
        const { adminUrl, brand } = yield* Usher
        const body = { name: `Slow ${randomUUID()}` }
        const key = randomUUID()
        yield* whenMade(body.name, "perform pg_sleep(1)")
        const headers = { ...asServer(brand.secretKey), "idempotency-key": key, "content-type": "application/json" }
        const gone = request(`${adminUrl}/api/audiences`, { method: "POST", agent: false, headers })
        gone.on("error", () => {})
        gone.end(JSON.stringify(body))
        yield* Effect.sleep("500 millis")
        gone.destroy()
        const answer = yield* post("/audiences", body, key)
        assert.deepStrictEqual([answer.status, isReplayed(answer)], [201, true])
        assert.strictEqual(yield* audiencesNamed(body.name), 1)
        yield* whenMade("nobody", "null")
      })
    )

    it.effect("is refused while another process runs it, and runs on a repeat if that process has died", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const body = { name: `Orphan ${randomUUID()}` }
        const key = randomUUID()
        yield* claimedBySomeone("/audiences", body, key)
        const waiting = yield* post("/audiences", body, key)
        assert.deepStrictEqual([waiting.status, waiting.body.code], [409, "IDEMPOTENCY_IN_PROGRESS"])
        assert.match(waiting.headers["retry-after"]!, /^[1-9]\d*$/)
        assert.strictEqual((yield* post("/audiences", { name: "x" }, key)).body.code, "IDEMPOTENCY_KEY_REUSED")
        yield* sql`update idempotency_keys set lease_until = clock_timestamp() + interval '1 second' where key = ${key}`
        const answers = yield* Effect.forEach(Array.from({ length: 10 }), () => post("/audiences", body, key), {
          concurrency: "unbounded"
        })
        for (const { status, text } of answers) assert.deepStrictEqual([status, text], [201, answers[0]!.text])
        assert.strictEqual(yield* audiencesNamed(body.name), 1)
      })
    )

    it.effect("gets its first answer again if that holds a webhook's secret, which is stored sealed", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const key = randomUUID()
        const webhook = { url: "https://shop.example/hooks", events: ["order.created"] }
        for (const body of [webhook, { ...webhook, secret: "a secret of the shop's own" }]) {
          const key = randomUUID()
          const created = yield* post("/webhooks", body, key)
          const again = yield* post("/webhooks", body, key)
          assert.deepStrictEqual([again.status, again.body], [201, created.body])
          assert.strictEqual(again.headers["idempotency-replayed"], "true")
          assert.strictEqual((yield* post("/webhooks", { ...body, description: "x" }, key)).status, 409)
          const [row] =
            yield* sql`select body, sealed_body is not null as sealed from idempotency_keys where key = ${key}`
          assert.deepStrictEqual(row, { body: null, sealed: true })
        }
        const created = yield* post("/webhooks", webhook, randomUUID())
        const rotate = post(`/webhooks/${created.body.id}/secret/rotate`, {}, key)
        const rotated = yield* rotate
        assert.notStrictEqual(rotated.body.secret, created.body.secret)
        assert.deepStrictEqual((yield* rotate).body, rotated.body)
      })
    )

    it.effect("runs once if it creates an API key, and its answer is not stored", () =>
      Effect.gen(function* () {
        const { consumer, stranger } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        const key = randomUUID()
        const rotate = post("/api-keys/publishable/rotate", undefined, key, { as: stranger.secretKey })
        const first = yield* rotate
        assert.strictEqual(first.status, 200)
        const again = yield* rotate
        assert.deepStrictEqual([again.status, again.body.code], [409, "IDEMPOTENCY_ANSWER_NOT_KEPT"])
        assert.notInclude(again.text, first.body.key)
        const [row] = yield* sql`select status, body from idempotency_keys where key = ${key}`
        assert.deepStrictEqual(row, { status: 200, body: null })
        const headers = { "x-publishable-key": first.body.key }
        assert.strictEqual((yield* consumer({ method: "POST", path: "/api/auth/guest", headers })).status, 200)
      })
    )

    it.effect("accepts keys of 1 to 255 visible characters", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const body = { name: "Friends" }
        assert.strictEqual((yield* post("/audiences", body, "k".repeat(255))).status, 201)
        for (const key of ["", "k".repeat(256), "two words", "schl\u00fcssel", "a\tb"]) {
          const { status, body: refused } = yield* post("/audiences", body, key)
          assert.deepStrictEqual([status, refused.issues[0].path[0].key], [400, "idempotency-key"], key)
        }
        const headers = { ...asServer(brand.secretKey), "idempotency-key": "two words" }
        assert.strictEqual((yield* admin({ path: "/api/audiences", headers })).status, 200, "a GET takes none")
      })
    )

    it.effect("stores nothing without the header", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        const count = Effect.map(sql`select 1 from idempotency_keys`, (rows) => rows.length)
        const before = yield* count
        const made: Array<string> = []
        for (let index = 0; index < 2; index++) {
          const headers = asServer(brand.secretKey)
          made.push(
            (yield* admin({ method: "POST", path: "/api/audiences", headers, body: { name: "Twice" } })).body.id
          )
        }
        assert.notStrictEqual(made[0], made[1])
        assert.strictEqual(yield* count, before)
      })
    )

    it.effect("is answered from storage for a day, and then counts as a new request", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const body = { name: `Daily ${randomUUID()}` }
        const key = randomUUID()
        const first = yield* post("/audiences", body, key)
        yield* clock.putForward(86_400_000 - 60_000)
        yield* removeExpired
        assert.strictEqual((yield* post("/audiences", body, key)).body.id, first.body.id)
        yield* clock.putForward(120_000)
        const next = yield* post("/audiences", body, key)
        assert.deepStrictEqual([next.status, isReplayed(next)], [201, false])
        assert.notStrictEqual(next.body.id, first.body.id)
        assert.strictEqual((yield* post("/audiences", body, key)).body.id, next.body.id)
        yield* clock.putForward(86_400_000 + 60_000)
        // The servers remove old rows too, and each skips the rows that another has locked.
        const left = Effect.andThen(removeExpired, sql`select 1 from idempotency_keys`)
        yield* left.pipe(Effect.repeat({ until: (rows) => rows.length === 0, schedule: Schedule.spaced("10 millis") }))
      }).pipe(Effect.provide(clock.layer))
    )
  })
})
