import { assert, describe, it } from "@effect/vitest"
import type { Kind } from "../../../src/domain/mechanism/Mechanism.ts"
import { eventTypes, reportedEvents } from "../../../src/domain/webhook/Catalogue.ts"
import { notificationsOf } from "../../../src/domain/webhook/Payload.ts"
import { describedPayloads, exampleOf, payloadSchemaOf } from "../../../src/domain/webhook/PayloadSchema.ts"
import { payloadProblem } from "../../support/webhookPayloads.ts"

const id = "0199a000-0000-7000-8000-000000000001"
const at = Date.UTC(2026, 10, 22, 18)

/** The values of all fields that events have in the catalogue. */
const fields = {
  reason: "ADMIN_ACTION",
  amount: "19.90",
  closeAt: at,
  expiresAt: at,
  bookingId: id,
  startTime: at,
  endTime: at,
  variantId: id,
  channel: "email"
}

/** The events about a mechanism. */
const ofMechanism = new Set(["Configured", "Closed", "Ended", "Opened", "Paused", "Resumed", "Drawn", "Extended"])

const reasons: { readonly [event: string]: string } = { Paused: "HIGH_LOAD", Resumed: "HIGH_LOAD" }

describe("The schema of a payload", () => {
  it("exists for every type, and matches its example", () => {
    const all = describedPayloads()
    assert.deepStrictEqual(
      all.map(({ type }) => type),
      [...eventTypes]
    )
    for (const { type, example } of all) assert.isUndefined(payloadProblem({ type, ...example }))
  })

  it("matches every event of every kind of mechanism, with and without a product", () => {
    let seen = 0
    for (const kind of Object.keys(reportedEvents) as ReadonlyArray<Kind>) {
      const identity = { id, kind, organizationId: id, mode: "live", experienceId: id, sequenceId: id } as const
      for (const _tag of Object.keys(reportedEvents[kind])) {
        const event = {
          _tag,
          at,
          ...fields,
          reason: reasons[_tag] ?? fields.reason,
          ...(!ofMechanism.has(_tag) && { consumerId: id })
        }
        for (const productId of [id, undefined]) {
          for (const { body } of notificationsOf(identity, { sequence: 7, event }, eventTypes, productId)) {
            assert.isUndefined(payloadProblem(JSON.parse(body)), body)
            seen++
          }
        }
      }
    }
    assert.isAbove(seen, 80)
  })

  it("refuses a payload with a missing, a malformed or a further field", () => {
    const example = exampleOf("distribution.bid_placed") as { type: string; data: object }
    assert.isUndefined(payloadProblem(example))
    const { amount: _, ...others } = example.data as { amount?: string }
    const incomplete = { ...example, data: others }
    assert.include(payloadProblem(incomplete), "amount")
    assert.isDefined(payloadProblem({ ...example, data: { ...others, amount: 7 } } as typeof example))
    assert.isDefined(payloadProblem({ ...example, data: { ...example.data, seed: "s3cr3t" } } as typeof example))
    assert.isDefined(payloadProblem({ ...example, type: "distribution.joined" }))
  })

  it("names the kinds that report a type, and the status that an order has reached", () => {
    const dataOf = (type: "distribution.outbid" | "order.paid") =>
      payloadSchemaOf(type).properties!["data"]!.properties!
    assert.deepStrictEqual(dataOf("distribution.outbid")["distribution_type"]!.enum, ["auction"])
    assert.deepStrictEqual(dataOf("order.paid")["status"]!.enum, ["PAID"])
  })
})
