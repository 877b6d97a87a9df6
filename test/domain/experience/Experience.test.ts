import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { isWindowEmpty, Settings, Theme } from "../../../src/domain/experience/Experience.ts"

const settings = { name: "Spring drop", timeZone: "Europe/Berlin", currencyCode: "EUR" }

describe("an experience's settings", () => {
  it("are a name, a zone and a currency, and times as instants", () => {
    const openAt = "2026-11-21T18:00:00+01:00"
    assert.deepStrictEqual(Schema.decodeUnknownSync(Settings)({ ...settings, openAt }), {
      ...settings,
      openAt: Date.UTC(2026, 10, 21, 17)
    })
  })

  it("are refused with a missing name, a wrong zone, currency or time", () => {
    const { name: _name, ...nameless } = settings
    const isAccepted = (input: unknown): boolean => Schema.decodeUnknownExit(Settings)(input)._tag === "Success"
    const wrong = [
      nameless,
      { ...settings, name: "" },
      { ...settings, timeZone: "Mars/Olympus" },
      { ...settings, currencyCode: "euro" },
      { ...settings, openAt: "soon" },
      { ...settings, openAt: null },
      { ...settings, i18n: [] }
    ]
    assert.isTrue(isAccepted(settings))
    assert.deepStrictEqual(wrong.filter(isAccepted), [])
  })
})

describe("a theme", () => {
  const isTheme = Schema.is(Theme)

  it("has addresses that are absolute and a variant that is known", () => {
    assert.isTrue(isTheme({}))
    assert.isTrue(isTheme({ primary: "#f00", logoUrl: "https://example.com/logo.svg", variant: "retro" }))
    assert.isFalse(isTheme({ logoUrl: "logo.svg" }))
    for (const uri of [
      "http://example.com/logo.svg",
      "HTTPS://example.com",
      "ftp://files.example/logo.png",
      "data:image/png;base64,iVBORw0KGgo=",
      "urn:isbn:0451450523",
      "https://bücher.example/ä.png",
      "/pictures/0190a6e0-5c7e-7a10-8d7e-6f2f3b1c4d5e"
    ]) {
      assert.isTrue(isTheme({ logoUrl: uri }) && isTheme({ headerImageUrl: uri }), uri)
    }
    for (const text of [
      "",
      "/logo.svg",
      "//cdn.example/a",
      "a b:c",
      "1a:b",
      "http:// a",
      "https://[",
      "https:",
      "x:\n"
    ]) {
      assert.isFalse(isTheme({ logoUrl: text }), text)
    }
    assert.isFalse(isTheme({ variant: "neon" }))
    assert.isFalse(isTheme({ primary: 1 }))
  })
})

describe("a window", () => {
  it("is empty only if both ends are set and it closes before or as it opens", () => {
    assert.isTrue(isWindowEmpty({ openAt: 2, closeAt: 1 }))
    assert.isTrue(isWindowEmpty({ openAt: 2, closeAt: 2 }))
    assert.isFalse(isWindowEmpty({ openAt: 1, closeAt: 2 }))
    assert.isFalse(isWindowEmpty({ openAt: 0, closeAt: null }))
    assert.isFalse(isWindowEmpty({}))
  })
})
