/** `usher webhooks`: what its commands send, to a real endpoint on loopback, and what they leave behind. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomUUID } from "node:crypto"
import { Webhook as Verifier } from "standardwebhooks"
import { payloadProblem } from "../support/webhookPayloads.ts"
import * as TestDatabase from "../store/support/TestDatabase.ts"
import { aReceiver } from "../workers/support/webhookReceiver.ts"
import { organization, serving } from "./servingProcess.ts"
import * as UsherInProcess from "./usherInProcess.ts"
import * as Usher from "./usherProcess.ts"

const secret = "a secret of sixteen"
const settings = { WEBHOOK_NETWORKS: "127.0.0.0/8" }

/** A database with one organization, and an endpoint. */
const aWorld = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  const sql = yield* PgClient.make({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
  const { organizationId } = yield* organization({ DATABASE_URL: url })
  const stamps = { created_at: new Date(), created_by: "k", updated_at: new Date(), updated_by: "k" }
  const owned = () => ({ id: randomUUID(), organization_id: organizationId, mode: "live", ...stamps })
  const receiver = yield* aReceiver

  /** Creates an experience, which is an event. */
  const anExperience = Effect.gen(function* () {
    const row = { ...owned(), name: "Drop", record: JSON.stringify({ timeZone: "UTC" }) }
    yield* sql`insert into experiences ${sql.insert(row)}`
    return row.id
  })

  /** Creates a webhook of the endpoint, which begins with the next event. */
  const aWebhook = Effect.gen(function* () {
    const record = JSON.stringify({ events: ["experience.created"] })
    const row = { ...owned(), record, url: receiver.url, secret: Buffer.from(secret) }
    yield* sql`insert into webhooks ${sql.insert(row)}`
    yield* sql`
      insert into webhook_cursors (webhook_id, subject_id, sequence)
      select ${row.id}::uuid, organization_id, sequence from tenant_heads where mode = 'live'`
    return row.id
  })

  const cursor = Effect.map(
    sql<{ readonly sequence: number }>`select sequence::float8 as sequence from webhook_cursors`,
    (rows) => rows[0]!.sequence
  )
  const here = (...args: ReadonlyArray<string>) =>
    UsherInProcess.run(["webhooks", ...args], { DATABASE_URL: url, ...settings })
  return { url, sql, receiver, anExperience, aWebhook, cursor, here }
})

