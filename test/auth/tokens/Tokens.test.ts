import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { TestClock } from "effect/testing"
import { decodeJwt, decodeProtectedHeader, exportJWK, jwtVerify, SignJWT } from "jose"
import { createHmac, KeyObject } from "node:crypto"
import { GrantNames } from "../../../src/auth/tokens/GrantNames.ts"
import { Grants } from "../../../src/auth/tokens/Grants.ts"
import { Revocations } from "../../../src/auth/sessions/Revocations.ts"
import { SigningKeys } from "../../../src/auth/keys/SigningKeys.ts"
import { sign, signRefresh } from "../../../src/auth/tokens/Signing.ts"
import { Tokens } from "../../../src/auth/tokens/Tokens.ts"
import { Settings } from "../../../src/settings/Settings.ts"

const subject = {
  tenant: { organizationId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a", mode: "test" },
  consumerId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5b",
  sessionId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5c",
  sessionType: "guest"
} as const

const settings = Settings.layerTest({ accessTokenLifetimeSeconds: 60, refreshTokenLifetimeSeconds: 600 })
const layer = Layer.mergeAll(Tokens.layer, Grants.layer).pipe(
  Layer.provideMerge(Revocations.layerMemory),
  Layer.provideMerge(Layer.merge(SigningKeys.layerMemory, GrantNames.layerMemory)),
  Layer.provide(settings)
)

describe("An access token", () => {
  it.effect("states the consumer, the tenant and the expiry", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_700_000_000_900)
      const tokens = yield* Tokens
      const keys = yield* SigningKeys
      const { token, expiresAt } = yield* tokens.issueAccess(subject)
      assert.deepStrictEqual(decodeProtectedHeader(token), { alg: "EdDSA", typ: "JWT", kid: keys.current.kid })
      const { jti, ...claims } = decodeJwt(token)
      assert.match(jti!, /^[0-9a-f-]{36}$/)
      assert.deepStrictEqual(claims, {
        type: "access",
        iss: "usher",
        aud: "usher:consumer-api",
        iat: 1_700_000_000,
        exp: 1_700_000_060,
        consumerId: subject.consumerId,
        organizationId: subject.tenant.organizationId,
        mode: "test",
        sessionId: subject.sessionId,
        sessionType: "guest"
      })
      assert.strictEqual(expiresAt, 1_700_000_060_000)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is valid until it expires, also when it is cached", () =>
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const { token, expiresAt } = yield* tokens.issueAccess(subject)
      assert.deepStrictEqual(yield* tokens.verifyAccess(token), { ...subject, expiresAt })
      yield* TestClock.adjust("59 seconds")
      assert.deepStrictEqual(yield* tokens.verifyAccess(token), { ...subject, expiresAt })
      yield* TestClock.adjust("1 second")
      assert.isUndefined(yield* tokens.verifyAccess(token))
      assert.isUndefined(yield* tokens.verifyAccess(token))
    }).pipe(Effect.provide(layer))
  )

  it.effect("that was verified ends when it expires, or its session ends", () =>
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const revocations = yield* Revocations
      const { token, expiresAt } = yield* tokens.issueAccess(subject)
      const access = (yield* tokens.verifyAccess(token))!
      assert.isFalse(tokens.hasEnded(access, expiresAt - 1))
      assert.isTrue(tokens.hasEnded(access, expiresAt))
      revocations.add(subject.sessionId, expiresAt)
      assert.isTrue(tokens.hasEnded(access, expiresAt - 1))
    }).pipe(Effect.provide(layer))
  )

  it.effect("of another process is verified, then cached: the second time without its key", () =>
    Effect.gen(function* () {
      const { token } = yield* Effect.flatMap(Tokens, (tokens) => tokens.issueAccess(subject))
      const keys = yield* SigningKeys
      let looked = 0
      const counting = Layer.succeed(SigningKeys, {
        ...keys,
        publicKey: (kid) => {
          looked++
          return keys.publicKey(kid)
        }
      })
      yield* Effect.gen(function* () {
        const tokens = yield* Tokens
        assert.strictEqual((yield* tokens.verifyAccess(token))?.consumerId, subject.consumerId)
        assert.strictEqual((yield* tokens.verifyAccess(token))?.consumerId, subject.consumerId)
        assert.strictEqual(looked, 1)
      }).pipe(
        Effect.provide(
          Layer.fresh(Tokens.layer).pipe(
            Layer.provide(Revocations.layerMemory),
            Layer.provide(counting),
            Layer.provide(settings)
          )
        )
      )
    }).pipe(Effect.provide(layer))
  )

  it.effect("has the text that a library for JWTs gives the same claims, also with characters outside ASCII", () =>
    Effect.gen(function* () {
      const keys = yield* SigningKeys
      const claims = { sub: "Zoë 🎟 \u0000", exp: 1, list: [1, "two"], absent: undefined }
      const text = sign(keys, claims)
      const expected = new SignJWT(claims).setProtectedHeader({ alg: "EdDSA", typ: "JWT", kid: keys.current.kid })
      assert.strictEqual(text, yield* Effect.promise(() => expected.sign(keys.current.privateKey)))
      const publicKey = keys.publicKey(keys.current.kid)!
      yield* Effect.promise(() => jwtVerify(text, publicKey, { currentDate: new Date(0) }))
    }).pipe(Effect.provide(layer))
  )

  it.effect("is not a refresh token, nor the reverse", () =>
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const refresh = yield* tokens.issueRefresh(subject, "the-id")
      const { type, aud, jti, exp, iat } = decodeJwt(refresh.token)
      assert.deepStrictEqual([type, aud, jti, exp! - iat!], ["refresh", "usher:refresh", "the-id", 600])
      assert.isUndefined(yield* tokens.verifyAccess(refresh.token))
    }).pipe(Effect.provide(layer))
  )

  it.effect("is verified with the public key alone, never with the secret of refresh tokens", () =>
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const keys = yield* SigningKeys
      const claims = decodeJwt((yield* tokens.issueAccess(subject)).token)
      assert.isDefined(yield* tokens.verifyAccess(sign(keys, { ...claims, extra: true })))
      assert.isUndefined(yield* tokens.verifyAccess(signRefresh(keys, { ...claims, extra: true })))
    }).pipe(Effect.provide(layer))
  )

  it.effect("is never accepted in place of another token signed with the same key", () =>
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const keys = yield* SigningKeys
      const { token } = yield* tokens.issueAccess(subject)
      const claims = decodeJwt(token)
      assert.isDefined(yield* tokens.verifyAccess(sign(keys, { ...claims, extra: true })))
      for (const wrong of [
        { type: "admission" },
        { aud: "usher:admission" },
        { iss: "other" },
        { sessionType: "root" }
      ]) {
        assert.isUndefined(yield* tokens.verifyAccess(sign(keys, { ...claims, ...wrong })))
      }
      for (const text of ["", ".", "..", "a.b.c", token.slice(1), `${token}.`, "é".repeat(1000)]) {
        assert.isUndefined(yield* tokens.verifyAccess(text))
      }
    }).pipe(Effect.provide(layer))
  )
})

