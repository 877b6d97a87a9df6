/** A database whose secrets are sealed: nothing in a copy of it can forge, and the key can be changed. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Schedule, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { importJWK, SignJWT } from "jose"
import { createHmac, randomBytes, randomUUID } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as TestDatabase from "../store/support/TestDatabase.ts"
import { organization, serving } from "./servingProcess.ts"
import * as UsherInProcess from "./usherInProcess.ts"
import * as Usher from "./usherProcess.ts"

const newKey = () => randomBytes(32).toString("base64")

const database = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  const sql = yield* PgClient.make({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
  return { url, sql }
})

interface Served {
  readonly consumerUrl: string
  readonly adminUrl: string
  readonly secretKey: string
  readonly publishableKey: string
}

const hasToken = Schema.is(Schema.Struct({ accessToken: Schema.String }))
const CreatedWebhook = Schema.Struct({ secret: Schema.String })
const Outbox = Schema.Struct({ data: Schema.Array(Schema.Struct({ text: Schema.String })) })

/** Posts to the Consumer API. `accessToken` is empty if the response has none. */
const post = ({ consumerUrl, publishableKey }: Served, path: string, body?: object, headers?: Record<string, string>) =>
  Effect.promise(async () => {
    const response = await fetch(`${consumerUrl}/api${path}`, {
      method: "POST",
      headers: {
        "x-publishable-key": publishableKey,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers
      },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const answer: unknown = await response.json()
    return { status: response.status, body: { accessToken: hasToken(answer) ? answer.accessToken : "" } }
  })

/** Creates a webhook. Returns its secret. */
const webhookSecret = ({ adminUrl, secretKey }: Served) =>
  Effect.promise(async () => {
    const headers = { authorization: `Bearer ${secretKey}`, "content-type": "application/json" }
    const body = JSON.stringify({ url: "https://shop.example/", events: ["distribution.joined"] })
    const response = await fetch(`${adminUrl}/api/webhooks`, { method: "POST", headers, body })
    return Schema.decodeUnknownSync(CreatedWebhook)(await response.json()).secret
  })

const statusWith = ({ consumerUrl, publishableKey }: Served, token: string) =>
  Effect.promise(async () => {
    const headers = { "x-publishable-key": publishableKey, authorization: `Bearer ${token}` }
    return (await fetch(`${consumerUrl}/api/consumers/me`, { headers })).status
  })

/** True if the code has the stored hash under this secret. So all codes could be tried. */
const isFound = (row: any, secret: Uint8Array, code: string): boolean => {
  const text = JSON.stringify([row.organization_id, row.mode, row.channel, row.address, code])
  return createHmac("sha256", secret).update(text).digest("hex") === Buffer.from(row.hash).toString("hex")
}

const sentCode = ({ adminUrl, secretKey }: Served) =>
  Effect.promise(async () => {
    const response = await fetch(`${adminUrl}/api/outbox`, { headers: { authorization: `Bearer ${secretKey}` } })
    const [latest] = Schema.decodeUnknownSync(Outbox)(await response.json()).data
    return latest === undefined ? undefined : /\b\d{6}\b/.exec(latest.text)![0]
  }).pipe(Effect.repeat({ until: (code) => code !== undefined, schedule: Schedule.spaced("20 millis") }))

/** The forgeries that a reader of a copy of the database can make: tokens, and the code in the table. */
const forgeries = Effect.fnUntraced(function* (sql: PgClient.PgClient, token: string, sent: string) {
  const [key] = yield* sql<any>`select * from signing_keys`
  const [secret] = yield* sql<any>`select secret from server_secrets where name = 'one_time_codes'`
  const [row] = yield* sql<any>`select * from one_time_codes order by sent_at desc limit 1`
  const claims = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString())
  const sign = (changes: object) =>
    Effect.promise(async () =>
      new SignJWT({ ...claims, jti: randomUUID(), ...changes })
        .setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid: key.kid })
        .sign(await importJWK(key.private_key, "EdDSA"))
    )
  return {
    isCodeFound: isFound(row, secret.secret, sent),
    tokens:
      key.private_key === null
        ? undefined
        : { ofSession: yield* sign({}), ofNoSession: yield* sign({ sessionId: randomUUID() }) }
  }
})

