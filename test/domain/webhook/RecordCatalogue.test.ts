import { assert, describe, it } from "@effect/vitest"
import { tenantEventTypes } from "../../../src/domain/organization/TenantEvent.ts"
import { eventTypes } from "../../../src/domain/webhook/Catalogue.ts"
import { changesFor, reportedChanges, reportsOf } from "../../../src/domain/webhook/RecordCatalogue.ts"

const change = { sequence: 3, at: 0, subjectId: "the-record", changed: [], before: {}, after: {} } as const

const order = { consumerId: "ann", currencyCode: "USD", total: "129.50" }

const reported = (type: keyof typeof reportedChanges, more: object, types: ReadonlyArray<string> = eventTypes) =>
  reportsOf({ ...change, type, ...more }, types)

describe("The catalogue of events of records", () => {
  it("names only events of the journal, and only types with a description", () => {
    for (const [event, row] of Object.entries(reportedChanges)) {
      assert.include(tenantEventTypes, event)
      for (const { type } of row) assert.include(eventTypes, type)
    }
  })

  it("finds the events that lead to a type", () => {
    assert.deepStrictEqual(changesFor(["order.paid"]), ["order.created", "order.updated"])
    assert.deepStrictEqual(changesFor(["consumer.deleted"]), ["consumer.archived"])
    assert.deepStrictEqual(changesFor(["distribution.joined"]), [])
  })

  it("reports the status that an order has reached, and only then", () => {
    const paid = reported("order.created", { after: { status: "PAID" }, context: { ...order, status: "PAID" } })
    assert.deepStrictEqual(
      paid.map(({ type, part }) => [type, part]),
      [
        ["order.created", 0],
        ["order.paid", 1]
      ]
    )
    assert.deepInclude(paid[1]!.data, { order_id: "the-record", consumer_id: "ann", total: "129.50", status: "PAID" })
    const renumbered = { changed: ["number"], context: { ...order, status: "PAID" } }
    assert.deepStrictEqual(reported("order.updated", renumbered), [])
    const subscribed = ["order.cancelled"]
    assert.lengthOf(reported("order.updated", { after: { status: "CANCELLED" } }, subscribed), 1)
    assert.lengthOf(reported("order.updated", { after: { status: "FULFILLED" } }, subscribed), 0)
  })

  it("reports an event that needs attention with its order, if there is one", () => {
    const after = { reason: "GRANT_LAPSED", receiverId: "r", receivedEventId: "evt_1" }
    const context = { ...order, orderId: "o", status: "PAID", grantLapsed: true }
    const [found] = reported("order.needs_attention", { after, context })
    const { order_id, status, grant_lapsed, reason, receiver_id, received_event_id } = found!.data
    assert.deepStrictEqual(
      [order_id, status, grant_lapsed, reason, receiver_id, received_event_id],
      ["o", "PAID", true, "GRANT_LAPSED", "r", "evt_1"]
    )
    assert.isUndefined(reported("order.needs_attention", { after, context: {} })[0]!.data["order_id"])
  })

  it("names the fields of a consumer that changed, and nothing else about it", () => {
    const values = { after: { email: "ann@example.com" }, context: { email: "ann@example.com" } }
    assert.deepStrictEqual(reported("consumer.updated", { ...values, changed: ["email"] }), [
      { type: "consumer.updated", part: 0, data: { consumer_id: "the-record", changed: ["email"] } }
    ])
    assert.deepStrictEqual(reported("consumer.created", { ...values, changed: ["email"] })[0]!.data, {
      consumer_id: "the-record"
    })
  })
})
