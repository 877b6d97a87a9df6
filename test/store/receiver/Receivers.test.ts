/** Receivers in the database: their random ids, their sealed secrets, and what a request to their path finds. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes, randomUUID } from "node:crypto"
import { secretOverlapHours } from "../../../src/domain/receiver/Receiver.ts"
import { list, sealAll } from "../../../src/store/secrets/SealedSecrets.ts"
import { CurrentKeyring } from "../../../src/store/secrets/CurrentKeyring.ts"
import { type Keyring, keyOf, keyringOf } from "../../../src/store/secrets/Sealing.ts"
import { Receivers } from "../../../src/store/receiver/Receivers.ts"
import { aTenant, inTestMode, layer as records } from "../support/recordsFixture.ts"

const key = keyOf(randomBytes(32))
const hourMillis = 3_600_000

/** Runs it in a process with these keys. */
const withKeys = (keyring: Keyring) =>
  Effect.provide(Layer.fresh(Receivers.layer).pipe(Layer.provideMerge(Layer.succeed(CurrentKeyring, keyring))))

const services = Layer.merge(records, Layer.succeed(References.MinimumLogLevel, "None"))

describe("Receivers", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("are found by their path, with tenant, adapter and secret, until they are archived", () =>
      Effect.gen(function* () {
        const receivers = yield* Receivers
        const tenant = inTestMode(yield* aTenant())
        const url = "https://drop.example.com/x"
        const { id } = yield* receivers.create(tenant, "test", { adapter: "twilio", url }, "a token of Twilio")
        const found = { id, tenant, adapter: "twilio", url, secrets: ["a token of Twilio"] } as const
        assert.deepStrictEqual(yield* receivers.addressed(id, Date.now()), found)
        assert.isUndefined(yield* receivers.addressed(randomUUID(), Date.now()))
        yield* receivers.archive(tenant, id, "test")
        assert.isUndefined(yield* receivers.addressed(id, Date.now()))
        yield* receivers.restore(tenant, id, "test")
        assert.deepStrictEqual(yield* receivers.addressed(id, Date.now()), found)
      }).pipe(withKeys(keyringOf([])))
    )

    it.effect("have ids without a time in them", () =>
      Effect.gen(function* () {
        const receivers = yield* Receivers
        const { id } = yield* receivers.create(yield* aTenant(), "test", { adapter: "stripe" }, "whsec_0123456789")
        assert.match(id, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
      }).pipe(withKeys(keyringOf([])))
    )

    it.effect("accept the former secret for a day after a change", () =>
      Effect.gen(function* () {
        const receivers = yield* Receivers
        const tenant = yield* aTenant()
        const { id } = yield* receivers.create(tenant, "test", { adapter: "stripe" }, "the first secret")
        const secretsAt = (now: number) => Effect.map(receivers.addressed(id, now), (found) => found?.secrets)
        const same = yield* receivers.change(tenant, id, "test", (settings) => ({ ...settings, description: "Till" }))
        assert.deepInclude(same, { description: "Till", formerSecretUntil: null })
        const changed = yield* receivers.change(tenant, id, "test", (settings) => settings, "the second secret")
        assert.approximately(changed.formerSecretUntil!, Date.now() + secretOverlapHours * hourMillis, 60_000)
        assert.deepStrictEqual(yield* secretsAt(Date.now()), ["the second secret", "the first secret"])
        assert.deepStrictEqual(yield* secretsAt(Date.now() + (secretOverlapHours + 1) * hourMillis), [
          "the second secret"
        ])
      }).pipe(withKeys(keyringOf([key])))
    )

    it.effect("keep their secrets out of dumps, also those from before a key was set", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const secrets = ["an unsealed secret", "the secret after it"] as const
        const make = Effect.gen(function* () {
          const receivers = yield* Receivers
          const { id } = yield* receivers.create(tenant, "test", { adapter: "stripe" }, secrets[0])
          yield* receivers.change(tenant, id, "test", (settings) => settings, secrets[1])
          return id
        })
        const id = yield* make.pipe(withKeys(keyringOf([])))
        yield* sealAll(() => Effect.void).pipe(withKeys(keyringOf([key])))
        const rows = yield* sql<{ readonly text: string }>`select r::text as text from receivers r where id = ${id}`
        for (const secret of secrets) {
          for (const form of [secret, Buffer.from(secret).toString("hex")]) assert.notInclude(rows[0]!.text, form)
        }
        const names = (yield* list)
          .filter(({ name }) => name.endsWith(id))
          .map(({ name, sealedBy }) => [name, sealedBy])
        assert.deepStrictEqual(names, [
          [`receiver_secret:${id}`, key.id],
          [`former_receiver_secret:${id}`, key.id]
        ])
        const found = yield* Effect.flatMap(Receivers, (all) => all.addressed(id, Date.now())).pipe(
          withKeys(keyringOf([key]))
        )
        assert.deepStrictEqual(found?.secrets, secrets.toReversed())
      })
    )
  })
})