describe("A refresh token", () => {
  const base64Url = (text: string) => Buffer.from(text).toString("base64url")

  it.effect("is signed with HMAC, as a library for JWTs signs the same claims", () =>
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const { current } = yield* SigningKeys
      const { token } = yield* tokens.issueRefresh(subject, "the-id")
      const header = { alg: "HS256", typ: "JWT", kid: current.kid }
      assert.deepStrictEqual(decodeProtectedHeader(token), header)
      const expected = new SignJWT(decodeJwt(token)).setProtectedHeader(header).sign(current.refreshSecret)
      assert.strictEqual(token, yield* Effect.promise(() => expected))
      assert.deepStrictEqual(yield* tokens.verifyRefresh(token), { ...subject, tokenId: "the-id" })
    }).pipe(Effect.provide(layer))
  )

  it.effect("that was signed with Ed25519 is still valid", () =>
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const keys = yield* SigningKeys
      const claims = decodeJwt((yield* tokens.issueRefresh(subject, "the-id")).token)
      assert.deepStrictEqual(yield* tokens.verifyRefresh(sign(keys, claims)), { ...subject, tokenId: "the-id" })
      assert.isUndefined(yield* tokens.verifyRefresh(sign(keys, { ...claims, aud: "usher:consumer-api" })))
    }).pipe(Effect.provide(layer))
  )

  it.effect("is refused if its header names another algorithm or key than its signature has", () =>
    Effect.gen(function* () {
      const tokens = yield* Tokens
      const keys = yield* SigningKeys
      const { kid, refreshSecret } = keys.current
      const { token } = yield* tokens.issueRefresh(subject, "the-id")
      const [, body, signature] = token.split(".")
      const forged = (header: object, key: KeyObject | Uint8Array | string, algorithm = "sha256") => {
        const signed = `${base64Url(JSON.stringify(header))}.${body}`
        return `${signed}.${createHmac(algorithm, key).update(signed).digest("base64url")}`
      }
      const hmac = { alg: "HS256", typ: "JWT", kid }
      assert.strictEqual(forged(hmac, refreshSecret), token)
      const publicKey = keys.publicKey(kid)!
      const jwk = yield* Effect.promise(() => exportJWK(publicKey))
      const spki = KeyObject.from(publicKey)
      const publicForms = [
        Buffer.from(jwk.x!, "base64url"),
        jwk.x!,
        JSON.stringify(jwk),
        JSON.stringify(keys.jwks[0]),
        spki.export({ type: "spki", format: "der" }),
        spki.export({ type: "spki", format: "pem" }),
        kid,
        ""
      ]
      const unsigned = `${base64Url(JSON.stringify({ alg: "none", kid }))}.${body}.`
      for (const text of [
        ...publicForms.map((form) => forged(hmac, form)),
        unsigned,
        `${unsigned}${signature}`,
        forged({ ...hmac, alg: "none" }, refreshSecret),
        forged({ ...hmac, alg: "EdDSA" }, refreshSecret),
        forged({ ...hmac, alg: "HS512" }, refreshSecret, "sha512"),
        forged({ ...hmac, alg: "constructor" }, refreshSecret),
        forged({ ...hmac, kid: "other" }, refreshSecret),
        forged({ alg: "HS256", typ: "JWT" }, refreshSecret),
        sign(keys, decodeJwt(token)).replace(/^[^.]+/, base64Url(JSON.stringify(hmac))),
        `${token.slice(0, -2)}${token.endsWith("AA") ? "BB" : "AA"}`
      ]) {
        assert.isUndefined(yield* tokens.verifyRefresh(text), text)
      }
    }).pipe(Effect.provide(layer))
  )
})

