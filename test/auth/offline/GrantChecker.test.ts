import { assert, describe, it } from "@effect/vitest"
import type { KeyObject } from "node:crypto"
import { GrantChecker, type RevokedPage } from "../../../src/auth/offline/GrantChecker.ts"
import { encoded, grantClaims, otherPair, pair, signedGrant } from "../../support/signedGrant.ts"

const now = Date.parse("2026-11-22T12:00:00.000Z")

const claims = { ...grantClaims, exp: now / 1000 + 60 }

const token = (changes: object = {}, key?: KeyObject): string => signedGrant({ ...claims, ...changes }, key)

const page = (data: RevokedPage["data"] = [], next: string | null = null): RevokedPage => ({
  data,
  until: "2026-11-22T11:59:45.000Z",
  next
})

/** A checker with the keys, and an empty list that was complete at `now`. */
const ready = (): GrantChecker => {
  const checker = new GrantChecker()
  checker.setKeys({ keys: [otherPair.publicKey, pair.publicKey].slice(1).map((key) => key.export({ format: "jwk" })) })
  checker.addRevoked(page(), now)
  return checker
}

const brand = { organizationId: "brand" }

const codeOf = (checker: GrantChecker, text: string, expected: object = {}, at = now) => {
  const outcome = checker.check(text, { ...brand, ...expected }, at)
  return outcome.valid ? "valid" : outcome.code
}

describe("an offline check", () => {
  it("accepts a grant that Usher signed, with the claims that the shop expects", () => {
    const outcome = ready().check(token(), { ...brand, consumerId: "ada", distributionId: "q" }, now)
    assert.isTrue(outcome.valid)
    assert.deepInclude(outcome.valid && outcome.claims, { jti: "q.7", consumerId: "ada" })
  })

  it("refuses a grant of another organization, consumer or mechanism", () => {
    assert.strictEqual(codeOf(ready(), token({ organizationId: "other" })), "WRONG_ORGANIZATION")
    assert.strictEqual(codeOf(ready(), token(), { consumerId: "bob" }), "WRONG_CONSUMER")
    assert.strictEqual(codeOf(ready(), token(), { distributionId: "r" }), "WRONG_DISTRIBUTION")
  })

  it("takes live grants unless the shop asks for those of test keys", () => {
    for (const [mode, live, test] of [
      ["live", "valid", "WRONG_MODE"],
      ["test", "WRONG_MODE", "valid"],
      ["", "WRONG_MODE", "WRONG_MODE"],
      ["LIVE", "WRONG_MODE", "WRONG_MODE"],
      [undefined, "WRONG_MODE", "WRONG_MODE"]
    ] as const) {
      const text = token({ mode })
      assert.deepStrictEqual(
        [{}, { mode: "live" }, { mode: "test" }].map((expected) => codeOf(ready(), text, expected)),
        [live, live, test]
      )
    }
  })

  it("refuses tokens that no key has signed, and tokens that are no grants", () => {
    const [header, payload, signature] = token().split(".") as [string, string, string]
    const forged = encoded({ ...claims, consumerId: "eve" })
    const texts = [
      token({}, otherPair.privateKey),
      `${header}.${forged}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}.${signature}.`,
      `${header}.${payload}`,
      token({ type: "access" }),
      token({ aud: "usher" }),
      token({ iss: "other" }),
      "",
      "..",
      "x".repeat(5_000)
    ]
    for (const text of texts) assert.strictEqual(codeOf(ready(), text), "INVALID_TOKEN", text.slice(0, 40))
    assert.strictEqual(codeOf(new GrantChecker(), token()), "INVALID_TOKEN")
  })

  it("refuses a grant from its expiry on, and never one without an expiry", () => {
    const checker = new GrantChecker(Infinity)
    checker.setKeys({ keys: [pair.publicKey.export({ format: "jwk" })] })
    checker.addRevoked(page(), now)
    assert.strictEqual(codeOf(checker, token(), {}, now + 59_999), "valid")
    assert.strictEqual(codeOf(checker, token(), {}, now + 60_000), "GRANT_EXPIRED")
    assert.strictEqual(codeOf(checker, token({ exp: undefined }), {}, now + 1e12), "valid")
  })

  it("refuses a grant that is listed, and forgets it when its token has expired", () => {
    const checker = ready()
    checker.addRevoked(page([{ jti: "q.7", expiresAt: new Date(now + 60_000).toISOString() }]), now)
    assert.strictEqual(codeOf(checker, token()), "GRANT_REVOKED")
    checker.addRevoked(page([{ jti: "q.8", expiresAt: null }]), now + 60_000)
    assert.strictEqual(checker.size, 1)
  })

  it("refuses every grant while its list is not complete, or too old", () => {
    const checker = new GrantChecker(10_000)
    checker.setKeys({ keys: [pair.publicKey.export({ format: "jwk" })] })
    assert.strictEqual(codeOf(checker, token()), "LIST_STALE")
    checker.addRevoked(page([], "more"), now)
    assert.strictEqual(codeOf(checker, token()), "LIST_STALE")
    checker.addRevoked(page(), now + 5_000)
    assert.strictEqual(codeOf(checker, token(), {}, now + 10_000), "valid")
    assert.strictEqual(codeOf(checker, token(), {}, now + 10_001), "LIST_STALE")
  })

  it("asks for each page of a list, and then for the next list", () => {
    const checker = new GrantChecker()
    assert.strictEqual(checker.query, "")
    checker.addRevoked(page([], "a_b"), now)
    assert.deepStrictEqual([checker.query, checker.hasMore], ["?after=a_b", true])
    checker.addRevoked(page(), now)
    assert.deepStrictEqual([checker.query, checker.hasMore], ["?since=2026-11-22T11%3A59%3A45.000Z", false])
    checker.addRevoked(page([], "c"), now)
    assert.strictEqual(checker.query, "?since=2026-11-22T11%3A59%3A45.000Z&after=c")
  })
})
