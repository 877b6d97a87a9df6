import { assert, describe, it } from "@effect/vitest"
import { Exit, Schema } from "effect"
import { eventTypes } from "../../../src/domain/webhook/Catalogue.ts"
import { Settings } from "../../../src/domain/webhook/Webhook.ts"

const decode = Schema.decodeUnknownExit(Settings)
const valid = { url: "https://shop.example/usher", events: ["distribution.joined"] }

describe("The settings of a webhook", () => {
  it("need an address and a type of event", () => {
    assert.deepStrictEqual(decode(valid), Exit.succeed(valid as typeof Settings.Type))
    const all = { ...valid, events: eventTypes, description: "Stock", ordering: "none", schedule: "extended" }
    assert.deepStrictEqual(decode(all), Exit.succeed(all as typeof Settings.Type))
  })

  it("are refused without them, with unknown words, and above their lengths", () => {
    const mistakes = [
      { url: undefined },
      { url: "" },
      { url: `https://shop.example/${"a".repeat(2_000)}` },
      { events: undefined },
      { events: [] },
      { events: ["distribution.unknown"] },
      { events: Array.from({ length: 51 }, () => "distribution.joined") },
      { description: "a".repeat(501) },
      { ordering: "random" },
      { schedule: "never" }
    ]
    for (const mistake of mistakes) {
      assert.isTrue(Exit.isFailure(decode({ ...valid, ...mistake })), JSON.stringify(mistake).slice(0, 80))
    }
  })
})
