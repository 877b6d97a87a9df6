/** What a gate in the field remembers. */
import { assert, describe, it } from "@effect/vitest"
import type { GateRecord } from "../../src/client/gate.ts"
import { GateMemory } from "../../src/client/gateMemory.ts"
import { gates } from "./gates/vectorParts.ts"

const renewing = { experienceId: "drop", engaged: false, roomUrl: "", admissionRenewal: { idleSeconds: 60 } }
const record: GateRecord = { ...gates["shop"]!, queues: { renewing, plain: { ...renewing, admissionRenewal: null } } }
const memory = (limits = { ended: 10, visitors: 10 }) => new GateMemory(record, [], limits)

describe("the memory of a gate", () => {
  it("renews a visitor that is seen again at half of the idle time, and then at the next half", () => {
    const field = memory()
    field.seen("renewing.1", 0, true)
    field.seen("renewing.1", 29_999)
    assert.isFalse(field.hasRenewals)
    field.seen("renewing.1", 30_000)
    field.seen("renewing.1", 59_999)
    assert.deepStrictEqual(field.takeRenewals(1_000), [["renewing", ["renewing.1"]]])
    field.seen("renewing.1", 60_000)
    assert.isTrue(field.hasRenewals)
  })

  it("renews no grant of a queue without renewal, nor of an unknown one", () => {
    const field = memory()
    field.seen("plain.1", 0)
    field.seen("other.1", 0)
    assert.isFalse(field.hasRenewals)
  })

  it("takes renewals in calls of a size, and takes them back", () => {
    const field = memory()
    for (const number of [1, 2, 3]) field.seen(`renewing.${number}`, 0)
    const calls = field.takeRenewals(2)
    assert.deepStrictEqual(calls, [
      ["renewing", ["renewing.1", "renewing.2"]],
      ["renewing", ["renewing.3"]]
    ])
    assert.isFalse(field.hasRenewals)
    field.putBack("renewing", ["renewing.3"])
    assert.deepStrictEqual(field.takeRenewals(2), [["renewing", ["renewing.3"]]])
  })

  it("remembers a bounded number of visitors, the last ones among them", () => {
    const field = memory({ ended: 10, visitors: 2 })
    for (const number of [1, 2, 3, 4, 5]) field.seen(`renewing.${number}`, 0, true)
    field.seen("renewing.5", 1)
    assert.isFalse(field.hasRenewals)
    field.seen("renewing.1", 1)
    assert.isTrue(field.hasRenewals)
  })

  it("knows ended grants until their tokens expire, as many as it may", () => {
    const field = memory({ ended: 2, visitors: 10 })
    field.end("a", 1_000)
    field.noteEnds({ results: [{ jti: "b", code: "GRANT_ENDED" }, { jti: "c" }, { jti: null, code: "INVALID_GRANT" }] })
    field.end("d", 1_000)
    assert.deepStrictEqual([...field.ended.keys()], ["a", "b"])
    field.forgetExpired(1_000)
    assert.deepStrictEqual([...field.ended.keys()], ["b"])
  })

  it("takes a queue for engaged until the next record says otherwise", () => {
    const field = memory()
    field.engage("renewing")
    field.engage("unknown")
    assert.isTrue(field.isEngaged)
    field.gate = record
    assert.isFalse(field.isEngaged)
  })
})
