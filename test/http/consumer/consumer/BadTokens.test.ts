/** Invalid access tokens: malformed ones, forged ones, and those of another issuer, audience or tenant. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { CompactSign, generateKeyPair, SignJWT } from "jose"
import { createHmac } from "node:crypto"
import { SigningKeys } from "../../../../src/auth/keys/SigningKeys.ts"
import { asConsumer, asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** Derives every kind of invalid token from a valid one. */
const makeBad = Effect.gen(function* () {
  const { consumer, brand, stranger, guest, queue } = yield* Usher
  const keys = yield* SigningKeys
  const { accessToken, refreshToken, consumerId } = yield* guest()
  const [header, payload, signature] = accessToken.split(".") as [string, string, string]
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString())
  const protectedHeader = { alg: "EdDSA", typ: "JWT", kid: keys.current.kid } as const
  const foreign = yield* Effect.promise(() => generateKeyPair("EdDSA"))
  const rsa = yield* Effect.promise(() => generateKeyPair("RS256"))
  const sign = (changes: object, headers: object = {}, key: typeof keys.current.privateKey = keys.current.privateKey) =>
    Effect.promise(() =>
      new SignJWT({ ...claims, ...changes }).setProtectedHeader({ ...protectedHeader, ...headers }).sign(key)
    )
  const hmac = (secret: string | Buffer) => {
    const input = `${encode({ ...protectedHeader, alg: "HS256" })}.${payload}`
    return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`
  }
  const queueId = yield* queue({ admitRate: 60 })
  const place = asServer(brand.secretKey, consumerId)
  yield* consumer({ method: "POST", path: `/api/queues/${queueId}/enter`, headers: place })
  yield* consumer({
    method: "POST",
    path: `/api/queues/${queueId}/admit`,
    headers: asServer(brand.secretKey),
    body: { consumerId }
  })
  const { body: granted } = yield* consumer({ path: `/api/queues/${queueId}/status`, headers: place })
  const now = claims.iat as number

  const bad: { readonly [name: string]: string } = {
    "of algorithm none": `${encode({ alg: "none" })}.${payload}.`,
    "of algorithm None with our signature": `${encode({ ...protectedHeader, alg: "None" })}.${payload}.${signature}`,
    "by HMAC with the public key": hmac(Buffer.from(keys.jwks[0]!.x, "base64url")),
    "by HMAC with the public key's text": hmac(JSON.stringify(keys.jwks[0])),
    "by RSA": yield* sign({}, { alg: "RS256" }, rsa.privateKey),
    "by another key under our key's name": yield* sign({}, {}, foreign.privateKey),
    "by another key under its own name": yield* sign({}, { kid: "other" }, foreign.privateKey),
    "by our key under no name": yield* sign({}, { kid: undefined }),
    "by our key under another name": yield* sign({}, { kid: "other" }),
    "with its own key in the header": yield* sign({}, { jwk: keys.jwks[0], kid: undefined }, foreign.privateKey),
    "with a critical header we do not know": yield* Effect.promise(() =>
      new CompactSign(Buffer.from(JSON.stringify(claims)))
        .setProtectedHeader({ ...protectedHeader, crit: ["exp"], exp: 1 })
        .sign(keys.current.privateKey, { crit: { exp: true } })
    ),
    "from another issuer": yield* sign({ iss: "somebody" }),
    "without an issuer": yield* sign({ iss: undefined }),
    "for another audience": yield* sign({ aud: "usher:admission" }),
    "without an audience": yield* sign({ aud: undefined }),
    "of type refresh": yield* sign({ type: "refresh" }),
    "of type admission": yield* sign({ type: "admission" }),
    "of no type": yield* sign({ type: undefined }),
    "that is a refresh token": refreshToken,
    "that is an admission grant": granted.admissionGrant,
    "that has expired": yield* sign({ iat: now - 7200, exp: now - 3600 }),
    "that never expires": yield* sign({ exp: undefined }),
    "that expires in words": yield* sign({ exp: "tomorrow" }),
    "that is not valid yet": yield* sign({ nbf: now + 600 }),
    "without a session": yield* sign({ sessionId: undefined }),
    "without a consumer": yield* sign({ consumerId: undefined }),
    "of another organization": yield* sign({ organizationId: stranger.organizationId }),
    "of another mode": yield* sign({ mode: "test" }),
    "of a session type that is none": yield* sign({ sessionType: "admin" }),
    "with other claims under its signature": `${header}.${encode({ ...claims, sessionType: "authenticated" })}.${signature}`,
    "with another header under its signature": `${encode({ ...protectedHeader, x: 1 })}.${payload}.${signature}`,
    "with one bit of its signature changed": `${header}.${payload}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`,
    "with stray bits at the end of its signature": `${accessToken.slice(0, -1)}${String.fromCharCode(accessToken.charCodeAt(accessToken.length - 1) + 1)}`,
    "without a signature": `${header}.${payload}.`,
    "without its last part": `${header}.${payload}`,
    "cut in the middle": accessToken.slice(0, accessToken.length / 2),
    "with a fourth part": `${accessToken}.${signature}`,
    "with an empty part before it": `.${accessToken}`,
    "with padding": `${accessToken}==`,
    "with white space inside": accessToken.replace(".", ". "),
    "with a tab inside": `${header}.${payload}.${signature.slice(0, 20)}\t${signature.slice(20)}`,
    "in upper case": accessToken.toUpperCase(),
    "in percent code": accessToken.replaceAll(".", "%2E"),
    "in quotes": `"${accessToken}"`,
    "after another scheme's name": `JWT ${accessToken}`,
    twice: `${accessToken},${accessToken}`,
    "beyond ASCII": Buffer.from(`${accessToken}é`).toString("latin1"),
    "that is JSON": JSON.stringify(claims),
    "that is a list of claims": `${header}.${encode([claims])}.${signature}`,
    "of 15 KB": yield* sign({ filler: "x".repeat(11_000) }),
    "of 16 KB and nothing in it": "x".repeat(16_000)
  }
  return { bad, accessToken, brand, consumer, queueId, signed: yield* sign({ jti: "another" }) }
})

describe("A token", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("with any of fifty defects is refused at every operation that takes tokens", () =>
      Effect.gen(function* () {
        const { bad, accessToken, brand, consumer, queueId, signed } = yield* makeBad
        const { "x-publishable-key": key } = asConsumer(brand.publishableKey, "")
        const operations = [
          { method: "GET", path: `/api/queues/${queueId}/status`, headers: { "x-publishable-key": key } },
          { method: "POST", path: "/api/auth/logout", headers: {} },
          {
            method: "POST",
            path: "/api/auth/otp/verify",
            headers: { "x-publishable-key": key },
            body: { email: "ann@example.com", code: "123456" }
          }
        ]
        const statusWith = (token: string) =>
          consumer({ ...operations[0]!, headers: asConsumer(brand.publishableKey, token) })
        // A valid token made the same way is accepted, so only the defect causes the refusal.
        assert.strictEqual((yield* statusWith(signed)).status, 200)
        for (const [name, token] of Object.entries(bad)) {
          for (const { headers, ...operation } of operations) {
            // Logout takes no publishable key, so there is no tenant that could differ from the token's.
            if (operation.path.endsWith("logout") && /of another (organization|mode)/.test(name)) continue
            const answer = yield* consumer({ ...operation, headers: { ...headers, authorization: `Bearer ${token}` } })
            assert.deepStrictEqual(
              [answer.status, answer.body],
              [401, { error: "Authentication required" }],
              `${operation.path} with a token ${name}`
            )
          }
        }
        assert.strictEqual((yield* statusWith(accessToken)).status, 200)
      })
    )

    it.effect("is not issued in exchange for an invalid refresh token", () =>
      Effect.gen(function* () {
        const { bad, accessToken, brand, consumer } = yield* makeBad
        const { "that is a refresh token": _, ...others } = bad
        for (const [name, refreshToken] of Object.entries({ ...others, "that is an access token": accessToken })) {
          const answer = yield* consumer({
            method: "POST",
            path: "/api/auth/refresh",
            headers: { "x-publishable-key": brand.publishableKey },
            body: { refreshToken }
          })
          assert.deepStrictEqual([answer.status, answer.body], [401, { error: "Invalid refresh token" }], name)
        }
      })
    )
  })
})
