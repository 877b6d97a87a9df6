/** The places of one consumer, as staff list them. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { aConsumer } from "../../../store/support/recordsFixture.ts"
import { Admin, aQueue, aSequence, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const placesOf = Effect.fnUntraced(function* (consumerId: string, query = "") {
  const { call } = yield* Admin
  const { body } = yield* call("GET", `/consumers/${consumerId}/places${query}`)
  return body.data as ReadonlyArray<{ readonly [field: string]: any }>
})

/** Enters a new consumer of the brand into a queue, then a timed release, then a draw. */
const aVisitor = Effect.gen(function* () {
  const engine = yield* Engine
  const { brand, call } = yield* Admin
  const consumerId = yield* Effect.orDie(aConsumer(brand.tenant))
  const { id: sequenceId, experienceId } = yield* aSequence()
  const queue = yield* aQueue()
  const { body: release } = yield* call("POST", "/timed-releases", { name: "Release", sequenceId })
  const drawAt = "2033-01-01T00:00:00Z"
  const { body: draw } = yield* call("POST", "/draws", { name: "Raffle", sequenceId, drawAt, winnerCount: 1 })
  const entry = { _tag: "Enter", consumerId, isGuest: false, loyaltyScore: 0 } as const
  const risk = { score: 0.4, reasons: ["SHARED_ADDRESS"] } as const
  yield* engine.send({ kind: "queue", id: queue.id, tenant: brand.tenant }, { ...entry, risk })
  yield* engine.send({ kind: "timed_release", id: release.id, tenant: brand.tenant }, entry)
  yield* engine.send({ kind: "draw", id: draw.id, tenant: brand.tenant }, entry)
  return { consumerId, queue, release, draw, sequenceId, experienceId }
})

describe("The places of a consumer", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are listed in the order of entry, in every kind of mechanism, with the status's own fields", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { consumerId, queue, release, draw, sequenceId, experienceId } = yield* aVisitor
        const [first, second, third, ...more] = yield* placesOf(consumerId)
        assert.isEmpty(more)
        const { enteredAt, updatedAt, ...waiting } = first!
        assert.deepStrictEqual(waiting, {
          distributionId: queue.id,
          type: "queue",
          experienceId: queue.experienceId,
          sequenceId: queue.sequenceId,
          name: "Line",
          archived: false,
          status: "QUEUED",
          risk: { score: 0.4, reasons: ["SHARED_ADDRESS"] }
        })
        assert.strictEqual(enteredAt, updatedAt)
        assert.deepInclude(second, { distributionId: release.id, type: "timed_release", status: "ENTERED" })
        assert.deepInclude(third, { distributionId: draw.id, type: "draw", sequenceId, experienceId, name: "Raffle" })

        yield* call("POST", `/distributions/${queue.id}/deny`, { consumerIds: [consumerId], reason: "BOT_DETECTED" })
        const [denied] = yield* placesOf(consumerId)
        assert.deepInclude(denied, { status: "DENIED", reason: "BOT_DETECTED" })
        assert.match(denied!["deniedAt"], /Z$/)
      })
    )

    it.effect("are filtered by kind, by experience, and by whether they have ended", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { consumerId, queue, release, draw, experienceId } = yield* aVisitor
        const idsOf = (query: string) =>
          Effect.map(placesOf(consumerId, query), (all) => all.map(({ distributionId }) => distributionId))
        assert.deepStrictEqual(yield* idsOf("?type=draw"), [draw.id])
        assert.deepStrictEqual(yield* idsOf(`?experienceId=${experienceId}&sortDir=desc`), [draw.id, release.id])
        yield* call("DELETE", `/queues/${queue.id}`)
        assert.deepStrictEqual(yield* idsOf("?active=true"), [release.id, draw.id])
        const [archived] = yield* placesOf(consumerId)
        assert.deepInclude(archived, { distributionId: queue.id, archived: true, status: "DENIED" })
        assert.deepStrictEqual(issuesOf(yield* call("GET", `/consumers/${consumerId}/places?active=maybe`)), [
          "active: picklist"
        ])
      })
    )

    it.effect("are paged without skipping or repeating one", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { consumerId } = yield* aVisitor
        const seen: Array<string> = []
        let after = ""
        for (;;) {
          const { body } = yield* call("GET", `/consumers/${consumerId}/places?first=1${after}`)
          if (body.pageInfo.endCursor === null) break
          seen.push(...body.data.map(({ distributionId }: { readonly distributionId: string }) => distributionId))
          after = `&after=${encodeURIComponent(body.pageInfo.endCursor)}`
        }
        assert.lengthOf(new Set(seen), 3)
        assert.lengthOf(seen, 3)
      })
    )

    it.effect("are a 404 for a consumer that is unknown, archived or another tenant's", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { consumerId } = yield* aVisitor
        for (const other of [stranger, rehearsal]) {
          const { status, body } = yield* call("GET", `/consumers/${consumerId}/places`, undefined, other)
          assert.deepStrictEqual([status, body], [404, { error: "Consumer not found" }])
        }
        yield* call("DELETE", `/consumers/${consumerId}`)
        for (const gone of [consumerId, randomUUID()]) {
          assert.strictEqual((yield* call("GET", `/consumers/${gone}/places`)).status, 404)
        }
      })
    )
  })
})