describe("A copy of the database", () => {
  it.live("without SECRETS_KEY forges codes and tokens, as the start says, but no session that never was", () =>
    Effect.gen(function* () {
      const { url, sql } = yield* database
      const usher = yield* serving({ DATABASE_URL: url })
      assert.include(usher.stderr(), "SECRETS_KEY is not set. A copy of the database")
      const served = { ...usher, ...(yield* organization({ DATABASE_URL: url })) }
      const { body } = yield* post(served, "/auth/guest")
      yield* post(served, "/auth/otp/request", { email: "ann@example.com" })
      const { isCodeFound, tokens } = yield* forgeries(sql, body.accessToken, (yield* sentCode(served))!)
      assert.isTrue(isCodeFound)
      assert.strictEqual(yield* statusWith(served, tokens!.ofSession), 200)
      assert.strictEqual(yield* statusWith(served, tokens!.ofNoSession), 401)
    }).pipe(Effect.scoped)
  )

  it.live("with SECRETS_KEY holds no key and no code that can be found; another key reads nothing of it", () =>
    Effect.gen(function* () {
      const { url, sql } = yield* database
      const settings = { DATABASE_URL: url, SECRETS_KEY: newKey() }
      const usher = yield* serving(settings)
      const served = { ...usher, ...(yield* organization(settings)) }
      const { body } = yield* post(served, "/auth/guest")
      yield* post(served, "/auth/otp/request", { email: "ann@example.com" })
      const { isCodeFound, tokens } = yield* forgeries(sql, body.accessToken, (yield* sentCode(served))!)
      assert.isFalse(isCodeFound)
      assert.isUndefined(tokens)
      const secret = yield* webhookSecret(served)
      assert.match(secret, /^whsec_/)
      const [webhook] = yield* sql<any>`select * from webhooks`
      assert.isFalse(Buffer.from(webhook.secret).includes(secret.slice(-8)))
      assert.include(
        (yield* UsherInProcess.run(["secrets", "list"], settings)).stdout,
        `webhook_secret:${webhook.id}  sealed with ${webhook.secret_sealed_by}`
      )
      assert.strictEqual(yield* statusWith(served, body.accessToken), 200)
      for (const key of [{ SECRETS_KEY: newKey() }, {}]) {
        const refused = yield* UsherInProcess.run(["serve"], {
          DATABASE_URL: url,
          CONSUMER_PORT: "0",
          ADMIN_PORT: "0",
          ...key
        })
        assert.strictEqual(refused.code, 1)
        assert.match(refused.stderr, /was sealed with the key [0-9a-f]{16}, which SECRETS_KEY does not have/)
      }
    }).pipe(Effect.scoped)
  )
})

describe("The key of the secrets", () => {
  it.live("is changed by a command while servers run; the former key is not needed afterwards", () =>
    Effect.gen(function* () {
      const { url } = yield* database
      const { parent } = yield* Usher.dataFolder
      const [former, next] = [newKey(), newKey()]
      const file = join(parent, "keys")
      const both = { DATABASE_URL: url, SECRETS_KEY_FILE: file }
      writeFileSync(file, `${former}\n`)
      const first = yield* serving(both)
      const keys = yield* organization(both)
      const served = { ...first, ...keys }
      const { body } = yield* post(served, "/auth/guest")
      const before = JSON.parse((yield* UsherInProcess.run(["secrets", "list", "--json"], both)).stdout)
      writeFileSync(file, `${next}\n${former}\n`)
      const sealing = yield* Usher.run(["secrets", "seal"], both)
      assert.strictEqual(sealing.code, 0, sealing.stderr)
      assert.include(sealing.stdout, `1 of ${before.length}: signing_key:`)
      assert.include(sealing.stdout, `${before.length} of ${before.length}: server_secret:`)
      const after = JSON.parse((yield* UsherInProcess.run(["secrets", "list", "--json"], both)).stdout)
      assert.deepStrictEqual(
        after.map(({ name }: any) => name),
        before.map(({ name }: any) => name)
      )
      assert.strictEqual(new Set(after.map(({ sealedBy }: any) => sealedBy)).size, 1)
      assert.notStrictEqual(after[0].sealedBy, before[0].sealedBy)
      assert.include((yield* UsherInProcess.run(["secrets", "seal"], both)).stdout, "0 were not before")
      // The running server has only the former key and continues; a new one with only the next key accepts its tokens.
      assert.strictEqual(yield* statusWith(served, body.accessToken), 200)
      const second = yield* serving({ DATABASE_URL: url, SECRETS_KEY: next })
      assert.strictEqual(yield* statusWith({ ...second, ...keys }, body.accessToken), 200)
    }).pipe(Effect.scoped)
  )

  it.live("is refused if it is not 32 bytes, and is never shown", () =>
    Effect.gen(function* () {
      const wrong = randomBytes(20).toString("base64")
      const { code, stderr } = yield* UsherInProcess.run(["secrets", "list"], { SECRETS_KEY: wrong })
      assert.strictEqual(code, 1)
      assert.include(stderr, "SECRETS_KEY must be 32 random bytes")
      assert.notInclude(stderr, wrong)
    })
  )
})
