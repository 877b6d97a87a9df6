/** Rehearsals that a real server runs, begun over its Admin API. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { organization, serving } from "../../cli/servingProcess.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { line, minutesAfter } from "../../support/coatDrop.ts"
import * as Queue from "../../support/queueOnServer.ts"

const drop = (audienceId: string) => ({
  name: "The coat",
  timeZone: "UTC",
  currencyCode: "EUR",
  closeAt: minutesAfter(6 * 60),
  newProducts: [{ name: "Coat", variants: [{ sku: "coat", price: "120", inventoryQuantity: 40 }] }],
  sequences: [
    {
      name: "Members",
      audienceId,
      queues: [line(10)]
    }
  ]
})

interface Answer {
  readonly status: number
  readonly body: any
}

/** A server, and an organization with a live drop. */
const aWorld = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  const settings = { DATABASE_URL: url }
  const server = yield* serving(settings)
  const keys = yield* organization(settings)
  const callAt =
    (adminUrl: string) =>
    (key: string, method: string, path: string, body?: object): Effect.Effect<Answer> =>
      Effect.promise(() => Queue.send(method, `${adminUrl}/api${path}`, { authorization: `Bearer ${key}` }, body))
  const call = callAt(server.adminUrl)
  const live = (method: string, path: string, body?: object) => call(keys.secretKey, method, path, body)
  const test = (method: string, path: string, body?: object) => call(keys.testSecretKey, method, path, body)
  const audience = yield* live("POST", "/audiences", { name: "Members", type: "STATIC" })
  const { id } = (yield* live("POST", "/experiences", drop(audience.body.id))).body
  return {
    id,
    server,
    keys,
    settings,
    callAt,
    live,
    test,
    begin: (body: object) => live("POST", `/experiences/${id}/rehearsals`, body)
  }
})

/** Asks until an answer is as it should be. */
const until = (ask: Effect.Effect<Answer>, holds: (answer: Answer) => boolean) =>
  Effect.repeat(ask, { until: holds, schedule: Schedule.spaced("50 millis") })

/** Waits until the rehearsal has ended. Returns it. */
const ended = (ask: (method: string, path: string) => Effect.Effect<Answer>, id: string) =>
  Effect.map(
    until(ask("GET", `/rehearsals/${id}`), ({ body }) => body.status !== "RUNNING"),
    ({ body }) => body
  )

describe("A rehearsal that a server runs", () => {
  it.live("ends with a report, and leaves test mode as it was", () =>
    Effect.gen(function* () {
      const { id, server, live, test, begin } = yield* aWorld
      const begun = yield* begin({ people: 30, seed: 7, crowd: { noShow: 0 } })
      assert.strictEqual(begun.status, 202, JSON.stringify(begun.body))
      assert.deepInclude(begun.body, {
        status: "RUNNING",
        progress: 0,
        people: 30,
        seed: 7,
        experienceId: id,
        report: null
      })
      const second = yield* begin({})
      assert.deepStrictEqual([second.status, second.body.code], [409, "REHEARSAL_RUNNING"])

      const done = yield* ended(live, begun.body.id)
      const verdict = { text: "All 10 units were sold.", isGood: true }
      assert.deepInclude(done, { status: "DONE", progress: 1, problem: null, verdict }, JSON.stringify(done))
      assert.deepInclude(done.report, { name: "The coat", seed: 7, unserved: 0, verdict, experienceId: id })
      assert.strictEqual(done.report.crowd.people, 30)
      assert.deepInclude(done.report.mechanisms[0], { name: "The line", people: 30, units: 10, used: 10 })

      assert.strictEqual((yield* test("GET", "/test-clock")).status, 404)
      for (const path of ["/experiences", "/products"]) {
        assert.lengthOf((yield* test("GET", path)).body.data, 0, path)
      }
      const listed = yield* live("GET", `/experiences/${id}/rehearsals?sortDir=desc`)
      const { report: _, ...row } = done
      assert.deepStrictEqual(listed.body.data, [row])
      const again = yield* ended(live, (yield* begin({ people: 30, seed: 7, crowd: { noShow: 0 } })).body.id)
      assert.deepStrictEqual(
        again.report.mechanisms.map(({ id: _, ...one }: { id: string }) => one),
        done.report.mechanisms.map(({ id: _, ...one }: { id: string }) => one)
      )
      assert.notMatch(server.stdout() + server.stderr(), /rk_(live|test)_/)
    })
  )

  it.live("has failed when its process ends, without its test clock, and can be begun again", () =>
    Effect.gen(function* () {
      const { server, settings, keys, callAt, test, begin } = yield* aWorld
      const begun = yield* begin({ people: 2_000 })
      yield* until(test("GET", "/test-clock"), ({ status }) => status === 200)
      server.child.kill("SIGKILL")
      const next = yield* serving(settings)
      const live = (method: string, path: string, body?: object) =>
        callAt(next.adminUrl)(keys.secretKey, method, path, body)
      const failed = yield* ended(live, begun.body.id)
      assert.deepInclude(failed, { status: "FAILED", report: null })
      assert.include(failed.problem, "Begin it again")
      assert.strictEqual((yield* callAt(next.adminUrl)(keys.testSecretKey, "GET", "/test-clock")).status, 404)
      const again = yield* live("POST", `/experiences/${failed.experienceId}/rehearsals`, { people: 5 })
      assert.strictEqual((yield* ended(live, again.body.id)).status, "DONE")
    })
  )

  it.live("is cancelled, and says in words why it failed", () =>
    Effect.gen(function* () {
      const { live, test, begin } = yield* aWorld
      const begun = yield* begin({ people: 2_000 })
      const cancelled = yield* live("DELETE", `/rehearsals/${begun.body.id}`)
      assert.strictEqual(cancelled.status, 200)
      assert.deepInclude(yield* ended(live, begun.body.id), { status: "FAILED", problem: "It was cancelled." })
      assert.strictEqual((yield* test("GET", "/test-clock")).status, 404)
      const types = (yield* live("GET", "/audit-log?sortDir=desc&first=5")).body.data.map(({ type }: any) => type)
      assert.includeMembers(types, ["rehearsal.created", "rehearsal.cancelled"])
    })
  )

  it.live("is refused to a test key, and while test mode is in use", () =>
    Effect.gen(function* () {
      const { id, test, live, begin } = yield* aWorld
      assert.strictEqual((yield* live("POST", `/experiences/${randomUUID()}/rehearsals`, {})).status, 404)
      const refused = yield* begin({ crowd: { people: 50_000 } })
      assert.strictEqual(refused.status, 400)
      assert.include(JSON.stringify(refused.body), "at most 20000")
      const own = (yield* test("POST", "/experiences", { name: "My own" })).body
      assert.strictEqual((yield* test("POST", `/experiences/${own.id}/rehearsals`, {})).status, 403)
      const inUse = yield* begin({})
      assert.deepStrictEqual([inUse.status, inUse.body.code], [409, "TEST_MODE_IN_USE"])
      yield* test("PUT", "/test-clock", { frozenAt: minutesAfter(0) })
      const clock = yield* begin({ archiveTestExperiences: true })
      assert.deepStrictEqual([clock.status, clock.body.code], [409, "TEST_CLOCK_EXISTS"])
      assert.strictEqual((yield* test("GET", `/experiences/${own.id}`)).status, 200)
      assert.lengthOf((yield* live("GET", `/experiences/${id}/rehearsals`)).body.data, 0)
    })
  )
})