describe("usher webhooks", () => {
  it.live("listen sends each event from now on, signed, prints the answers, and leaves nothing behind", () =>
    Effect.gen(function* () {
      const { url, sql, receiver, anExperience } = yield* aWorld
      yield* anExperience
      const command = ["webhooks", "listen", "--forward-to", receiver.url, "--json"]
      const run = yield* Usher.start(command, { DATABASE_URL: url })
      yield* Usher.until(() => run.stdout().includes("whsec_") || run.child.exitCode !== null)
      const first = yield* anExperience
      yield* Usher.until(() => receiver.received.length === 1)
      receiver.answer = () => 500
      const second = yield* anExperience
      yield* Usher.until(() => run.stdout().trim().split("\n").length === 3)
      run.child.kill("SIGINT")
      const { code, stdout, stderr } = yield* Usher.end(run)
      assert.deepStrictEqual([code, stderr], [130, ""])

      const [started, ...answers] = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line))
      const verifier = new Verifier(started.secret)
      const ids = receiver.received.map(({ headers, body }) => {
        const payload = verifier.verify(body, headers) as { type: string; data: { experience_id: string } }
        assert.isUndefined(payloadProblem(payload))
        return payload.data.experience_id
      })
      assert.deepStrictEqual(ids, [first, second])
      assert.deepStrictEqual(
        answers.map(({ id, type, statusCode }) => [id, type, statusCode]),
        [204, 500].map((status, n) => [receiver.received[n]!.id, "experience.created", status])
      )
      assert.deepStrictEqual(yield* sql`select * from webhooks`, [])
      assert.deepStrictEqual(yield* sql`select * from webhook_cursors`, [])
    })
  )

  it.live("listen names the flag for an organization that it does not know", () =>
    Effect.gen(function* () {
      const { here } = yield* aWorld
      const { code, stderr } = yield* here(
        "listen",
        "--forward-to",
        "http://127.0.0.1:1/",
        "--organization",
        randomUUID()
      )
      assert.strictEqual(code, 1)
      assert.include(stderr, "--organization: there is no organization")
    })
  )

  it.live("trigger sends the example of a type, and ends with the endpoint's opinion", () =>
    Effect.gen(function* () {
      const { receiver, aWebhook, here } = yield* aWorld
      assert.include((yield* here("trigger", "order.paid")).stderr, "--webhook: there is no webhook")
      const id = yield* aWebhook
      const taken = yield* here("trigger", "order.needs_attention", "--json")
      assert.deepStrictEqual([taken.code, taken.stderr], [0, ""])
      assert.deepInclude(JSON.parse(taken.stdout), { webhookId: id, type: "order.needs_attention", statusCode: 204 })
      const { headers, body } = receiver.received[0]!
      const payload = JSON.parse(body)
      assert.isUndefined(payloadProblem(payload))
      assert.match(payload.id, /^evt_test_/)
      const at = new Date(Number(headers["webhook-timestamp"]) * 1_000)
      const expected = new Verifier(Buffer.from(secret).toString("base64")).sign(payload.id, at, body)
      assert.strictEqual(headers["webhook-signature"], expected)

      receiver.answer = () => 503
      const refused = yield* here("trigger", "order.paid", "--webhook", id)
      assert.strictEqual(refused.code, 1)
      assert.match(refused.stdout, /^503 {2}order\.paid/)
      yield* aWebhook
      assert.include((yield* here("trigger", "order.paid")).stderr, "several webhooks, so name one")
      assert.include((yield* here("trigger", "order.paid", "--webhook", randomUUID())).stderr, "there is no webhook")
    })
  )

  it.live("replay moves the webhook back to an instant or a number, and repeats failed deliveries", () =>
    Effect.gen(function* () {
      const { sql, anExperience, aWebhook, cursor, here } = yield* aWorld
      for (let n = 0; n < 3; n++) yield* anExperience
      const id = yield* aWebhook
      const last = yield* cursor
      const replayed = (...from: ReadonlyArray<string>) => here("replay", "--webhook", id, "--from", ...from)
      assert.strictEqual((yield* replayed("2999-01-01T00:00:00Z")).code, 0)
      assert.strictEqual(yield* cursor, last)
      assert.strictEqual((yield* replayed(`${last - 1}`)).code, 0)
      assert.strictEqual(yield* cursor, last - 2)
      assert.strictEqual((yield* replayed("2020-01-01T00:00:00Z")).code, 0)
      assert.strictEqual(yield* cursor, 0)
      const body = JSON.stringify({ organization_id: id, sequence: 1 })
      yield* sql`
        insert into webhook_deliveries (webhook_id, event_id, id, type, status, attempts, body, created_at, updated_at)
        values (${id}, 'evt_1', ${randomUUID()}, 'order.paid', 'FAILED', '[]', ${body}, now(), now())`
      const failed = yield* replayed("failed", "--json")
      assert.deepStrictEqual(JSON.parse(failed.stdout), { webhookId: id, deliveries: 1 })
      assert.lengthOf(yield* sql`select * from webhook_held`, 1)
    })
  )

  it.live("deliver does the work that servers leave with WEBHOOK_DELIVERY=false", () =>
    Effect.gen(function* () {
      const { url, sql, receiver, anExperience, aWebhook, here } = yield* aWorld
      const heardAt = Effect.map(
        sql<{ readonly heard_at: Date }>`select heard_at from nodes`,
        (rows) => rows[0]?.heard_at.getTime() ?? 0
      )
      yield* serving({ DATABASE_URL: url, WEBHOOK_DELIVERY: "false", ...settings })
      yield* aWebhook
      const id = yield* anExperience
      // The server is alive and has polled at least twice in this time.
      const since = yield* heardAt
      yield* Effect.repeat(heardAt, { until: (at) => at >= since + 3_000, schedule: Schedule.spaced("50 millis") })
      assert.lengthOf(receiver.received, 0)
      yield* Effect.raceFirst(
        here("deliver"),
        Usher.until(() => receiver.received.length === 1)
      )
      assert.strictEqual(JSON.parse(receiver.received[0]!.body).data.experience_id, id)
    })
  )
})
