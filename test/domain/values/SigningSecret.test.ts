import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import { isKey, keyOf, newSecret, SigningSecret } from "../../../src/domain/values/SigningSecret.ts"

const bytes = (count: number, byte = 0xfb) => Buffer.alloc(count, byte)

describe("A secret behind `whsec_`", () => {
  it("is Base64 of at least 16 bytes, in either alphabet, with or without its padding", () => {
    for (const count of [16, 17, 24, 32, 64]) {
      const padded = bytes(count).toString("base64")
      for (const text of [padded, padded.replace(/=+$/, ""), bytes(count).toString("base64url")]) {
        assert.isTrue(isKey(`whsec_${text}`), text)
        assert.deepStrictEqual(Buffer.from(keyOf(`whsec_${text}`)), bytes(count))
      }
    }
  })

  it("is no key with other characters, a length that Base64 has not, or too few bytes", () => {
    const good = bytes(24).toString("base64")
    for (const text of [
      "!!!!!!!!!!!!!!!!",
      `${good}A`,
      `${good.slice(0, 20)} ${good.slice(20)}`,
      `${good}===`,
      `${good.slice(0, -1)}ß`,
      `${good.slice(0, 10)}=${good.slice(10)}`,
      bytes(15).toString("base64"),
      ""
    ]) {
      assert.isFalse(isKey(`whsec_${text}`), text)
    }
  })

  it("never stands for a key that can be guessed, even if it was stored before it was checked", () => {
    for (const secret of ["whsec_!!!!!!!!!!!!!!!!", "whsec_", "whsec_%%%%%%%%%%%%%%QQ", "whsec_ßßßßßßßßßßßßßßßß"]) {
      assert.deepStrictEqual(Buffer.from(keyOf(secret)), Buffer.from(secret))
    }
  })
})

describe("Any other secret", () => {
  it("is its bytes", () => {
    for (const secret of ["a plain secret of its own", "WHSEC_AAAAAAAAAAAAAAAA", "ключ-ключ-ключ-ключ"]) {
      assert.isTrue(isKey(secret))
      assert.deepStrictEqual(Buffer.from(keyOf(secret)), Buffer.from(secret))
    }
  })
})

describe("A secret in a request", () => {
  const decode = Schema.decodeUnknownOption(SigningSecret({ maxLength: 100 }))

  it("loses the blanks and line breaks around it", () => {
    const secret = newSecret(bytes(32))
    for (const around of [
      `${secret}\n`,
      `\r\n${secret}\r\n`,
      `  ${secret}\t`,
      `\u00a0${secret}\u3000`,
      `\ufeff${secret}`
    ]) {
      assert.deepStrictEqual(decode(around), Option.some(secret))
    }
    assert.deepStrictEqual(decode("two words of\na secret"), Option.some("two words of\na secret"))
  })

  it("has at least 16 characters between them, and no NUL", () => {
    for (const secret of [
      "",
      " ".repeat(30),
      "fifteen charact",
      `${"a".repeat(15)}\n`,
      `${"a".repeat(20)}\u0000`,
      "a".repeat(101)
    ]) {
      assert.isTrue(Option.isNone(decode(secret)), JSON.stringify(secret))
    }
  })
})
