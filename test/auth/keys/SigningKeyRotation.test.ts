/** A signing key that is rotated while several processes sign and verify. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { decodeProtectedHeader } from "jose"
import { Grants } from "../../../src/auth/tokens/Grants.ts"
import { OrganizationChanges } from "../../../src/auth/keys/OrganizationChanges.ts"
import { Sessions } from "../../../src/auth/sessions/Sessions.ts"
import { SigningKeyRotation } from "../../../src/auth/keys/SigningKeyRotation.ts"
import { SigningKeys } from "../../../src/auth/keys/SigningKeys.ts"
import { Tokens } from "../../../src/auth/tokens/Tokens.ts"
import { movableClock } from "../../support/movableClock.ts"
import { anotherProcess, aTenant, layer as services } from "../authFixture.ts"

const kidOf = (token: string) => decodeProtectedHeader(token).kid

const aGrant = (context: Context.Context<Grants>, consumerId: string, tenant: { readonly organizationId: string }) =>
  Context.get(context, Grants).token(
    tenant.organizationId,
    { consumerId, grantSequence: 1, grantedAt: 1_000 },
    Effect.succeed({
      id: tenant.organizationId,
      kind: "queue",
      organizationId: tenant.organizationId,
      mode: "live",
      experienceId: tenant.organizationId,
      sequenceId: tenant.organizationId
    } as const)
  )

describe("A signing key", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect(
      "is replaced in every process at once; what the former key signed stays valid until the key is removed",
      () =>
        Effect.gen(function* () {
          const here = yield* Effect.context<SigningKeys | Sessions | Tokens | Grants>()
          const there = yield* anotherProcess
          const processes = [here, there]
          const tenant = yield* aTenant
          const former = (yield* SigningKeys).current.kid
          const before = yield* Context.get(there, Sessions).guest(tenant)
          const grant = yield* aGrant(here, before.session.consumerId, tenant)
          const signed = [before.accessToken, before.refreshToken, grant]
          assert.deepStrictEqual(signed.map(kidOf), [former, former, former])

          const rotation = yield* SigningKeyRotation
          const { kid } = yield* rotation.rotate
          for (const context of processes) {
            const keys = Context.get(context, SigningKeys)
            assert.strictEqual(keys.current.kid, kid)
            assert.deepStrictEqual(
              keys.jwks.map((key) => key.kid),
              [kid, former]
            )
            const started = yield* Context.get(context, Sessions).guest(tenant)
            assert.deepStrictEqual([kidOf(started.accessToken), kidOf(started.refreshToken)], [kid, kid])
            for (const other of [...processes, yield* anotherProcess]) {
              for (const token of [before.accessToken, started.accessToken]) {
                assert.isDefined(yield* Context.get(other, Tokens).verifyAccess(token))
              }
              for (const token of [before.refreshToken, started.refreshToken]) {
                assert.isDefined(yield* Context.get(other, Tokens).verifyRefresh(token))
              }
              assert.strictEqual((yield* Context.get(other, Grants).verify(grant))._tag, "Success")
            }
            const shown = yield* aGrant(context, before.session.consumerId, tenant)
            assert.strictEqual(kidOf(shown), kid, "a grant that is shown again is signed with the new key")
          }

          const listed = yield* rotation.list
          assert.deepStrictEqual(
            listed.map((key) => [key.kid, key.replacedAt === undefined]),
            [
              [kid, true],
              [former, false]
            ]
          )
          const neededFor = (keys: typeof listed) => keys[1]!.neededUntil! - keys[1]!.replacedAt!
          assert.strictEqual(neededFor(listed), 2_592_000_000)

          const changes = yield* OrganizationChanges
          const setLifetime = (refreshTokenTtlSeconds: number) =>
            changes.change(tenant.organizationId, "test", (settings) =>
              Result.succeed({ ...settings, refreshTokenTtlSeconds })
            )
          yield* setLifetime(2_592_001)
          yield* setLifetime(3_600)
          assert.strictEqual(neededFor(yield* rotation.list), 2_592_001_000, "tokens issued in between may be valid")

          assert.strictEqual((yield* Effect.flip(rotation.remove(kid)))._tag, "NotRemovable")
          assert.strictEqual((yield* Effect.flip(rotation.remove("none")))._tag, "NotRemovable")
          yield* rotation.remove(former)
          for (const context of processes) {
            assert.isUndefined(yield* Context.get(context, Tokens).verifyAccess(before.accessToken))
            assert.isUndefined(yield* Context.get(context, Tokens).verifyRefresh(before.refreshToken))
            assert.strictEqual((yield* Context.get(context, Grants).verify(grant))._tag, "Failure")
            assert.deepStrictEqual(
              Context.get(context, SigningKeys).jwks.map((key) => key.kid),
              [kid]
            )
          }
        }).pipe(Effect.provide(SigningKeyRotation.layer))
    )

    it.effect("that a process does not know yet is read, but not for every token with an unknown key", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const here = yield* Tokens
        // Unknown keys are read once a second.
        const later = movableClock()
        yield* later.putForward(1_100)
        // As if the notification had not arrived yet.
        yield* sql`update signing_keys set retired_at = now()`
        const there = yield* anotherProcess
        const { accessToken } = yield* Context.get(there, Sessions).guest(tenant)
        assert.notStrictEqual(kidOf(accessToken), (yield* SigningKeys).current.kid)
        assert.isDefined(yield* Effect.provide(here.verifyAccess(accessToken), later.layer))

        yield* later.putForward(60_000)
        const unknown = accessToken.replace(/^[^.]+/, Buffer.from('{"alg":"EdDSA","kid":"x"}').toString("base64url"))
        assert.isUndefined(yield* Effect.provide(here.verifyAccess(unknown), later.layer))
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`lock table signing_keys in access exclusive mode`
            for (let count = 0; count < 20; count++) {
              // Reading it would wait for the lock.
              assert.isUndefined(yield* Effect.timeout(here.verifyAccess(unknown), "30 seconds"))
            }
          })
        )
      })
    )
  })
})
