import { assert, describe, it } from "@effect/vitest"
import { domainToASCII, domainToUnicode } from "node:url"
import { hostName, withUnicodeLabels } from "../../../src/domain/values/HostName.ts"

/** Names as they are looked up. */
const asciiNames = [
  "xn--bcher-kva.example",
  "xn--11b5bs3a9aj6g.com",
  "xn--mgbh0fb.xn--kgbechtv",
  "xn--fsqu00a.xn--0zwm56d",
  "xn--zckzah.jp",
  "xn--strae-oqa.de",
  "xn--n3h.com",
  "xn--ls8h.la",
  "mail.xn--80ak6aa92e.com",
  "example.xn--p1ai"
]

describe("A host name", () => {
  it("has one spelling in Unicode and one in ASCII, as the system's resolver has them", () => {
    for (const name of asciiNames) {
      const found = hostName(name.toUpperCase())
      assert.deepStrictEqual(found, { ascii: name, unicode: domainToUnicode(name) })
      assert.deepStrictEqual(hostName(found!.unicode), found)
      assert.strictEqual(domainToASCII(found!.unicode), name)
    }
  })

  it("is the same in wide and mathematical letters, with other full stops and with invisible characters", () => {
    for (const spelling of [
      "bücher.example",
      "BÜCHER.Example",
      "bu\u0308cher.example",
      "ｂüｃｈｅｒ．ｅｘａｍｐｌｅ",
      "bücher。example",
      "bücher｡example",
      "𝐛ü𝐜𝐡𝐞𝐫.𝖊𝖝𝖆𝖒𝖕𝖑𝖊",
      "bü\u00adcher.exam\u200bple",
      "xn--bcher-kva.EXAMPLE"
    ]) {
      assert.strictEqual(hostName(spelling)?.unicode, "bücher.example", spelling)
    }
    assert.notStrictEqual(hostName("straße.de")?.ascii, hostName("strasse.de")?.ascii)
  })

  it("is no address, no part of a URL, and no name that cannot be looked up", () => {
    for (const text of [
      "",
      "localhost",
      "127.0.0.1",
      "１２７.0.0.1",
      "0x7f.1",
      "0177.0.0.1",
      "host.123",
      "example.com:25",
      "user@example.com",
      "example.com/path",
      "example.com?x",
      "example.com#x",
      "example.com\\x",
      "ex%61mple.com",
      "ex％61mple.com",
      "exam\tple.com",
      "exam ple.com",
      "[::1]",
      ".example.com",
      "example.com.",
      "a..com",
      "-a.com",
      "a-.com",
      "xn--.com",
      "fa\u200cb.com",
      "\u0301a.com",
      `${"a".repeat(64)}.com`,
      `${"ü".repeat(60)}.com`,
      `${"a.".repeat(130)}com`
    ]) {
      assert.isUndefined(hostName(text), text)
    }
  })

  it("is read in a part of a text, and a label that stands for nothing stays", () => {
    assert.strictEqual(withUnicodeLabels("anna@xn--bcher-kva"), "anna@bücher")
    assert.strictEqual(withUnicodeLabels("@XN--BCHER-KVA.example, XN--P1AI"), "@bücher.example, рф")
    for (const text of ["xn--", "xn--a", "xn--zzzzzzzz", "axn--bcher-kva", "xn--bcher-kva-", "xn--999999999", "anna"]) {
      assert.strictEqual(withUnicodeLabels(text), text)
    }
  })
})
