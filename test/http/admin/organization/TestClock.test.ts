/** The test clock over HTTP, without the worker that advances it. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Admin, anExperience, aQueue, issuesOf, layer as admin } from "../adminFixture.ts"

const at = "2033-01-01T00:00:00.000Z"

/** Calls with the test key of the brand. */
const inTest = (method: string, path: string, body?: object) =>
  Effect.gen(function* () {
    const { call, rehearsal } = yield* Admin
    return yield* call(method, path, body, rehearsal)
  })

const withClock = <A, E, R>(body: object, effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    inTest("PUT", "/test-clock", body),
    () => effect,
    () => inTest("DELETE", "/test-clock")
  )

describe("The test clock", () => {
  layer(admin, { excludeTestServices: true })((it) => {
    it.effect("needs a test key, and is not there until it is set", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        for (const [method, path, body] of [
          ["GET", "/test-clock"],
          ["PUT", "/test-clock", { frozenAt: at }],
          ["POST", "/test-clock/advance", { by: 60 }],
          ["DELETE", "/test-clock"]
        ] as const) {
          assert.strictEqual((yield* call(method, path, body)).status, 403, `${method} ${path}`)
          if (method !== "PUT") assert.strictEqual((yield* inTest(method, path, body)).status, 404)
        }
      })
    )

    it.effect("is set once, stands still, and is the time of test mode alone", () =>
      withClock(
        { frozenAt: at, seed: "seven" },
        Effect.gen(function* () {
          const { call, rehearsal } = yield* Admin
          const { body } = yield* inTest("GET", "/test-clock")
          assert.deepStrictEqual(body, { status: "READY", now: at, seed: "seven", webhookIds: [] })
          const again = yield* inTest("PUT", "/test-clock", { frozenAt: at })
          assert.deepStrictEqual([again.status, again.body.code], [409, "TEST_CLOCK_EXISTS"])
          const { id } = yield* anExperience({}, rehearsal)
          assert.strictEqual((yield* inTest("GET", `/experiences/${id}`)).body.createdAt, at)
          const live = yield* anExperience()
          assert.notStrictEqual((yield* call("GET", `/experiences/${live.id}`)).body.createdAt, at)
        })
      )
    )

    it.effect(
      "is in the audit log of test mode when it is set and deleted, with its author, at the server's time",
      () =>
        Effect.gen(function* () {
          const before = Date.now()
          yield* withClock({ frozenAt: at }, Effect.void)
          const { body } = yield* inTest("GET", "/audit-log?first=100&sortDir=desc")
          const entries = body.data.filter(({ type }: { type: string }) => type.startsWith("test_clock.")).slice(0, 2)
          assert.deepStrictEqual(
            entries.map(({ type }: { type: string }) => type),
            ["test_clock.removed", "test_clock.created"]
          )
          for (const entry of entries) {
            assert.isAtLeast(Date.parse(entry.at), before)
            assert.match(entry.actor, /./)
            assert.deepStrictEqual(entry.changed, ["frozenAt"])
          }
          assert.deepStrictEqual([entries[0].before.frozenAt, entries[1].after.frozenAt], [at, at])
        })
    )

    it.effect("shows in READY when time next brings something", () =>
      withClock(
        { frozenAt: at },
        Effect.gen(function* () {
          const { rehearsal } = yield* Admin
          assert.notProperty((yield* inTest("GET", "/test-clock")).body, "nextDueAt")
          yield* aQueue({ openAt: "2033-01-01T01:00:00.000Z" }, rehearsal)
          assert.strictEqual((yield* inTest("GET", "/test-clock")).body.nextDueAt, "2033-01-01T00:50:00.000Z")
        })
      )
    )

    it.effect("decides what is open", () =>
      withClock(
        { frozenAt: at },
        Effect.gen(function* () {
          const { rehearsal } = yield* Admin
          const lifecycle = Effect.fnUntraced(function* (openAt: string) {
            const { id } = yield* aQueue({ openAt }, rehearsal)
            return (yield* inTest("GET", `/distributions/${id}`)).body.lifecycle
          })
          assert.strictEqual(yield* lifecycle("2033-01-01T00:00:01Z"), "scheduled")
          assert.strictEqual(yield* lifecycle("2032-12-31T23:59:59Z"), "open")
        })
      )
    )

    it.effect("is advanced once at a time, forward, and not too far", () =>
      withClock(
        { frozenAt: at },
        Effect.gen(function* () {
          const advance = (body: object) => inTest("POST", "/test-clock/advance", body)
          assert.deepStrictEqual(issuesOf(yield* advance({ to: "2032-12-31T23:59:59Z" })), ["to: instant"])
          assert.deepStrictEqual(issuesOf(yield* advance({ to: "2035-01-03T00:00:00Z" })), ["to: instant"])
          for (const body of [{}, { to: at, by: 1 }, { by: -1 }, { by: 732 * 86_400 }]) {
            assert.strictEqual((yield* advance(body)).status, 400, JSON.stringify(body))
          }
          const { status, body } = yield* advance({ by: 3_600 })
          assert.strictEqual(status, 202)
          const advancing = { status: "ADVANCING", now: at, progress: 0, advancingTo: "2033-01-01T01:00:00.000Z" }
          assert.deepInclude(body, advancing)
          assert.deepInclude((yield* inTest("GET", "/test-clock")).body, advancing)
          const second = yield* advance({ by: 1 })
          assert.deepStrictEqual([second.status, second.body.code], [409, "ADVANCING"])
        })
      )
    )

    it.effect("names webhooks of test mode alone", () =>
      Effect.gen(function* () {
        const { call, rehearsal } = yield* Admin
        const settings = { url: "https://shop.example/hooks", events: ["consumer.created"] }
        const [own, live] = [
          yield* call("POST", "/webhooks", settings, rehearsal),
          yield* call("POST", "/webhooks", settings)
        ]
        const set = (webhookIds: ReadonlyArray<string>) => inTest("PUT", "/test-clock", { frozenAt: at, webhookIds })
        for (const other of [live.body.id, randomUUID()]) {
          assert.deepStrictEqual(issuesOf(yield* set([own.body.id, other])), ["webhookIds.1: reference"])
        }
        assert.deepInclude((yield* set([own.body.id])).body, { webhookIds: [own.body.id] })
        yield* inTest("DELETE", "/test-clock")
      })
    )

    it.effect("archives what test mode has when it is deleted, and nothing of live mode", () =>
      Effect.gen(function* () {
        const { call, rehearsal } = yield* Admin
        const live = yield* aQueue()
        yield* inTest("PUT", "/test-clock", { frozenAt: at })
        const queue = yield* aQueue({}, rehearsal)
        const { status, body } = yield* inTest("DELETE", "/test-clock")
        assert.deepStrictEqual([status, body.now], [200, at])
        assert.strictEqual((yield* inTest("GET", "/test-clock")).status, 404)
        for (const path of [`/queues/${queue.id}`, `/experiences/${queue.experienceId}`]) {
          assert.strictEqual((yield* inTest("GET", path)).status, 404, path)
        }
        assert.strictEqual((yield* call("GET", `/queues/${live.id}`)).status, 200)
        const { id } = yield* anExperience({}, rehearsal)
        assert.notStrictEqual((yield* inTest("GET", `/experiences/${id}`)).body.createdAt, at)
      })
    )
  })
})
