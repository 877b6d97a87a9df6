import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Settings } from "../../../src/domain/experience/ExperiencePage.ts"
import { sms } from "./creative/documents.ts"

const settings = { slug: "opening", title: "The opening", creativeDocument: sms() }

const isAccepted = (input: unknown): boolean => Schema.decodeUnknownExit(Settings)(input)._tag === "Success"

describe("An experience page's settings", () => {
  it("are a slug, a title and a document, and an editor's notes", () => {
    const more = {
      creativeDesignId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a",
      creativeTemplateKey: "",
      metadata: { campaign: [1, "two"] }
    }
    for (const input of [settings, { ...settings, ...more }]) {
      assert.deepStrictEqual<unknown>(Schema.decodeUnknownSync(Settings)(input), input)
    }
  })

  it("take any text as a slug that can be stored", () => {
    for (const slug of ["a", "/", "Über uns", "a".repeat(200)]) assert.isTrue(isAccepted({ ...settings, slug }), slug)
  })

  it("are refused with a part missing or wrong", () => {
    const { slug: _slug, ...slugless } = settings
    const { title: _title, ...titleless } = settings
    const { creativeDocument: _document, ...documentless } = settings
    const wrong = [
      slugless,
      titleless,
      documentless,
      { ...settings, slug: "" },
      { ...settings, slug: "a".repeat(201) },
      { ...settings, title: "" },
      { ...settings, title: "a".repeat(501) },
      { ...settings, creativeDocument: {} },
      { ...settings, creativeDesignId: "x" },
      { ...settings, creativeTemplateKey: 1 },
      { ...settings, metadata: [] }
    ]
    assert.deepStrictEqual(wrong.filter(isAccepted), [])
  })
})
