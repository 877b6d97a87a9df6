/** What a gate in the field says of itself. */
import { assert, describe, it } from "@effect/vitest"
import { reportIn, textOf } from "../../../src/domain/gate/Report.ts"

describe("The report of a gate", () => {
  it("names runtime, instance, version and the decisions since its begin", () => {
    const report = reportIn("node/0199b2a1-7c3e 47DEQpj8HBSa-_TImW-5JC pass=12 room=3 other=5")
    assert.deepStrictEqual(report, {
      runtime: "node",
      instance: "0199b2a1-7c3e",
      version: "47DEQpj8HBSa-_TImW-5JC",
      decisions: { pass: 12, return: 0, room: 3, wait: 0, closed: 0 }
    })
    assert.deepStrictEqual(reportIn(textOf(report!)), report)
  })

  it("is none where the text has another form, or is long", () => {
    for (const text of [
      "",
      "node",
      "node/1",
      "node/1 v pass=x",
      "node/1 v pass=-1",
      "no de/1 v",
      `node/1 v${" a=1".repeat(10)}`
    ]) {
      assert.isUndefined(reportIn(text), text)
    }
    assert.isDefined(reportIn("node/1 v"))
    assert.isUndefined(reportIn(`node/1 v${" pass=123456789012345".repeat(20)}`))
    assert.isUndefined(reportIn(undefined))
  })
})
