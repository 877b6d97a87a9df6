import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { EmailText, normalizedEmail } from "../../../src/domain/values/Email.ts"

/** Asserts that all spellings are one address. */
const assertOne = (address: string, spellings: ReadonlyArray<string>) => {
  for (const spelling of [address, ...spellings]) assert.strictEqual(normalizedEmail(spelling), address, spelling)
}

describe("An email address", () => {
  it("is compared in lower case", () => {
    assertOne("ann.lee@example.com", [
      " Ann.Lee@Example.COM ",
      "\u202aann.lee@example.com\u202c",
      "ann.lee@example.com\u00a0"
    ])
  })

  it("has a host name, and nothing that ends a header or begins a second address", () => {
    const isAccepted = (text: string) => Result.isSuccess(Schema.decodeUnknownResult(EmailText)(text))
    assert.isTrue(isAccepted("ops@shop.example"))
    for (const text of [
      "ops",
      "ops@shop",
      "ops@shop.example,eve@evil.example",
      "ops@shop.example\r\nBcc: x@y.zz",
      "ops@127.0.0.1",
      "ops@shop.example:25",
      "ops@shop.example/x",
      "ops\u200b@shop.example",
      "o\u200dps@shop.example",
      "\u0301ops@shop.example",
      "ops.@shop.example"
    ]) {
      assert.isFalse(isAccepted(text), text)
    }
  })

  it("is one address with its host in Unicode and in ASCII", () => {
    assertOne("anna@bücher.example", ["anna@xn--bcher-kva.example", "ANNA@BÜCHER.example", "anna@BU\u0308CHER.example"])
    assertOne("анна@почта.рф", ["анна@xn--80a1acny.xn--p1ai", "АННА@ПОЧТА.РФ"])
    assertOne("anna@例子.测试", ["anna@xn--fsqu00a.xn--0zwm56d", "anna@例子。测试"])
    assertOne("anna@مثال.إختبار", ["anna@xn--mgbh0fb.xn--kgbechtv"])
  })

  it("is one address in wide and mathematical letters", () => {
    assertOne("anna@example.com", [
      "ａｎｎａ＠ｅｘａｍｐｌｅ．ｃｏｍ",
      "anna@𝐞𝐱𝐚𝐦𝐩𝐥𝐞.𝐜𝐨𝐦",
      "𝔞𝔫𝔫𝔞@example.com",
      "anna@ⓔⓧⓐⓜⓟⓛⓔ.com",
      "anna@exam\u00adple.com"
    ])
  })

  it("has letters of every script, with their marks", () => {
    for (const address of [
      "संपर्क@डाटामेल.भारत",
      "தொடர்பு@example.com",
      "যোগাযোগ@example.com",
      "น้ำ@ตัวอย่าง.ไทย",
      "אַנָּה@example.com",
      "مُحَمَّد@مثال.إختبار",
      "می\u200cخواهم@example.com",
      "क्\u200dष@example.com",
      "việt@example.com",
      "x\u0302y@example.com"
    ]) {
      assert.strictEqual(normalizedEmail(address), address.normalize("NFC"))
      assert.strictEqual(normalizedEmail(address.normalize("NFD")), address.normalize("NFC"))
    }
  })
})
