import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  batchBytesMax,
  batchesOf,
  batchEventsMax,
  batchType,
  type QueuedNotification
} from "../../../src/domain/webhook/Batches.ts"

const tenant = { organizationId: "0199a000-0000-7000-8000-000000000002", mode: "live" } as const

/** For each event the number of its lane, and the bytes of its body. */
const Sizes = Schema.Array(
  Schema.Struct({
    lane: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 })),
    bytes: Schema.Int.check(Schema.isBetween({ minimum: 100, maximum: 4_096 }))
  })
).check(Schema.isMaxLength(400))

const queuedOf = (sizes: typeof Sizes.Type): ReadonlyArray<QueuedNotification> =>
  sizes.map(({ lane, bytes }, sequence) => {
    const event = {
      id: `evt_j_${sequence}_0`,
      type: "distribution.joined",
      timestamp: "2026-11-22T18:00:00.000Z",
      fill: ""
    }
    const fill = "é".repeat(Math.max(0, bytes - JSON.stringify(event).length) / 2)
    return { ...event, sequence, part: 0, lane: `lane ${lane}`, body: JSON.stringify({ ...event, fill }) }
  })

const idsOf = ({ body }: QueuedNotification): ReadonlyArray<string> =>
  JSON.parse(body).data.events.map(({ id }: { id: string }) => id)

describe("Batches", () => {
  it.prop(
    "contain each event once, each lane in order, within the bounds",
    [Sizes],
    ([sizes]) => {
      const queued = queuedOf(sizes)
      const batches = batchesOf(tenant, "journal", queued)
      const ids = batches.flatMap(idsOf)
      assert.sameMembers(
        ids,
        queued.map(({ id }) => id)
      )
      for (const [lane, own] of Map.groupBy(queued, (one) => one.lane)) {
        const expected = own.map(({ id }) => id)
        const holding = batches.filter((batch) => idsOf(batch).some((id) => expected.includes(id)))
        // One lane of batches keeps the order of the lane, because its notifications are sent one at a time.
        assert.isAtMost(new Set(holding.map((batch) => batch.lane)).size, 1, lane)
        assert.deepStrictEqual(
          holding.flatMap(idsOf).filter((id) => expected.includes(id)),
          expected
        )
      }
      for (const batch of batches) {
        assert.isAtMost(idsOf(batch).length, batchEventsMax)
        assert.isAtMost(Buffer.byteLength(batch.body), batchBytesMax)
      }
      for (const own of Map.groupBy(batches, ({ lane }) => lane).values()) {
        const starts = own.map(({ sequence }) => sequence)
        assert.deepStrictEqual(
          starts,
          starts.toSorted((one, other) => one - other)
        )
      }
      assert.strictEqual(new Set(batches.map(({ id }) => id)).size, batches.length)
      assert.deepStrictEqual(batchesOf(tenant, "journal", queued), batches)
    },
    { arbitrary: { runs: 100, size: 100 } }
  )

  it("have the fields of an event, and the number of their first one", () => {
    const queued = queuedOf([
      { lane: 1, bytes: 200 },
      { lane: 1, bytes: 200 }
    ])
    const [batch, ...others] = batchesOf(tenant, "journal", queued)
    assert.deepStrictEqual(others, [])
    const { data, ...fields } = JSON.parse(batch!.body)
    assert.deepStrictEqual(fields, {
      id: "evt_j_0_0_to_1_0_2",
      type: batchType,
      timestamp: "2026-11-22T18:00:00.000Z",
      organization_id: tenant.organizationId,
      version: 1,
      sequence: 0,
      mode: "live"
    })
    assert.deepStrictEqual(
      data.events,
      queued.map(({ body }) => JSON.parse(body))
    )
  })

  it("are full before another one begins", () => {
    const queued = queuedOf(Array.from({ length: 250 }, () => ({ lane: 1, bytes: 200 })))
    const sizes = batchesOf(tenant, "journal", queued).map((batch) => idsOf(batch).length)
    assert.deepStrictEqual(sizes, [100, 100, 50])
  })

  it("stay below the bound of their bytes", () => {
    const queued = queuedOf(Array.from({ length: 100 }, () => ({ lane: 1, bytes: 4_096 })))
    const sizes = batchesOf(tenant, "journal", queued).map(({ body }) => Buffer.byteLength(body))
    assert.lengthOf(sizes, 2)
    assert.isAbove(sizes[0]!, batchBytesMax - 6_000)
    assert.isAtMost(sizes[0]!, batchBytesMax)
  })

  it("leave reports about webhooks alone", () => {
    const [joined] = queuedOf([{ lane: 1, bytes: 200 }])
    const report = { ...joined!, type: "webhook.failed" }
    assert.deepStrictEqual(batchesOf(tenant, "journal", [report, report]), [report, report])
  })
})
