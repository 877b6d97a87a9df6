/** The line of a queue, as a visitor checks it over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { contradictions, positionIn } from "../../../../src/domain/queue/LineChecks.ts"
import { asServer, type Guest, layer as usherLayer, Usher } from "../../support/usherFixture.ts"
import { created } from "../mechanism/mechanismFixture.ts"
import { inQueue } from "../queue/queueFixture.ts"

const linePath = (id: string) => `/api/queues/${id}/line`

/** Reads the line until it tells this many tickets and calls. */
const lineOf = Effect.fnUntraced(function* (id: string, expected: object) {
  const { consumer } = yield* Usher
  for (;;) {
    const answer = yield* consumer({ path: linePath(id) })
    assert.strictEqual(answer.status, 200, answer.text)
    const { line } = answer.body
    const isRight = Object.entries(expected).every(([name, value]) => (line[name] ?? line.tally[name]) === value)
    if (isRight) return answer.body
    yield* Effect.sleep("50 millis")
  }
})

const byStaff = Effect.fnUntraced(function* (id: string, action: string, body: object) {
  const { admin, brand } = yield* Usher
  const headers = asServer(brand.secretKey)
  const answer = yield* admin({ method: "POST", path: `/api/queues/${id}/${action}`, headers, body })
  assert.strictEqual(answer.status, 200, answer.text)
})

describe("The line of a queue", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("gives each visitor its own position, and shows the actions of staff with their reasons", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const id = yield* queue({ maxAdmissions: 100 })
        const { enter, leave, status } = yield* inQueue(id)
        const guests = yield* Effect.replicateEffect(guest(), 7)
        for (const one of guests) yield* enter(one)
        const before = yield* lineOf(id, { issued: 7 })
        assert.deepStrictEqual(before.line.runs, [7])

        yield* leave(guests[1]!)
        yield* byStaff(id, "pause", { reason: "HIGH_LOAD" })
        yield* byStaff(id, "admit", { consumerIds: [guests[4]!.consumerId], reason: "CUSTOMER_CARE" })
        yield* byStaff(id, "admit", { count: 1 })
        const after = yield* lineOf(id, { left: 1, byHand: 2 })
        assert.deepInclude(after, {
          queueId: id,
          lifecycle: "open",
          admitRate: 0,
          paused: true,
          pauseReason: "HIGH_LOAD"
        })
        assert.deepInclude(after.line, { order: "arrival", issued: 7, waiting: 4, next: 3, runs: [2, 1, 2] })
        assert.deepStrictEqual(after.line.tally, { byRate: 0, byHand: 2, outOfOrder: 1, left: 1, removed: 0 })
        const told = after.line.acts.map(({ at, ...act }: { readonly at: string }) => [typeof at, act])
        assert.deepStrictEqual(told, [
          ["string", { act: "paused", reason: "HIGH_LOAD" }],
          ["string", { act: "admitted", reason: "CUSTOMER_CARE", count: 1, outOfOrder: 1 }],
          ["string", { act: "admitted", count: 1, outOfOrder: 0 }]
        ])
        assert.deepStrictEqual(contradictions(before.line, after.line), [])

        const standing = (one: Guest) => Effect.map(status(one), ({ body }) => body)
        let waiting = 0
        for (const one of guests) {
          const { status, ticket, position } = yield* standing(one)
          if (status !== "QUEUED") continue
          waiting++
          assert.strictEqual(positionIn(after.line, ticket), position)
        }
        assert.strictEqual(waiting, 4)
        for (const { consumerId } of guests) assert.notInclude(JSON.stringify(after), consumerId)
      })
    )

    it.effect("is one buffer for all callers, without a credential", () =>
      Effect.gen(function* () {
        const { brand, consumer, queue, stranger } = yield* Usher
        const id = yield* queue()
        const first = yield* consumer({ path: linePath(id) })
        const { etag = "" } = first.headers
        assert.strictEqual(first.headers["cache-control"], "public, max-age=1, s-maxage=1")
        const callers = [{ "x-publishable-key": stranger.publishableKey }, asServer(brand.secretKey)]
        for (const headers of callers) {
          const answer = yield* consumer({ path: linePath(id), headers })
          assert.deepStrictEqual([answer.status, answer.headers["etag"]], [200, etag])
        }
        const again = yield* consumer({ path: linePath(id), headers: { "if-none-match": etag } })
        assert.deepStrictEqual([again.status, again.text], [304, ""])
      })
    )

    it.effect("is a 404 for a queue that is unknown, archived or not for all consumers, and for another kind", () =>
      Effect.gen(function* () {
        const { admin, brand, consumer, queue } = yield* Usher
        const archived = yield* queue()
        yield* admin({ method: "DELETE", path: `/api/queues/${archived}`, headers: asServer(brand.secretKey) })
        const { id: experienceId } = yield* created("/experiences", { name: "Drop" })
        const { id: audienceId } = yield* created("/audiences", { name: "Members", type: "STATIC" })
        const { id: sequenceId } = yield* created("/sequences", { experienceId, name: "Members", audienceId })
        const { id: hidden } = yield* created("/queues", { sequenceId, name: "Early", admitRate: 0 })
        const { id: release } = yield* created("/timed-releases", { sequenceId, name: "Release" })
        for (const id of [archived, hidden, release, randomUUID()]) {
          const { status, body } = yield* consumer({ path: linePath(id) })
          assert.deepStrictEqual([status, body], [404, { error: "Queue not found" }])
        }
      })
    )
  })
})
