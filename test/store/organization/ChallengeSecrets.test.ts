/** The secret keys of providers of challenges in the database: sealed, listed among the other secrets, resealed, opened. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { ChallengePolicies } from "../../../src/auth/challenge/ChallengePolicies.ts"
import { OrganizationChanges } from "../../../src/auth/keys/OrganizationChanges.ts"
import { Organizations } from "../../../src/auth/keys/Organizations.ts"
import type { OrganizationChallenge } from "../../../src/domain/challenge/Challenge.ts"
import { CurrentKeyring } from "../../../src/store/secrets/CurrentKeyring.ts"
import { list, sealAll } from "../../../src/store/secrets/SealedSecrets.ts"
import { type Keyring, keyOf, keyringOf } from "../../../src/store/secrets/Sealing.ts"
import { aTenant, layer as auth } from "../../auth/authFixture.ts"

const former = keyOf(randomBytes(32))
const present = keyOf(randomBytes(32))
const [none, first, both, second] = [[], [former], [present, former], [present]].map(keyringOf) as [
  Keyring,
  Keyring,
  Keyring,
  Keyring
]

/** The services of a process with these keys. */
const withKeys = (keyring: Keyring) =>
  Effect.provide(
    Layer.fresh(Layer.merge(OrganizationChanges.layer, ChallengePolicies.layer)).pipe(
      Layer.provideMerge(Layer.succeed(CurrentKeyring, keyring))
    )
  )

const secretKey = "0x4AAA-secret-of-the-provider"
const turnstile = { mode: "always", provider: "turnstile", siteKey: "site" } as const

const set = Effect.fnUntraced(function* (id: string, challenge: OrganizationChallenge | undefined, name = "Brand") {
  const changes = yield* OrganizationChanges
  return yield* changes.change(id, "test", () =>
    Result.succeed({ name, ...(challenge !== undefined && { challenge }) })
  )
})

/** The secret key that tokens are checked with; undefined if clients get a proof of work. */
const usedBy = Effect.fnUntraced(function* (organizationId: string) {
  const policies = yield* ChallengePolicies
  const policy = yield* policies.load({ organizationId, mode: "live" })
  return policy.provider === "proof_of_work" ? undefined : policy.keys.secretKey
})

/** The organization's row, as a dump shows it. */
const dumped = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly text: string; readonly sealed_by: string | null }>`
    select settings::text || ' ' || coalesce(encode(challenge_secret, 'escape'), '') as text,
      challenge_secret_sealed_by as sealed_by
    from organizations where id = ${id}`
  return row!
})

describe("The secret key of a provider of challenges", () => {
  layer(auth, { excludeTestServices: true })((it) => {
    it.effect("is sealed under its organization, listed, and not in the settings", () =>
      Effect.gen(function* () {
        const { organizationId: id } = yield* aTenant
        const changed = yield* set(id, { ...turnstile, secretKey })
        assert.isTrue(changed.hasChallengeSecret)
        assert.deepStrictEqual(changed.settings.challenge, turnstile)
        const { text, sealed_by } = yield* dumped(id)
        assert.notInclude(text, secretKey)
        assert.strictEqual(sealed_by, former.id)
        assert.deepInclude(yield* list, { name: `challenge_secret:${id}`, sealedBy: former.id })
        assert.strictEqual(yield* usedBy(id), secretKey)
        const organizations = yield* Organizations
        assert.notInclude(JSON.stringify(yield* organizations.find(id)), secretKey)
      }).pipe(withKeys(first))
    )

    it.effect("stays through changes of other settings, without being sealed again, and goes with its setting", () =>
      Effect.gen(function* () {
        const { organizationId: id } = yield* aTenant
        yield* set(id, { ...turnstile, secretKey })
        const before = yield* dumped(id)
        yield* set(id, { ...turnstile, mode: "off", secretKey }, "Renamed")
        assert.strictEqual((yield* dumped(id)).text.split(" ").at(-1), before.text.split(" ").at(-1))
        const changes = yield* OrganizationChanges
        yield* changes.setPlan(id, "operator", "enterprise")
        assert.strictEqual(yield* usedBy(id), secretKey)
        const without = yield* set(id, undefined)
        assert.isFalse(without.hasChallengeSecret)
        assert.isNull((yield* dumped(id)).sealed_by)
        assert.isUndefined(yield* usedBy(id))
      }).pipe(withKeys(first))
    )

    it.effect("is resealed when the key changes, and sealed if it was stored without a key", () =>
      Effect.gen(function* () {
        const { organizationId: unsealed } = yield* aTenant
        const { organizationId: sealed } = yield* aTenant
        yield* set(unsealed, { ...turnstile, secretKey }).pipe(withKeys(none))
        assert.include((yield* dumped(unsealed)).text, secretKey)
        yield* set(sealed, { ...turnstile, secretKey }).pipe(withKeys(first))
        yield* sealAll(() => Effect.void).pipe(withKeys(both))
        for (const id of [unsealed, sealed]) {
          const { text, sealed_by } = yield* dumped(id)
          assert.notInclude(text, secretKey)
          assert.strictEqual(sealed_by, present.id)
          assert.strictEqual(yield* usedBy(id).pipe(withKeys(second)), secretKey)
        }
      })
    )

    it.effect("leaves clients a proof of work where a process cannot open it, and is not lost there", () =>
      Effect.gen(function* () {
        const { organizationId: id } = yield* aTenant
        yield* set(id, { ...turnstile, secretKey }).pipe(withKeys(first))
        assert.isUndefined(yield* usedBy(id).pipe(withKeys(none)))
        const changed = yield* Effect.exit(set(id, turnstile).pipe(withKeys(none)))
        assert.strictEqual(changed._tag, "Failure")
        assert.strictEqual(yield* usedBy(id).pipe(withKeys(first)), secretKey)
      })
    )

    it.effect("cannot be moved to another organization", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [from, to] = [yield* aTenant, yield* aTenant]
        yield* set(from.organizationId, { ...turnstile, secretKey })
        yield* set(to.organizationId, turnstile)
        yield* sql`
          update organizations as moved set challenge_secret = o.challenge_secret,
            challenge_secret_sealed_by = o.challenge_secret_sealed_by
          from organizations o where o.id = ${from.organizationId} and moved.id = ${to.organizationId}`
        assert.isUndefined(yield* usedBy(to.organizationId))
      }).pipe(withKeys(first))
    )
  })
})
