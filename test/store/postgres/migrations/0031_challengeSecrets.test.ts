/** The effect on secret keys of providers of challenges that were in the settings. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { randomBytes } from "node:crypto"
import * as Auth from "../../../../src/auth/Auth.ts"
import { ChallengePolicies } from "../../../../src/auth/challenge/ChallengePolicies.ts"
import { Settings } from "../../../../src/settings/Settings.ts"
import { CurrentKeyring } from "../../../../src/store/secrets/CurrentKeyring.ts"
import { keyOf, keyringOf } from "../../../../src/store/secrets/Sealing.ts"
import * as SealedSecrets from "../../../../src/store/secrets/SealedSecrets.ts"
import { addOrganization, databaseAt, organizationId } from "./earlierSchema.ts"

const key = keyOf(randomBytes(32))

describe("Step 0031", () => {
  it.live("moves them out of the settings, and the next start seals them; the gate continues to use them", () =>
    Effect.gen(function* () {
      const { sql, database, migrate } = yield* databaseAt(28)
      const challenge = { mode: "always", provider: "hcaptcha", siteKey: "site" } as const
      yield* addOrganization(sql, { currencyCode: "EUR", challenge: { ...challenge, secretKey: "0xsecret" } })
      assert.include(yield* migrate, 31)
      const rows = sql`
        select settings, convert_from(challenge_secret, 'UTF8') as secret, challenge_secret_sealed_by as sealed_by
        from organizations where challenge_secret_sealed_by is null`
      const settings = { currencyCode: "EUR", challenge }
      assert.deepStrictEqual(yield* rows, [{ settings, secret: "0xsecret", sealed_by: null }])
      const services = ChallengePolicies.layer.pipe(
        Layer.provide(Auth.layer),
        Layer.provide(SealedSecrets.layerSealed),
        Layer.provide(Layer.mergeAll(Settings.layerTest(), SecureRandom.layerWebCrypto)),
        Layer.provide(Layer.succeed(CurrentKeyring, keyringOf([key])))
      )
      yield* Effect.gen(function* () {
        const policies = yield* ChallengePolicies
        assert.deepStrictEqual(yield* policies.load({ organizationId, mode: "live" }), {
          mode: "always",
          provider: "hcaptcha",
          keys: { siteKey: "site", secretKey: "0xsecret" }
        })
      }).pipe(Effect.provide(Layer.provide(services, database)))
      assert.deepStrictEqual(yield* rows, [])
      const [sealed] = yield* sql<{ readonly bytes: Uint8Array; readonly sealed_by: string }>`
        select challenge_secret as bytes, challenge_secret_sealed_by as sealed_by from organizations`
      assert.strictEqual(sealed!.sealed_by, key.id)
      assert.isFalse(Buffer.from(sealed!.bytes).includes("0xsecret"))
    })
  )

  it.live("changes nothing of organizations without one", () =>
    Effect.gen(function* () {
      const { sql, migrate } = yield* databaseAt(28)
      yield* addOrganization(sql, { challenge: { mode: "off" } })
      yield* migrate
      assert.deepStrictEqual(yield* sql`select settings, challenge_secret from organizations`, [
        { settings: { challenge: { mode: "off" } }, challenge_secret: null }
      ])
    })
  )
})
