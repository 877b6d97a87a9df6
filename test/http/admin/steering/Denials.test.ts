/** Denying many places of a mechanism, by name and by risk. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { denialsMax } from "../../../../src/api/admin/SteeringApi.ts"
import { Admin, aQueue, aSequence, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const reason = "BOT_DETECTED"

/** Enters consumers with these risks into a queue. */
const enterWith = Effect.fnUntraced(function* (id: string, scores: ReadonlyArray<number>) {
  const engine = yield* Engine
  const { brand } = yield* Admin
  const queue = { kind: "queue", id, tenant: brand.tenant } as const
  return yield* Effect.forEach(
    scores,
    Effect.fnUntraced(function* (score) {
      const consumerId = randomUUID()
      const risk = score === 0 ? undefined : ({ score, reasons: ["SHARED_ADDRESS"] } as const)
      yield* engine.send(queue, { _tag: "Enter", consumerId, isGuest: true, loyaltyScore: 0, risk })
      return consumerId
    }),
    { concurrency: 100 }
  )
})

/** Returns the statuses of consumers, as the list shows them. */
const statuses = Effect.fnUntraced(function* (id: string) {
  const { call } = yield* Admin
  const { body } = yield* call("GET", `/distributions/${id}/consumers?first=100`)
  return body.data.map((item: { readonly status: string }) => item.status)
})

describe("Denying many places", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("denies those whose risk is at least a score, each with an event and its author", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        yield* enterWith(id, [0, 0.2, 0.5, 0.7, 1])
        const answer = yield* call("POST", `/distributions/${id}/deny`, { minRiskScore: 0.5, reason })
        assert.strictEqual(answer.status, 200, answer.text)
        assert.deepStrictEqual(answer.body, { denied: 3, unchanged: 0, refused: 0, more: false })
        assert.sameMembers(yield* statuses(id), ["QUEUED", "QUEUED", "DENIED", "DENIED", "DENIED"])
        const { body } = yield* call("GET", `/distributions/${id}/history?type=Denied`)
        assert.lengthOf(body.data, 3)
        for (const { data } of body.data) {
          assert.strictEqual(data.reason, reason)
          assert.match(data.by, /\S/)
        }
        const { data } = (yield* call("GET", `/distributions/${id}/consumers?minRiskScore=0.5`)).body
        assert.sameMembers(
          data.map(({ risk }: { readonly risk: { readonly score: number } }) => risk.score),
          [0.5, 0.7, 1]
        )
      })
    )

    it.effect("is safe to repeat, and counts unchanged places", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const engine = yield* Engine
        const { brand } = yield* Admin
        const { id } = yield* aQueue()
        const [waiting, denied, left] = (yield* enterWith(id, [0, 0, 0])) as [string, string, string]
        const queue = { kind: "queue", id, tenant: brand.tenant } as const
        yield* engine.send(queue, { _tag: "Deny", consumerId: denied, reason: "ADMIN_ACTION", by: "shop" })
        yield* engine.send(queue, { _tag: "Leave", consumerId: left })
        const deny = call("POST", `/distributions/${id}/deny`, {
          consumerIds: [waiting, denied, left, randomUUID(), waiting.toUpperCase()],
          reason
        })
        assert.deepStrictEqual((yield* deny).body, { denied: 1, unchanged: 1, refused: 2, more: false })
        assert.deepStrictEqual((yield* deny).body, { denied: 0, unchanged: 2, refused: 2, more: false })
        const { body } = yield* call("GET", `/distributions/${id}/history?type=Denied`)
        assert.lengthOf(body.data, 2)
      })
    )

    it.effect("denies 500 at a time, and says whether there are more", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        yield* enterWith(
          id,
          Array.from({ length: denialsMax + 1 }, () => 0.4)
        )
        const deny = call("POST", `/distributions/${id}/deny`, { minRiskScore: 0.4, reason })
        assert.deepStrictEqual((yield* deny).body, { denied: denialsMax, unchanged: 0, refused: 0, more: true })
        assert.deepStrictEqual((yield* deny).body, { denied: 1, unchanged: 0, refused: 0, more: false })
        assert.deepStrictEqual((yield* deny).body, { denied: 0, unchanged: 0, refused: 0, more: false })
      })
    )

    it.effect("is a 404 for another tenant, and for kinds without denial", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { id, sequenceId } = yield* aQueue()
        yield* enterWith(id, [1])
        for (const other of [stranger, rehearsal]) {
          const { status } = yield* call("POST", `/distributions/${id}/deny`, { minRiskScore: 0.01, reason }, other)
          assert.strictEqual(status, 404)
        }
        assert.deepStrictEqual(yield* statuses(id), ["QUEUED"])
        const slots = { slotDurationMinutes: 30, slotsFrom: "2033-01-01T00:00:00Z", slotsUntil: "2033-01-02T00:00:00Z" }
        const { body: fitting } = yield* call("POST", "/appointments", { name: "Fitting", sequenceId, ...slots })
        assert.strictEqual(
          (yield* call("POST", `/distributions/${fitting.id}/deny`, { minRiskScore: 0.01, reason })).status,
          404
        )
      })
    )

    it.effect("denies places of every kind that has grants", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const engine = yield* Engine
        const sequenceId = (yield* aSequence()).id
        const later = "2033-01-01T00:00:00Z"
        const made = [
          ["draw", "/draws", { drawAt: later, winnerCount: 1 }],
          ["auction", "/auctions", { settleAt: later, startPrice: "10" }],
          ["timed_release", "/timed-releases", {}]
        ] as const
        for (const [kind, path, settings] of made) {
          const { body } = yield* call("POST", path, { name: "Any", sequenceId, ...settings })
          const consumerId = randomUUID()
          const risk = { score: 0.9, reasons: ["NEW_ACCOUNT"] } as const
          const command = { _tag: "Enter", consumerId, isGuest: true, loyaltyScore: 0, risk } as const
          yield* engine.send({ kind, id: body.id, tenant: brand.tenant }, command)
          const denied = yield* call("POST", `/distributions/${body.id}/deny`, { minRiskScore: 0.9, reason })
          assert.deepStrictEqual(denied.body, { denied: 1, unchanged: 0, refused: 0, more: false }, kind)
          assert.deepStrictEqual(yield* statuses(body.id), ["DENIED"])
        }
      })
    )

    it.effect("refuses bodies out of bounds", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        const ids = Array.from({ length: denialsMax + 1 }, () => randomUUID())
        const bodies: ReadonlyArray<object> = [
          {},
          { reason },
          { minRiskScore: 0.5 },
          { minRiskScore: 1.1, reason },
          { minRiskScore: -0.1, reason },
          { minRiskScore: 0, reason },
          { minRiskScore: 0.5, reason: "QUEUE_CLOSED" },
          { consumerIds: [], reason },
          { consumerIds: ids, reason },
          { consumerIds: ["ada"], reason },
          { consumerIds: ids.slice(0, 1), minRiskScore: 0.5, reason }
        ]
        for (const body of bodies) {
          const answer = yield* call("POST", `/distributions/${id}/deny`, body)
          assert.strictEqual(answer.status, 400, JSON.stringify(body).slice(0, 100))
        }
        const query = yield* call("GET", `/distributions/${id}/consumers?minRiskScore=2`)
        assert.strictEqual(query.status, 400)
        assert.isNotEmpty(issuesOf(query))
      })
    )
  })
})
