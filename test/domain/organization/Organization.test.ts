import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { AllowedOrigin, Settings, takesSms, themeOf } from "../../../src/domain/organization/Organization.ts"

const decodeOrigin = Schema.decodeUnknownResult(AllowedOrigin)
const isOrigin = (text: string) => Result.isSuccess(decodeOrigin(text))

const decode = Schema.decodeUnknownResult(Settings)
const isGood = (settings: object) => Result.isSuccess(decode({ name: "Brand", ...settings }))

describe("An allowed origin", () => {
  it("is one that a browser can send", () => {
    for (const origin of [
      "https://shop.example",
      "https://shop.example:8443",
      "https://xn--bcher-kva.example",
      "https://203.0.113.7",
      "https://[2001:db8::1]:8443",
      "http://localhost:3000",
      "http://shop.localhost",
      "http://127.0.0.1:8080",
      "http://[::1]:3000"
    ]) {
      assert.isTrue(isOrigin(origin), origin)
    }
  })

  it("has no other spelling, no path and no open network under it", () => {
    for (const origin of [
      "",
      "*",
      "null",
      "shop.example",
      "https://shop.example/",
      "https://shop.example/path",
      "https://Shop.example",
      "HTTPS://shop.example",
      "https://shop.example:443",
      "https://user@shop.example",
      "https://shop.example?a=b",
      "https://*.shop.example",
      "http://shop.example",
      "http://localhost.example",
      "http://128.0.0.1",
      "ftp://shop.example",
      "javascript:alert(1)",
      `https://${"a".repeat(300)}.example`
    ]) {
      assert.isFalse(isOrigin(origin), origin)
    }
  })
})

describe("An organization's settings", () => {
  it("have bounds", () => {
    for (const [settings, isIn] of [
      [{ accessTokenTtlSeconds: 60 }, true],
      [{ accessTokenTtlSeconds: 59 }, false],
      [{ accessTokenTtlSeconds: 86_401 }, false],
      [{ accessTokenTtlSeconds: 60.5 }, false],
      [{ refreshTokenTtlSeconds: 3_599 }, false],
      [{ refreshTokenTtlSeconds: 31_536_000 }, true],
      [{ refreshTokenTtlSeconds: 31_536_001 }, false],
      [{ loyaltyFullScoreBalance: 0.5 }, true],
      [{ loyaltyFullScoreBalance: 0 }, false],
      [{ loyaltyFullScoreBalance: 1e13 }, false],
      [{ grantMessages: "email_or_sms" }, true],
      [{ grantMessages: "on" }, false],
      [{ timeZone: "Europe/Nowhere" }, false],
      [{ currencyCode: "eur" }, false],
      [{ name: "" }, false],
      [{ theme: { variant: "gothic" } }, false]
    ] as const) {
      assert.strictEqual(isGood(settings), isIn, JSON.stringify(settings))
    }
    const origins = (count: number) => Array.from({ length: count }, (_, index) => `https://shop-${index}.example`)
    assert.isTrue(isGood({ allowedOrigins: origins(100) }))
    assert.isFalse(isGood({ allowedOrigins: origins(101) }))
  })
})

describe("An experience's theme", () => {
  it("is its own, completed with its organization's", () => {
    const own = { primary: "#111", text: "#222" }
    const organization = { primary: "#333", variant: "retro" } as const
    assert.deepStrictEqual(themeOf(own, organization), { primary: "#111", text: "#222", variant: "retro" })
    assert.deepStrictEqual(themeOf(own, null), own)
    assert.deepStrictEqual(themeOf(null, organization), organization)
    assert.isNull(themeOf(null, null))
  })
})

describe("Codes by SMS", () => {
  it("go to the countries on the list, or else to the organization's own country, or else anywhere", () => {
    assert.isTrue(takesSms({ smsCountries: ["AT"], defaultCountry: "DE" }, "AT"))
    assert.isFalse(takesSms({ smsCountries: ["AT"], defaultCountry: "DE" }, "DE"))
    assert.isTrue(takesSms({ defaultCountry: "DE" }, "DE"))
    assert.isFalse(takesSms({ defaultCountry: "DE" }, "AT"))
    assert.isFalse(takesSms({ defaultCountry: "DE" }, undefined))
    assert.isTrue(takesSms({}, "AT"))
    assert.isFalse(takesSms({ smsCountries: [] }, "AT"))
  })

  it("name countries that exist", () => {
    assert.isTrue(isGood({ defaultCountry: "DE", smsCountries: ["AT", "CH"], smsCodesPerDay: 0 }))
    for (const wrong of [
      { defaultCountry: "de" },
      { smsCountries: ["ZZ"] },
      { defaultCountry: "XX" },
      { smsCodesPerDay: -1 }
    ]) {
      assert.isFalse(isGood(wrong), JSON.stringify(wrong))
    }
  })
})
