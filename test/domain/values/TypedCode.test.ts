import { assert, describe, it } from "@effect/vitest"
import { asciiDigits, plainCode } from "../../../src/domain/values/TypedCode.ts"

describe("A typed code", () => {
  it("is compared without blanks and invisible characters, wherever they stand", () => {
    for (const typed of [
      "123456",
      " 123456 ",
      "123 456",
      "12 34\t56\r\n",
      "123\u00a0456",
      "\u3000123456\u2009",
      "\u200b1\u200c2\u200d3\u20604\ufeff56",
      "\u202a123456\u202c",
      "\u2066123456\u2069",
      "123\u00ad456",
      "\u061c123456\u200f"
    ]) {
      assert.strictEqual(plainCode(typed), "123456", JSON.stringify(typed))
    }
  })

  it("is compared in the digits 0 to 9", () => {
    for (const typed of ["١٢٣٤٥٦", "۱۲۳۴۵۶", "१२३४५६", "১২৩৪৫৬", "๑๒๓๔๕๖", "１２３４５６", "𝟙𝟚𝟛𝟜𝟝𝟞", "𞥑𞥒𞥓𞥔𞥕𞥖"]) {
      assert.strictEqual(plainCode(typed), "123456", typed)
    }
  })

  it("keeps its letters and their case, in one normal form and width", () => {
    assert.strictEqual(plainCode("Spring-24"), "Spring-24")
    assert.strictEqual(plainCode(" ＳＰＲＩＮＧ２４ "), "SPRING24")
    assert.strictEqual(plainCode("ete\u0301"), plainCode("eté"))
    assert.strictEqual(plainCode("춘계".normalize("NFD")), "춘계")
    assert.strictEqual(plainCode("ﾊﾙ"), "ハル")
  })

  it("of blanks alone is empty", () => {
    for (const typed of ["", " ", "\u00a0\u3000", "\u200b\ufeff"]) assert.strictEqual(plainCode(typed), "")
  })
})

describe("Digits", () => {
  it("of every script have their value", () => {
    const digits: Array<string> = []
    for (let position = 0; position <= 0x10ffff; position++) {
      const character = String.fromCodePoint(position)
      if (/\p{Nd}/u.test(character)) digits.push(character)
    }
    const values = digits.map(asciiDigits).join("")
    assert.isAbove(digits.length, 600)
    assert.strictEqual(values, "0123456789".repeat(digits.length / 10))
  })
})