const mechanism = {
  id: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b50",
  kind: "queue",
  experienceId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b51",
  sequenceId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b52",
  ...subject.tenant
} as const

const grant = { consumerId: subject.consumerId, grantSequence: 7, grantedAt: 1_200, expiresAt: 61_500 }

describe("A grant's token", () => {
  it.effect("has the same text whenever and wherever it is derived", () =>
    Effect.gen(function* () {
      const grants = yield* Grants
      const token = yield* grants.token(mechanism.id, grant, Effect.succeed(mechanism))
      yield* TestClock.adjust("10 seconds")
      const elsewhere = yield* Effect.flatMap(Grants, (other) =>
        other.token(mechanism.id, grant, Effect.succeed(mechanism))
      ).pipe(Effect.provide(Layer.fresh(Grants.layer)))
      assert.strictEqual(elsewhere, token)
    }).pipe(Effect.provide(layer))
  )

  it.effect("contains the grant, and is valid through its last second", () =>
    Effect.gen(function* () {
      const grants = yield* Grants
      const token = yield* grants.token(mechanism.id, grant, Effect.succeed(mechanism))
      const { jti, iat, exp } = decodeJwt(token)
      assert.match(jti!, new RegExp(`^${mechanism.id}\\.7\\.[\\w-]{22}$`))
      assert.deepStrictEqual([iat, exp], [1, 62])
      const verified = yield* grants.verify(token)
      assert.strictEqual(Result.isSuccess(verified) && verified.success.jti, jti)
      yield* TestClock.setTime(62_000)
      assert.deepStrictEqual(yield* grants.verify(token), Result.fail("GRANT_EXPIRED"))
    }).pipe(Effect.provide(layer))
  )

  it.effect("does not run the query where it is cached, and caches no failure", () =>
    Effect.gen(function* () {
      const grants = yield* Grants
      let runs = 0
      const asking = Effect.sync(() => {
        runs++
        return mechanism
      })
      assert.strictEqual(yield* Effect.flip(grants.token(mechanism.id, grant, Effect.fail("away"))), "away")
      yield* grants.token(mechanism.id, grant, asking)
      yield* grants.token(mechanism.id, grant, asking)
      assert.strictEqual(runs, 1)
      yield* grants.token(mechanism.id, { ...grant, grantSequence: 8 }, asking)
      assert.strictEqual(runs, 2)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is not an access token", () =>
    Effect.gen(function* () {
      const grants = yield* Grants
      const tokens = yield* Tokens
      const token = yield* grants.token(mechanism.id, grant, Effect.succeed(mechanism))
      assert.isUndefined(yield* tokens.verifyAccess(token))
      const access = yield* tokens.issueAccess(subject)
      assert.deepStrictEqual(yield* grants.verify(access.token), Result.fail("INVALID_TOKEN"))
    }).pipe(Effect.provide(layer))
  )
})
