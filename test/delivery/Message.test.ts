import { assert, describe, it } from "@effect/vitest"
import { invitation, oneTimeCode, opening } from "../../src/delivery/Message.ts"

const tenant = { organizationId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a", mode: "live" } as const

describe("A message of Usher's own", () => {
  it("isolates a name that is written from right to left", () => {
    for (const name of ["מכירה 2026!", "عرض الربيع (2026)", "فروش ویژه – 50%", "א, ב"]) {
      const invited = invitation({ tenant, to: "ann@example.com", organization: name, role: "viewer" })
      assert.strictEqual(invited.subject, `You are invited to the dashboard of \u2068${name}\u2069`)
      assert.isTrue(invited.text.startsWith(`\u2068${name}\u2069 has invited you`))
      for (const [channel, to] of [
        ["email", "ann@example.com"],
        ["phone", "+4915112345678"]
      ] as const) {
        const opened = opening({ tenant, id: "1", channel, to, consumerId: "1", experience: name })
        assert.isTrue(opened.text.startsWith(`\u2068${name}\u2069 is open now.`))
      }
    }
  })

  it("has no invisible character around any other name", () => {
    for (const name of ["Spring Drop!", "試着会", "Распродажа (2026)", "Ünïcödé"]) {
      const { subject, text } = invitation({ tenant, to: "ann@example.com", organization: name, role: "viewer" })
      assert.notMatch(subject + text, /[\u2066-\u2069]/)
    }
  })

  it("begins a code with the brand that asks for it, on one line and not too long", () => {
    const textOf = (brand: string, channel: "email" | "phone" = "email") =>
      oneTimeCode({ tenant, channel, to: "ann@example.com", code: "639222", minutes: 10, brand })
    assert.strictEqual(textOf("Maison Aurore").subject, "Maison Aurore: 639222 is your code")
    assert.match(textOf("Maison Aurore").text, /^Maison Aurore: 639222 is your code to sign in\. It is/)
    assert.match(textOf("Maison Aurore", "phone").text, /^Maison Aurore: 639222 is your code to sign in, valid/)
    assert.strictEqual(textOf("a\r\nBcc: b").subject, "a Bcc: b: 639222 is your code")
    assert.strictEqual(textOf("é".repeat(90)).subject, `${"é".repeat(40)}: 639222 is your code`)
    assert.strictEqual(textOf(" ").subject, "639222 is your code")
  })
})
