import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin, anExperience, aSequence, eventually, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

const aDraw = Effect.fnUntraced(function* (settings: object = {}) {
  const { call } = yield* Admin
  const { id: sequenceId } = yield* aSequence()
  const body = { sequenceId, name: "Raffle", winnerCount: 1, drawAt: inDays(1), ...settings }
  return (yield* call("POST", "/draws", body)).body
})

/** Enters consumers, and returns their ids. */
const enter = Effect.fnUntraced(function* (id: string, count: number) {
  const engine = yield* Engine
  const { brand } = yield* Admin
  const draw = { kind: "draw", id, tenant: brand.tenant } as const
  return yield* Effect.forEach(
    Array.from({ length: count }, () => randomUUID()),
    (consumerId) =>
      engine.send(draw, { _tag: "Enter", consumerId, isGuest: true, loyaltyScore: 0 }).pipe(Effect.as(consumerId))
  )
})

describe("Draws on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created with a time and a number of winners, and return every field", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { id: experienceId } = yield* anExperience({ timeZone: "America/New_York" })
        const { id: sequenceId } = yield* aSequence({ experienceId })
        const drawAt = inDays(1)
        const { status, body } = yield* call("POST", "/draws", { sequenceId, name: "Raffle", drawAt, winnerCount: 10 })
        assert.strictEqual(status, 201)
        const { id, createdAt, createdBy, updatedAt, updatedBy, seedCommitment, ...rest } = body
        assert.match(seedCommitment, /^[0-9a-f]{64}$/)
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          experienceId,
          sequenceId,
          name: "Raffle",
          timeZone: "America/New_York",
          openAt: null,
          closeAt: drawAt,
          drawAt,
          winnerCount: 10,
          capacity: null,
          stockId: null,
          admissionExpirationSeconds: null,
          supportsGuest: true,
          continueSelectingUntilCompleted: false,
          loyaltyBiasEnabled: false,
          loyaltyWeight: 1,
          riskWeight: 0,
          beacon: null,
          entriesDigest: null,
          beaconRound: null,
          drawnAt: null,
          statusOverride: null,
          statusOverrideAt: null,
          statusOverrideBy: null,
          teardownStatus: null,
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.deepStrictEqual((yield* call("GET", `/draws/${id}`)).body, body)
        assert.deepStrictEqual((yield* call("GET", `/draws?sequenceId=${sequenceId}`)).body.data, [body])
        const { type, allocation, lifecycle, live, ...record } = (yield* call("GET", `/distributions/${id}`)).body
        assert.deepStrictEqual([type, lifecycle, allocation, live.lastSequence], ["draw", "open", null, 2])
        assert.deepStrictEqual(live.counts, { ENTERED: 0, WON: 0, COMPLETED: 0, DENIED: 0, LEFT: 0 })
        assert.deepStrictEqual(record, body)
      })
    )

    it.effect("each commit to a different seed", () =>
      Effect.gen(function* () {
        const [one, two] = [yield* aDraw(), yield* aDraw()]
        assert.notStrictEqual(one.seedCommitment, two.seedCommitment)
      })
    )

    it.effect("change the fields that are sent: absent fields stay, and null restores the default", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const made = yield* aDraw({ capacity: 10, loyaltyWeight: 2.5, beacon: "drand", closeAt: inDays(0.5) })
        const { id, drawAt, seedCommitment } = made
        const changed = yield* call("PUT", `/draws/${id}`, { winnerCount: 5, capacity: 20 })
        assert.strictEqual(changed.status, 200)
        assert.deepInclude(changed.body, { winnerCount: 5, capacity: 20, loyaltyWeight: 2.5, beacon: "drand" })
        const nothing = { capacity: null, closeAt: null, loyaltyWeight: null, beacon: null, supportsGuest: null }
        const reset = yield* call("PUT", `/draws/${id}`, nothing)
        assert.deepInclude(reset.body, {
          capacity: null,
          closeAt: drawAt,
          loyaltyWeight: 1,
          beacon: null,
          supportsGuest: true,
          seedCommitment
        })
        const forged = yield* call("PUT", `/draws/${id}`, { ...reset.body, seedCommitment: "00".repeat(32) })
        assert.deepStrictEqual(forged.body, reset.body)
      })
    )

    it.effect("refuse malformed and contradictory settings", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, sequenceId } = yield* aDraw()
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ winnerCount: 0 }, ["winnerCount: min_value"]],
          [{ winnerCount: 1.5 }, ["winnerCount: integer"]],
          [{ winnerCount: 2_000_001 }, ["winnerCount: max_value"]],
          [{ winnerCount: "1" }, ["winnerCount: number"]],
          [{ capacity: 0 }, ["capacity: min_value"]],
          [{ admissionExpirationSeconds: 0 }, ["admissionExpirationSeconds: min_value"]],
          [{ loyaltyWeight: -0.1 }, ["loyaltyWeight: min_value"]],
          [{ loyaltyWeight: 1_001 }, ["loyaltyWeight: max_value"]],
          [{ beacon: "random.org" }, ["beacon: picklist"]],
          [{ continueSelectingUntilCompleted: "yes" }, ["continueSelectingUntilCompleted: boolean"]],
          [{ drawAt: "tomorrow" }, ["drawAt: date_time"]],
          [{ closeAt: inDays(2) }, ["drawAt: date_time"]],
          [{ openAt: inDays(3), closeAt: inDays(0.5) }, ["closeAt: date_time"]]
        ]
        for (const [mistake, expected] of mistakes) {
          const body = { sequenceId, name: "Raffle", winnerCount: 1, drawAt: inDays(1), ...mistake }
          assert.deepStrictEqual(issuesOf(yield* call("POST", "/draws", body)), expected, JSON.stringify(mistake))
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/draws/${id}`, mistake)), expected)
        }
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/draws", {})), [
          "drawAt: string",
          "name: string",
          "sequenceId: string",
          "winnerCount: number"
        ])
      })
    )

    it.effect("are drawn at their time, and then publish their seed in their record", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, seedCommitment } = yield* aDraw({ winnerCount: 2, drawAt: inDays(1) })
        yield* enter(id, 5)
        const past = inDays(-1)
        assert.strictEqual((yield* call("PUT", `/draws/${id}`, { closeAt: past, drawAt: past })).status, 200)
        const drawn = yield* eventually(call("GET", `/draws/${id}`), ({ body }) => body.drawnAt !== null)
        assert.strictEqual(drawn.body.seedCommitment, seedCommitment)
        assert.match(drawn.body.entriesDigest, /^[0-9a-f]{64}$/)
        assert.match(drawn.body.drawnAt, /^\d{4}-.*Z$/)
        assert.strictEqual(drawn.body.teardownStatus, "pending")
        const { counts } = (yield* eventually(
          call("GET", `/distributions/${id}`),
          ({ body }) => body.live.counts.ENTERED === 0
        )).body.live
        assert.deepInclude(counts, { WON: 2, DENIED: 3 })
        const { data } = (yield* call("GET", `/distributions/${id}/consumers?status=WON`)).body
        assert.lengthOf(data, 2)
        assert.match(data[0].wonAt, /Z$/)
        const refused = yield* call("PUT", `/draws/${id}`, { winnerCount: 3 })
        assert.deepStrictEqual([refused.status, refused.body], [409, { error: "Draw is closed", code: "CLOSED" }])
      })
    )

    it.effect("are drawn before their time, once", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aDraw({ winnerCount: 2, drawAt: inDays(1) })
        yield* enter(id, 3)
        const { status, body } = yield* call("POST", `/draws/${id}/draw`)
        assert.strictEqual(status, 200)
        assert.strictEqual(body.closeAt, body.drawAt)
        assert.isAtMost(Date.parse(body.drawAt), Date.now())
        yield* eventually(call("GET", `/draws/${id}`), ({ body }) => body.drawnAt !== null)
        assert.strictEqual((yield* call("POST", `/draws/${id}/draw`)).body.code, "CLOSED")
      })
    )

    it.effect("do not change the settings that decide the winners after the first entry", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aDraw({ openAt: inDays(-1) })
        yield* enter(id, 1)
        for (const change of [
          { beacon: "drand" },
          { loyaltyBiasEnabled: true },
          { loyaltyWeight: 3 },
          { openAt: null }
        ]) {
          const { status, body } = yield* call("PUT", `/draws/${id}`, change)
          assert.deepStrictEqual([status, body.code], [409, "CONFIGURATION_FIXED"], JSON.stringify(change))
        }
        assert.strictEqual((yield* call("PUT", `/draws/${id}`, { winnerCount: 3 })).status, 200)
      })
    )

    it.effect("end at once, and are archived permanently", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aDraw()
        yield* enter(id, 2)
        const ended = yield* call("POST", `/draws/${id}/end`)
        assert.deepInclude(ended.body, { statusOverride: "ended", drawnAt: null })
        const torn = yield* eventually(call("GET", `/draws/${id}`), ({ body }) => body.teardownStatus === "completed")
        assert.deepInclude(torn.body, { teardownStatus: "completed", entriesDigest: null })
        const { data } = (yield* call("GET", `/distributions/${id}/consumers?status=DENIED`)).body
        assert.deepStrictEqual(
          data.map(({ reason }: { reason: string }) => reason),
          ["DRAW_CLOSED", "DRAW_CLOSED"]
        )
        const archived = yield* call("DELETE", `/draws/${id}`)
        assert.deepInclude(archived.body, { id, archived: true })
        const gone = yield* call("GET", `/draws/${id}`)
        assert.deepStrictEqual([gone.status, gone.body], [404, { error: "Draw not found" }])
      })
    )
  })
})
