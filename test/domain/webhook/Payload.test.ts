import { assert, describe, it } from "@effect/vitest"
import type { Kind, MechanismIdentity } from "../../../src/domain/mechanism/Mechanism.ts"
import { eventTypes, reportedEvents } from "../../../src/domain/webhook/Catalogue.ts"
import { laneOf, notificationsOf } from "../../../src/domain/webhook/Payload.ts"

const kinds = Object.keys(reportedEvents) as ReadonlyArray<Kind>

const identity = (kind: Kind): MechanismIdentity => ({
  id: "0199a000-0000-7000-8000-000000000001",
  kind,
  organizationId: "0199a000-0000-7000-8000-000000000002",
  mode: "live",
  experienceId: "0199a000-0000-7000-8000-000000000003",
  sequenceId: "0199a000-0000-7000-8000-000000000004"
})

const consumerId = "0199a000-0000-7000-8000-000000000005"
const at = Date.UTC(2026, 10, 22, 18)

interface Sample {
  readonly _tag: string
  readonly [field: string]: unknown
}

const notified = (kind: Kind, event: Sample, types: ReadonlyArray<string> = eventTypes) =>
  notificationsOf(identity(kind), { sequence: 7, event: { at, consumerId, ...event } }, types)

describe("The notification of an event", () => {
  it("has consumer, distribution, experience and product, and an id from mechanism, event and part", () => {
    const [joined] = notified("queue", { _tag: "Entered" })
    assert.deepStrictEqual(JSON.parse(joined!.body), {
      id: "evt_0199a000000070008000000000000001_7_0",
      type: "distribution.joined",
      timestamp: "2026-11-22T18:00:00.000Z",
      organization_id: "0199a000-0000-7000-8000-000000000002",
      version: 1,
      sequence: 7,
      mode: "live",
      data: {
        consumer_id: consumerId,
        distribution_id: "0199a000-0000-7000-8000-000000000001",
        distribution_type: "queue",
        experience_id: "0199a000-0000-7000-8000-000000000003",
        sequence_id: "0199a000-0000-7000-8000-000000000004"
      }
    })
    assert.deepStrictEqual(notified("queue", { _tag: "Entered" }), [joined!])
  })

  it("is two for a win, each with an id of its own", () => {
    const won = notified("draw", { _tag: "Won" })
    assert.deepStrictEqual(
      won.map(({ id, type }) => [id.slice(-4), type]),
      [
        ["_7_0", "distribution.admitted"],
        ["_7_1", "distribution.winner_selected"]
      ]
    )
    assert.deepStrictEqual(
      notified("draw", { _tag: "Won" }, ["distribution.winner_selected"]).map(({ id }) => id),
      [won[1]!.id]
    )
  })

  it("shows the listed fields alone, so nothing secret leaves the journal", () => {
    const secrets = { seed: "s3cr3t", salt: "s3cr3t", confirmationCode: "s3cr3t", handleSalt: "s3cr3t", by: "s3cr3t" }
    let notifications = 0
    for (const kind of kinds) {
      for (const event of Object.keys(reportedEvents[kind])) {
        for (const { body } of notified(kind, { _tag: event, configuration: secrets, ...secrets })) {
          assert.notInclude(body, "s3cr3t")
          notifications++
        }
      }
    }
    assert.isAbove(notifications, 40)
  })

  it("names the product in every type, if there is one", () => {
    const productId = "0199a000-0000-7000-8000-000000000006"
    const named = new Set<string>()
    for (const kind of kinds) {
      for (const tag of Object.keys(reportedEvents[kind])) {
        const event = { _tag: tag, at, consumerId }
        for (const { type, body } of notificationsOf(identity(kind), { sequence: 7, event }, eventTypes, productId)) {
          assert.strictEqual(JSON.parse(body).data.product_id, productId, `${kind} ${type}`)
          named.add(type)
        }
        for (const { body } of notificationsOf(identity(kind), { sequence: 7, event }, eventTypes)) {
          assert.notProperty(JSON.parse(body).data, "product_id")
        }
      }
    }
    assert.sameMembers(
      [...named],
      eventTypes.filter((type) => type.startsWith("distribution."))
    )
  })

  it("shows instants as text and amounts as they were bid", () => {
    const dataOf = (kind: Kind, event: Sample) => JSON.parse(notified(kind, event)[0]!.body).data
    assert.strictEqual(dataOf("auction", { _tag: "BidPlaced", amount: "19.90" }).amount, "19.90")
    assert.include(dataOf("appointment", { _tag: "Booked", startTime: at, endTime: at + 60_000, bookingId: "b" }), {
      start_time: "2026-11-22T18:00:00.000Z",
      end_time: "2026-11-22T18:01:00.000Z",
      booking_id: "b"
    })
  })
})

describe("The lane of a notification", () => {
  const [one] = notified("queue", { _tag: "Entered" })
  const [other] = notified("queue", { _tag: "Entered", consumerId: "0199a000-0000-7000-8000-000000000009" })

  it("is the consumer's in the mechanism, the mechanism's, or its own", () => {
    assert.notStrictEqual(laneOf("consumer", "m", one!), laneOf("consumer", "m", other!))
    assert.strictEqual(laneOf("consumer", "m", one!), laneOf("consumer", "m", { ...one!, id: "another" }))
    assert.strictEqual(laneOf("distribution", "m", one!), laneOf("distribution", "m", other!))
    assert.notStrictEqual(laneOf("none", "m", one!), laneOf("none", "m", { ...one!, id: "another" }))
  })
})
