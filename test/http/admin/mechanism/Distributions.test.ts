import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Engine } from "../../../../src/engine/Engine.ts"
import { aBrokenQueue, Admin, aQueue, enter, eventually, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

interface Item {
  readonly consumerId: string
  readonly status: string
  readonly sequence: number
  readonly type: string
}

/** Creates a queue with five consumers: one each granted, completed, denied and left, and one who waits. */
const aBusyQueue = Effect.fnUntraced(function* () {
  const engine = yield* Engine
  const { brand } = yield* Admin
  const { id } = yield* aQueue({ admissionExpirationSeconds: 600 })
  const consumers = yield* enter(id, 5)
  const queue = { kind: "queue", id, tenant: brand.tenant } as const
  const [granted, completed, denied, left] = consumers as [string, string, string, string, string]
  yield* engine.send(queue, { _tag: "Admit", consumerId: granted, by: "admin" })
  yield* engine.send(queue, { _tag: "Admit", consumerId: completed, by: "admin" })
  yield* engine.send(queue, { _tag: "Complete", consumerId: completed, by: "admin" })
  yield* engine.send(queue, { _tag: "Deny", consumerId: denied, reason: "BOT_DETECTED", by: "admin" })
  yield* engine.send(queue, { _tag: "Leave", consumerId: left })
  return { id, consumers }
})

describe("Distributions on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("show a queue's record, its status, and its actor's counters", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aBusyQueue()
        const record = (yield* call("GET", `/queues/${id}`)).body
        const { status, body } = yield* call("GET", `/distributions/${id}`)
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(body, {
          ...record,
          type: "queue",
          lifecycle: "open",
          allocation: null,
          live: {
            counts: { QUEUED: 1, GRANTED: 1, COMPLETED: 1, DENIED: 1, LEFT: 1 },
            entriesPerMinute: 5,
            grantsPerMinute: 2,
            lastSequence: 11,
            node: "test",
            restarts: 0,
            parked: false
          }
        })
      })
    )

    it.effect("show each lifecycle", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const lifecycle = (id: string) => Effect.map(call("GET", `/distributions/${id}`), ({ body }) => body.lifecycle)
        const { id: later } = yield* aQueue({ openAt: "2033-01-01T00:00:00Z" })
        assert.strictEqual(yield* lifecycle(later), "scheduled")
        const { id } = yield* aBusyQueue()
        assert.strictEqual(yield* lifecycle(id), "open")
        yield* call("POST", `/queues/${id}/end`)
        // A grant is still outstanding.
        assert.strictEqual(yield* lifecycle(id), "settling")
        yield* call("POST", `/queues/${later}/end`)
        assert.strictEqual(yield* eventually(lifecycle(later), (answer) => answer === "closed"), "closed")
      })
    )

    it.effect("list the consumers with the fields of their status", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, consumers } = yield* aBusyQueue()
        const { data } = (yield* call("GET", `/distributions/${id}/consumers?sortBy=enteredAt`)).body
        assert.sameMembers(
          data.map(({ consumerId }: Item) => consumerId),
          consumers
        )
        const own = (index: number) => {
          const { enteredAt, updatedAt, email, phone, fullName, consumerId, risk, ...rest } = data.find(
            (item: Item) => item.consumerId === consumers[index]
          )
          assert.match(enteredAt, /Z$/)
          assert.match(updatedAt, /Z$/)
          assert.deepStrictEqual([email, phone, fullName], [null, null, null])
          assert.strictEqual(consumerId, consumers[index])
          assert.deepStrictEqual(risk, { score: 0, reasons: [] })
          return rest
        }
        assert.hasAllKeys(own(0), ["status", "grantedAt", "expiresAt"])
        assert.hasAllKeys(own(1), ["status", "completedAt"])
        assert.deepInclude(own(2), { status: "DENIED", reason: "BOT_DETECTED" })
        assert.hasAllKeys(own(3), ["status", "leftAt"])
        assert.deepStrictEqual(own(4), { status: "QUEUED" })
      })
    )

    it.effect("filter the consumers by status, and find one by id or address", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const sql = yield* SqlClient.SqlClient
        const { id, consumers } = yield* aBusyQueue()
        yield* sql`
          insert into consumers (id, organization_id, mode, type, email, phone, full_name, created_at)
          values (${consumers[4]!}, ${brand.tenant.organizationId}, 'live', 'authenticated', 'jane@example.com',
            '+4915112345678', 'Jane Doe', now())`
        const found = (query: string) =>
          Effect.map(call("GET", `/distributions/${id}/consumers?${query}`), ({ body }) =>
            body.data.map(({ consumerId }: Item) => consumerId)
          )
        assert.deepStrictEqual(yield* found("status=GRANTED"), [consumers[0]])
        assert.deepStrictEqual(yield* found("status=QUEUED&search=JANE@"), [consumers[4]])
        assert.deepStrictEqual(yield* found("status=LEFT&search=jane@"), [])
        assert.deepStrictEqual(yield* found("search=%2B49151"), [consumers[4]])
        assert.deepStrictEqual(yield* found(`search=${consumers[2]}`), [consumers[2]])
        const { data } = (yield* call("GET", `/distributions/${id}/consumers?search=jane`)).body
        assert.deepInclude(data[0], { email: "jane@example.com", phone: "+4915112345678", fullName: "Jane Doe" })
        const { body, status } = yield* call(
          "GET",
          `/distributions/${id}/consumers?status=WAITING&search=j&sortBy=email`
        )
        assert.deepStrictEqual(issuesOf({ body, status }), [
          "search: min_length",
          "sortBy: picklist",
          "status: picklist"
        ])
      })
    )

    it.effect("page through consumers and history without repeats while more consumers enter", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        const first = yield* enter(id, 30)
        const walk = Effect.fnUntraced(function* (list: string) {
          const items: Array<Item> = []
          let cursor: string | null = null
          do {
            const after: string = cursor === null ? "" : `&after=${cursor}`
            const { body } = yield* call("GET", `/distributions/${id}/${list}?first=7${after}`)
            items.push(...body.data)
            cursor = body.pageInfo.endCursor
            if (items.length === 14) yield* enter(id, 3)
          } while (cursor !== null)
          return items
        })
        const consumers = (yield* walk("consumers")).map(({ consumerId }) => consumerId)
        assert.lengthOf(consumers, 33)
        assert.lengthOf(new Set(consumers), 33)
        assert.includeMembers(consumers, first)
        const sequences = (yield* walk("history")).map(({ sequence }) => sequence)
        assert.deepStrictEqual(
          sequences,
          Array.from({ length: 37 }, (_, n) => n + 1)
        )
      })
    )

    it.effect("show the history as it was recorded", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, consumers } = yield* aBusyQueue()
        const { data } = (yield* call("GET", `/distributions/${id}/history`)).body
        assert.deepStrictEqual(
          data.map(({ sequence, type, consumerId }: Item) => [sequence, type, consumerId]),
          [
            [1, "Configured", null],
            ...consumers.map((consumerId, n) => [n + 2, "Entered", consumerId]),
            [7, "Granted", consumers[0]],
            [8, "Granted", consumers[1]],
            [9, "Completed", consumers[1]],
            [10, "Denied", consumers[2]],
            [11, "Left", consumers[3]]
          ]
        )
        assert.hasAllKeys(data[9], ["sequence", "type", "at", "consumerId", "data"])
        assert.deepStrictEqual(data[9].data, { reason: "BOT_DETECTED", by: "admin" })
        const granted = (yield* call("GET", `/distributions/${id}/history?type=Granted`)).body.data
        assert.deepStrictEqual(
          granted.map(({ sequence }: Item) => sequence),
          [7, 8]
        )
        const newest = (yield* call("GET", `/distributions/${id}/history?sortDir=desc&first=1`)).body.data
        assert.deepStrictEqual(
          newest.map(({ sequence }: Item) => sequence),
          [11]
        )
      })
    )

    it.effect("show a parked mechanism with its stored state", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, experienceId } = yield* aBrokenQueue
        const list = call("GET", `/distributions?experienceId=${experienceId}&search=Broken`)
        assert.deepInclude((yield* list).body.data[0], { id, lifecycle: "open" })
        const shown = yield* eventually(
          call("GET", `/distributions/${id}`),
          ({ status }) => status === 200,
          "60 seconds"
        )
        assert.deepStrictEqual((yield* list).body.data, [{ ...shown.body, live: null }])
        assert.strictEqual(shown.status, 200)
        assert.deepInclude(shown.body, { id, name: "Broken", lifecycle: "open" })
        assert.deepInclude(shown.body.live, { counts: { QUEUED: 1 }, lastSequence: 2, node: null, parked: true })
        assert.isAtLeast(shown.body.live.restarts, 1)
        assert.strictEqual((yield* call("GET", `/queues/${id}`)).status, 200)
        const refused = yield* call("PUT", `/queues/${id}`, { admitRate: 2 })
        assert.deepStrictEqual([refused.status, refused.body], [503, { error: "Service unavailable" }])
        assert.isAtLeast(Number(refused.headers.get("retry-after")), 1)
      })
    )

    it.effect("are not found under an unknown id, and are refused under a malformed id", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        for (const suffix of ["", "/consumers", "/history", "/events"]) {
          const { status, body } = yield* call("GET", `/distributions/${unknown}${suffix}`)
          assert.deepStrictEqual([status, body], [404, { error: "Distribution not found" }])
          for (const malformed of ["x", "1", `${unknown}0`, "%00", "null"]) {
            const refused = yield* call("GET", `/distributions/${malformed}${suffix}`)
            assert.deepStrictEqual(issuesOf(refused), ["id: uuid"], malformed)
          }
        }
      })
    )
  })
})
