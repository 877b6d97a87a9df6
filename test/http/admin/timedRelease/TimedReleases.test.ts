import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin, aSequence, eventually, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

const aRelease = Effect.fnUntraced(function* (settings: object = {}) {
  const { call } = yield* Admin
  const { id: sequenceId } = yield* aSequence()
  return (yield* call("POST", "/timed-releases", { sequenceId, name: "Release", ...settings })).body
})

/** Enters a consumer, and returns its id. */
const enter = Effect.fnUntraced(function* (id: string, variantId?: string) {
  const engine = yield* Engine
  const { brand } = yield* Admin
  const consumerId = randomUUID()
  const release = { kind: "timed_release", id, tenant: brand.tenant } as const
  yield* engine.send(release, { _tag: "Enter", consumerId, isGuest: true, ...(variantId && { variantId }) })
  return consumerId
})

describe("Timed releases on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created with a name alone, and return every field", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { id: sequenceId, experienceId } = yield* aSequence()
        const { status, body } = yield* call("POST", "/timed-releases", { sequenceId, name: "Release" })
        assert.strictEqual(status, 201)
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = body
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          experienceId,
          sequenceId,
          name: "Release",
          timeZone: "UTC",
          openAt: null,
          closeAt: null,
          supportsGuest: true,
          capacity: null,
          stockId: null,
          admissionExpirationSeconds: null,
          grantsPerConsumer: null,
          variantIds: null,
          statusOverride: null,
          statusOverrideAt: null,
          statusOverrideBy: null,
          teardownStatus: null,
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.deepStrictEqual((yield* call("GET", `/timed-releases/${id}`)).body, body)
        const { data } = (yield* call("GET", `/timed-releases?sequenceId=${sequenceId}`)).body
        assert.deepStrictEqual(data, [body])
      })
    )

    it.effect("change the fields that are sent: absent fields stay, and null restores the default", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const variantIds = [randomUUID(), randomUUID()]
        const { id } = yield* aRelease({ capacity: 10, supportsGuest: false, variantIds, openAt: inDays(1) })
        const changed = yield* call("PUT", `/timed-releases/${id}`, { capacity: 20, openAt: inDays(2) })
        assert.strictEqual(changed.status, 200)
        assert.deepInclude(changed.body, { capacity: 20, supportsGuest: false, variantIds })
        const body = { capacity: null, supportsGuest: null, variantIds: null, openAt: null }
        const reset = yield* call("PUT", `/timed-releases/${id}`, body)
        assert.deepInclude(reset.body, { capacity: null, supportsGuest: true, variantIds: null, openAt: null })
        const fixed = yield* call("PUT", `/timed-releases/${id}`, { openAt: inDays(1) })
        assert.deepStrictEqual([fixed.status, fixed.body.code], [409, "CONFIGURATION_FIXED"])
      })
    )

    it.effect("refuse malformed fields, name every mistake, and change nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, sequenceId } = yield* aRelease({ capacity: 5 })
        const before = (yield* call("GET", `/timed-releases/${id}`)).text
        const many = Array.from({ length: 1_001 }, () => randomUUID())
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ openAt: inDays(2), closeAt: inDays(1) }, ["closeAt: date_time"]],
          [{ capacity: 0 }, ["capacity: min_value"]],
          [{ capacity: 1.5 }, ["capacity: integer"]],
          [{ admissionExpirationSeconds: 0 }, ["admissionExpirationSeconds: min_value"]],
          [{ variantIds: [] }, ["variantIds: min_length"]],
          [{ variantIds: many }, ["variantIds: max_length"]],
          [{ variantIds: [randomUUID(), "red", 7] }, ["variantIds.1: uuid", "variantIds.2: string"]],
          [{ variantIds: randomUUID() }, ["variantIds: array"]],
          [{ supportsGuest: "no", name: "" }, ["name: min_length", "supportsGuest: boolean"]]
        ]
        for (const [mistake, expected] of mistakes) {
          const shown = JSON.stringify(mistake).slice(0, 100)
          const creation = yield* call("POST", "/timed-releases", { sequenceId, name: "Release", ...mistake })
          assert.deepStrictEqual(issuesOf(creation), expected, `POST ${shown}`)
          const change = yield* call("PUT", `/timed-releases/${id}`, mistake)
          assert.deepStrictEqual(issuesOf(change), expected, `PUT ${shown}`)
        }
        assert.strictEqual((yield* call("GET", `/timed-releases/${id}`)).text, before)
      })
    )

    it.effect("send watchers the counters: an entry counts as an entry and as a grant", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aRelease({ admissionExpirationSeconds: 600 })
        const variantId = randomUUID()
        const consumerId = yield* enter(id, variantId)
        const { body } = yield* call("GET", `/distributions/${id}`)
        assert.deepInclude(body, { type: "timed_release", lifecycle: "open" })
        assert.deepInclude(body.live, {
          counts: { ENTERED: 1, COMPLETED: 0, DENIED: 0, EXPIRED: 0, LEFT: 0 },
          entriesPerMinute: 1,
          grantsPerMinute: 1
        })
        const { data } = (yield* call("GET", `/distributions/${id}/consumers?status=ENTERED`)).body
        assert.lengthOf(data, 1)
        assert.deepInclude(data[0], { consumerId, status: "ENTERED", selectedVariantId: variantId })
        assert.property(data[0], "expiresAt")
        assert.deepStrictEqual((yield* call("GET", `/distributions/${id}/consumers?status=EXPIRED`)).body.data, [])
        const history = (yield* call("GET", `/distributions/${id}/history?type=Entered`)).body.data
        assert.deepStrictEqual(history[0].data, { variantId })
      })
    )

    it.effect("end once and at once; their work is complete when the grants have ended", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aRelease({ admissionExpirationSeconds: 4 })
        yield* enter(id)
        const ended = yield* call("POST", `/timed-releases/${id}/end`)
        assert.deepInclude(ended.body, { statusOverride: "ended", teardownStatus: "pending" })
        const refused = yield* call("PUT", `/timed-releases/${id}`, { capacity: 1 })
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "CLOSED"])
        const torn = yield* eventually(
          call("GET", `/timed-releases/${id}`),
          ({ body }) => body.teardownStatus === "completed"
        )
        assert.strictEqual(torn.body.teardownStatus, "completed")
        const { data } = (yield* call("GET", `/distributions/${id}/consumers`)).body
        assert.strictEqual(data[0].status, "EXPIRED")
        const archived = yield* call("DELETE", `/timed-releases/${id}`)
        assert.deepInclude(archived.body, { id, archived: true })
        const gone = yield* call("GET", `/timed-releases/${id}`)
        assert.deepStrictEqual([gone.status, gone.body], [404, { error: "Timed release not found" }])
      })
    )
  })
})
