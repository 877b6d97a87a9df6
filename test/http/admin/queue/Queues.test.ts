import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Engine } from "../../../../src/engine/Engine.ts"
import {
  Admin,
  anExperience,
  aQueue,
  aSequence,
  enter,
  eventually,
  issuesOf,
  layer as adminLayer
} from "../adminFixture.ts"

const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

describe("Queues on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created with a name and a rate alone, and return every field", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { id: experienceId } = yield* anExperience({ timeZone: "America/New_York" })
        const { id: sequenceId } = yield* aSequence({ experienceId })
        const { status, body } = yield* call("POST", "/queues", { sequenceId, name: "Line", admitRate: 120 })
        assert.strictEqual(status, 201)
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = body
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          experienceId,
          sequenceId,
          name: "Line",
          timeZone: "America/New_York",
          openAt: null,
          closeAt: null,
          lobbyOpenAt: null,
          supportsGuest: true,
          admitRate: 120,
          admissionExpirationSeconds: null,
          capacity: null,
          stockId: null,
          maxAdmissions: null,
          recycleExpiredAdmissions: false,
          insideLimit: null,
          standby: false,
          admitBurst: null,
          admissionRenewal: null,
          grantsPerConsumer: null,
          loyaltyBiasEnabled: false,
          loyaltyHeadStartSeconds: 60,
          riskWeight: 0,
          pausedAt: null,
          pausedBy: null,
          pauseReason: null,
          statusOverride: null,
          statusOverrideAt: null,
          statusOverrideBy: null,
          teardownStatus: null,
          archived: false
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.deepStrictEqual((yield* call("GET", `/queues/${id}`)).body, body)
      })
    )

    it.effect("are live as soon as they are created", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const { brand } = yield* Admin
        const { id } = yield* aQueue({ admitRate: 1_000_000 })
        const [consumerId] = yield* enter(id, 1)
        const queue = { kind: "queue", id, tenant: brand.tenant } as const
        const { status } = yield* eventually(engine.view(queue, consumerId!), (view) => view.status === "GRANTED")
        assert.strictEqual(status, "GRANTED")
      })
    )

    it.effect("are created closed if their closing time has passed", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue({ openAt: inDays(-2), closeAt: inDays(-1) })
        const { body } = yield* call("GET", `/distributions/${id}`)
        assert.deepInclude(body, { lifecycle: "closed", teardownStatus: "completed", statusOverride: null })
        assert.strictEqual((yield* call("PUT", `/queues/${id}`, { admitRate: 1 })).body.code, "CLOSED")
      })
    )

    it.effect("change the fields that are sent: absent fields stay, and null restores the default", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue({ capacity: 10, maxAdmissions: 5, supportsGuest: false, timeZone: "Asia/Tokyo" })
        const changed = yield* call("PUT", `/queues/${id}`, { admitRate: 60, capacity: 20 })
        assert.strictEqual(changed.status, 200)
        const kept = { maxAdmissions: 5, supportsGuest: false, timeZone: "Asia/Tokyo", name: "Line" }
        assert.deepInclude(changed.body, { ...kept, admitRate: 60, capacity: 20 })
        const body = { capacity: null, supportsGuest: null, timeZone: null, loyaltyHeadStartSeconds: null }
        const reset = yield* call("PUT", `/queues/${id}`, body)
        assert.deepInclude(reset.body, {
          capacity: null,
          supportsGuest: true,
          timeZone: "UTC",
          loyaltyHeadStartSeconds: 60,
          admitRate: 60,
          maxAdmissions: 5
        })
        assert.deepStrictEqual((yield* call("GET", `/queues/${id}`)).body, reset.body)
        const echoed = yield* call("PUT", `/queues/${id}`, reset.body)
        assert.deepStrictEqual(echoed.body, reset.body)
      })
    )

    it.effect("take the settings of a queue in front of a site, and say how many are inside", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const admissionRenewal = { idleSeconds: 60, maxSeconds: 3_600 }
        const settings = { insideLimit: 1, standby: true, admitBurst: 5, admissionRenewal }
        const { id } = yield* aQueue({ admitRate: 600, ...settings })
        assert.deepInclude((yield* call("GET", `/queues/${id}`)).body, settings)
        assert.deepInclude((yield* call("GET", `/distributions/${id}/live`)).body, { inside: 0, engaged: false })
        yield* enter(id, 2)
        assert.deepInclude((yield* call("GET", `/distributions/${id}/live`)).body, {
          inside: 1,
          engaged: true,
          waiting: 1
        })
        yield* call("PUT", `/queues/${id}`, { insideLimit: 2 })
        assert.deepInclude((yield* call("GET", `/distributions/${id}/live`)).body, { inside: 2, waiting: 0 })
        const reset = yield* call("PUT", `/queues/${id}`, { standby: null, admitBurst: null, admissionRenewal: null })
        assert.deepInclude(reset.body, { standby: false, admitBurst: null, admissionRenewal: null, insideLimit: 2 })
      })
    )

    it.effect("lose no change when several admins change different fields at the same time", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        for (let round = 1; round <= 5; round++) {
          const { id } = yield* aQueue()
          const changes = {
            admitRate: round,
            capacity: 100 + round,
            maxAdmissions: 200 + round,
            name: `Round ${round}`
          }
          yield* Effect.forEach(
            Object.entries(changes),
            ([name, value]) => call("PUT", `/queues/${id}`, { [name]: value }),
            { concurrency: "unbounded" }
          )
          assert.deepInclude((yield* call("GET", `/queues/${id}`)).body, changes)
        }
      })
    )

    it.effect("refuse malformed fields, name every mistake, and change nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, sequenceId } = yield* aQueue({ admitRate: 10 })
        const before = (yield* call("GET", `/distributions/${id}`)).text
        const mistakes: ReadonlyArray<readonly [object | string, ReadonlyArray<string>]> = [
          [{ admitRate: -1 }, ["admitRate: min_value"]],
          [{ admitRate: 0.5 }, ["admitRate: integer"]],
          [{ admitRate: 1_000_001 }, ["admitRate: max_value"]],
          [{ admitRate: 1e308 }, ["admitRate: integer", "admitRate: max_value"]],
          [{ admitRate: "60" }, ["admitRate: number"]],
          [{ admitRate: "NaN" }, ["admitRate: number"]],
          [{ admitRate: Number.NaN }, ["admitRate: number"]],
          [{ admitRate: [60] }, ["admitRate: number"]],
          [{ admitRate: {} }, ["admitRate: number"]],
          [{ admitRate: true }, ["admitRate: number"]],
          [{ capacity: 0 }, ["capacity: min_value"]],
          [{ capacity: -5 }, ["capacity: min_value"]],
          [{ capacity: 1.5 }, ["capacity: integer"]],
          [{ capacity: "many" }, ["capacity: number"]],
          [{ maxAdmissions: 0 }, ["maxAdmissions: min_value"]],
          [{ maxAdmissions: 1e10 }, ["maxAdmissions: max_value"]],
          [{ admissionExpirationSeconds: 0 }, ["admissionExpirationSeconds: min_value"]],
          [{ admissionExpirationSeconds: 1e10 }, ["admissionExpirationSeconds: max_value"]],
          [{ loyaltyHeadStartSeconds: -1 }, ["loyaltyHeadStartSeconds: min_value"]],
          [{ supportsGuest: "yes" }, ["supportsGuest: boolean"]],
          [{ recycleExpiredAdmissions: 1 }, ["recycleExpiredAdmissions: boolean"]],
          [{ loyaltyBiasEnabled: "false" }, ["loyaltyBiasEnabled: boolean"]],
          [{ timeZone: "UTC+1" }, ["timeZone: picklist"]],
          [{ openAt: "tomorrow", closeAt: "2027-02-30T25:00:00Z" }, ["closeAt: date_time", "openAt: date_time"]],
          [{ openAt: inDays(2), closeAt: inDays(1) }, ["closeAt: date_time"]],
          [{ lobbyOpenAt: inDays(1) }, ["lobbyOpenAt: date_time"]],
          [{ lobbyOpenAt: inDays(2), openAt: inDays(1) }, ["lobbyOpenAt: date_time"]],
          [{ insideLimit: 0 }, ["insideLimit: min_value"]],
          [{ standby: "yes" }, ["standby: boolean"]],
          [{ standby: true, admitBurst: 0 }, ["admitBurst: min_value"]],
          [{ admitBurst: 5 }, ["admitBurst: integer"]],
          [{ admissionRenewal: { idleSeconds: 0, maxSeconds: 5 } }, ["admissionRenewal.idleSeconds: min_value"]],
          [{ admissionRenewal: { idleSeconds: 5 } }, ["admissionRenewal.maxSeconds: number"]],
          [{ admissionRenewal: { idleSeconds: 6, maxSeconds: 5 } }, ["admissionRenewal: object"]],
          [{ name: "", admitRate: -1, capacity: "x" }, ["admitRate: min_value", "capacity: number", "name: min_length"]]
        ]
        for (const [mistake, expected] of mistakes) {
          const shown = JSON.stringify(mistake)
          const creation = yield* call("POST", "/queues", {
            sequenceId,
            name: "Line",
            admitRate: 1,
            ...(mistake as object)
          })
          assert.deepStrictEqual(issuesOf(creation), expected, `POST ${shown}`)
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/queues/${id}`, mistake)), expected, `PUT ${shown}`)
        }
        for (const rate of ["1e999", "-1e999", "NaN", "Infinity", "0x10", "1_000"]) {
          const body = `{"sequenceId":"${sequenceId}","name":"Line","admitRate":${rate}}`
          assert.strictEqual((yield* call("POST", "/queues", body)).status, 400, rate)
          assert.strictEqual((yield* call("PUT", `/queues/${id}`, `{"admitRate":${rate}}`)).status, 400, rate)
        }
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/queues", {})), [
          "admitRate: number",
          "name: string",
          "sequenceId: string"
        ])
        assert.strictEqual((yield* call("GET", `/distributions/${id}`)).text, before)
        assert.lengthOf((yield* call("GET", `/queues?sequenceId=${sequenceId}`)).body.data, 1)
      })
    )

    it.effect("are not created below a sequence that does not exist", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { status, body } = yield* call("POST", "/queues", { sequenceId: unknown, name: "Line", admitRate: 1 })
        assert.deepStrictEqual([status, body], [404, { error: "Sequence not found" }])
      })
    )

    it.effect("end once and at once: waiting consumers are denied, and the configuration is fixed", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        yield* enter(id, 3)
        const ended = yield* call("POST", `/queues/${id}/end`)
        assert.strictEqual(ended.status, 200)
        assert.deepInclude(ended.body, {
          statusOverride: "ended",
          statusOverrideBy: ended.body.updatedBy,
          archived: false
        })
        assert.match(ended.body.statusOverrideAt, /Z$/)
        const torn = yield* eventually(call("GET", `/queues/${id}`), ({ body }) => body.teardownStatus === "completed")
        assert.strictEqual(torn.body.teardownStatus, "completed")
        const { data } = (yield* call("GET", `/distributions/${id}/consumers`)).body
        assert.deepStrictEqual(
          data.map(({ status, reason }: { status: string; reason: string }) => `${status} ${reason}`),
          ["DENIED QUEUE_CLOSED", "DENIED QUEUE_CLOSED", "DENIED QUEUE_CLOSED"]
        )
        const again = yield* call("POST", `/queues/${id}/end`)
        assert.deepStrictEqual(again.body, torn.body)
        const refused = yield* call("PUT", `/queues/${id}`, { admitRate: 5 })
        assert.deepStrictEqual([refused.status, refused.body], [409, { error: "Queue is closed", code: "CLOSED" }])
        assert.strictEqual((yield* call("GET", `/queues/${id}`)).text, torn.text)
      })
    )

    it.effect("keep their opening time once they have opened", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        const refused = yield* call("PUT", `/queues/${id}`, { openAt: inDays(1) })
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "CONFIGURATION_FIXED"])
        const { id: later } = yield* aQueue({ openAt: inDays(1) })
        const moved = yield* call("PUT", `/queues/${later}`, { openAt: inDays(2), lobbyOpenAt: inDays(1) })
        assert.strictEqual(moved.status, 200)
      })
    )

    it.effect("are archived permanently: they end, are returned once more, and are not found afterwards", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const engine = yield* Engine
        const { id } = yield* aQueue()
        yield* enter(id, 1)
        const archived = yield* call("DELETE", `/queues/${id}`)
        assert.strictEqual(archived.status, 200)
        assert.deepInclude(archived.body, { id, archived: true, statusOverride: "ended" })
        const answers = [
          yield* call("GET", `/queues/${id}`),
          yield* call("PUT", `/queues/${id}`, { admitRate: 1 }),
          yield* call("DELETE", `/queues/${id}`),
          yield* call("POST", `/queues/${id}/end`)
        ]
        for (const { status, body } of answers) {
          assert.deepStrictEqual([status, body], [404, { error: "Queue not found" }])
        }
        for (const suffix of ["", "/consumers", "/history"]) {
          const { status, body } = yield* call("GET", `/distributions/${id}${suffix}`)
          assert.deepStrictEqual([status, body], [404, { error: "Distribution not found" }])
        }
        const consumer = engine.view({ kind: "queue", id, tenant: brand.tenant }, unknown)
        assert.strictEqual((yield* Effect.flip(consumer))._tag, "MechanismNotFound")
        assert.deepStrictEqual(
          (yield* call("GET", `/queues?first=100`)).body.data.filter((q: { id: string }) => q.id === id),
          []
        )
      })
    )
  })
})
