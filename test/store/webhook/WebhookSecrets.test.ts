/** The secrets of webhooks in the database: sealed, listed among the other secrets, and resealed when the key changes. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { CurrentKeyring } from "../../../src/store/secrets/CurrentKeyring.ts"
import { list, sealAll } from "../../../src/store/secrets/SealedSecrets.ts"
import { type Keyring, keyOf, keyringOf } from "../../../src/store/secrets/Sealing.ts"
import { WebhookOutbox } from "../../../src/store/webhook/WebhookOutbox.ts"
import { Webhooks } from "../../../src/store/webhook/Webhooks.ts"
import { aQueue, aTenant, layer as records } from "../support/recordsFixture.ts"

const former = keyOf(randomBytes(32))
const present = keyOf(randomBytes(32))

/** Runs it in a process with these keys. */
const withKeys = (keyring: Keyring) =>
  Effect.provide(
    Layer.fresh(Layer.merge(Webhooks.layer, WebhookOutbox.layer)).pipe(
      Layer.provideMerge(Layer.succeed(CurrentKeyring, keyring))
    )
  )

const aRotatedWebhook = Effect.fnUntraced(function* (tenant: Tenant) {
  const webhooks = yield* Webhooks
  const settings = { url: "https://shop.example/", events: ["distribution.updated"] as const }
  const created = yield* webhooks.create(tenant, "test", settings, undefined)
  const rotated = yield* webhooks.rotateSecret(tenant, created.webhook.id, "test", 3_600)
  return { id: created.webhook.id, secrets: [rotated.secret, created.secret] as const }
})

/** The secrets that requests to the webhook are signed with; undefined if the process cannot open them. */
const signedWith = Effect.fnUntraced(function* (id: string) {
  const outbox = yield* WebhookOutbox
  return (yield* outbox.endpoints(Date.now())).find((endpoint) => endpoint.id === id)?.secrets
})

/** All rows of webhooks, as a dump shows them. */
const dumped = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly text: string }>`select w::text as text from webhooks w`
  return rows.map(({ text }) => text).join("\n")
})

/** The forms in which a dump could contain a secret. */
const formsOf = (secret: string) => [
  secret,
  Buffer.from(secret).toString("hex"),
  Buffer.from(secret).toString("base64")
]

const sealers = Effect.fnUntraced(function* (id: string) {
  const found = (yield* list).filter(({ name }) => name.endsWith(id))
  return Object.fromEntries(found.map(({ name, sealedBy }) => [name.split(":")[0]!, sealedBy]))
})

describe("The secrets of webhooks", () => {
  layer(Layer.merge(records, Layer.succeed(References.MinimumLogLevel, "None")), { excludeTestServices: true })(
    (it) => {
      it.effect("are sealed when a key is set for the first time", () =>
        Effect.gen(function* () {
          const tenant = yield* aTenant()
          const { id, secrets } = yield* aRotatedWebhook(tenant).pipe(withKeys(keyringOf([])))
          yield* aQueue(tenant)
          assert.include(yield* dumped, Buffer.from(secrets[0]).toString("hex"))
          yield* sealAll(() => Effect.void).pipe(withKeys(keyringOf([present])))
          const text = yield* dumped
          for (const form of secrets.flatMap(formsOf)) assert.notInclude(text, form)
          assert.deepStrictEqual(yield* signedWith(id).pipe(withKeys(keyringOf([present]))), secrets)
        })
      )

      it.effect("are in no dump of a database with a key, and sign all the same", () =>
        Effect.gen(function* () {
          const tenant = yield* aTenant()
          const { id, secrets } = yield* aRotatedWebhook(tenant)
          yield* aQueue(tenant)
          assert.deepStrictEqual(yield* signedWith(id), secrets)
          assert.strictEqual((yield* (yield* Webhooks).target(tenant, id)).secret, secrets[0])
          const text = yield* dumped
          assert.include(text, id)
          for (const form of secrets.flatMap(formsOf)) assert.notInclude(text, form)
          assert.deepStrictEqual(yield* sealers(id), {
            webhook_secret: present.id,
            former_webhook_secret: present.id
          })
        }).pipe(withKeys(keyringOf([present])))
      )

      it.effect("are sealed again with the next key, after which the former one is not needed", () =>
        Effect.gen(function* () {
          const tenant = yield* aTenant()
          yield* aQueue(tenant)
          const { id, secrets } = yield* aRotatedWebhook(tenant).pipe(withKeys(keyringOf([former, present])))
          yield* aQueue(tenant)
          assert.isUndefined(yield* signedWith(id).pipe(withKeys(keyringOf([present]))))
          yield* sealAll(() => Effect.void).pipe(withKeys(keyringOf([present, former])))
          assert.deepStrictEqual(yield* sealers(id), { webhook_secret: present.id, former_webhook_secret: present.id })
          assert.deepStrictEqual(yield* signedWith(id).pipe(withKeys(keyringOf([present]))), secrets)
        })
      )
    }
  )
})
