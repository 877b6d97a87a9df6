/** The settings of the gate. */
import { assert, describe, it } from "@effect/vitest"
import { changedChallenge, missingKeys, policyOf, shownChallenge } from "../../../src/domain/challenge/Challenge.ts"

const keys = { siteKey: "site", secretKey: "secret" }

describe("The rules that hold", () => {
  it("are adaptive proof of work for live keys, and none for test keys", () => {
    assert.deepStrictEqual(policyOf("live"), { mode: "adaptive", provider: "proof_of_work" })
    assert.deepStrictEqual(policyOf("test"), { mode: "off", provider: "proof_of_work" })
  })

  it("are the organization's in both modes, once it sets them", () => {
    assert.strictEqual(policyOf("test", { mode: "always" }).mode, "always")
    assert.deepStrictEqual(policyOf("live", { provider: "turnstile", ...keys }), {
      mode: "adaptive",
      provider: "turnstile",
      keys
    })
  })

  it("are the experience's where it sets them", () => {
    const organization = { mode: "always", provider: "hcaptcha", ...keys } as const
    assert.deepStrictEqual(policyOf("live", organization, { mode: "off" }), { mode: "off", provider: "hcaptcha", keys })
    assert.strictEqual(policyOf("live", organization, { provider: "proof_of_work" }).provider, "proof_of_work")
  })

  it("are proof of work where the provider has no keys", () => {
    assert.strictEqual(policyOf("live", {}, { provider: "turnstile" }).provider, "proof_of_work")
    assert.strictEqual(
      policyOf("live", { provider: "hcaptcha", ...keys }, { provider: "turnstile" }).provider,
      "proof_of_work"
    )
  })
})

describe("A change", () => {
  const before = { provider: "turnstile", ...keys } as const

  it("keeps the secret key of the same provider", () => {
    const next = changedChallenge(before, { provider: "turnstile", siteKey: "other", mode: "off" })
    assert.deepStrictEqual(next, { provider: "turnstile", siteKey: "other", mode: "off", secretKey: "secret" })
  })

  it("drops the secret key with its provider", () => {
    assert.deepStrictEqual(missingKeys(changedChallenge(before, { provider: "hcaptcha", siteKey: "site" })), [
      "secretKey"
    ])
    assert.deepStrictEqual(missingKeys(changedChallenge(before, { mode: "off" })), [])
  })

  it("is shown without the secret key", () => {
    assert.deepStrictEqual(shownChallenge(before, true), {
      mode: null,
      provider: "turnstile",
      siteKey: "site",
      hasSecretKey: true
    })
  })
})
