/** Nodes with roles: fronts own nothing, engines serve no consumers. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { organization } from "../../cli/servingProcess.ts"
import * as UsherInProcess from "../../cli/usherInProcess.ts"
import * as Usher from "../../cli/usherProcess.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { createQueue, guest, send, type Setup } from "../../support/queueOnServer.ts"
import { node, ready, settingsOn, until, untilReady } from "../support/Roles.ts"

/** The shards of each node, by its name, as another one shows them. */
const shares = (one: { readonly adminUrl: string }) =>
  Effect.promise(async () =>
    Object.fromEntries((await ready(one))!.body.node!.nodes.map(({ name, shards }) => [name, shards]))
  )

/** The node that owns each queue. */
const owners = ({ adminUrl, keys }: Setup, queueIds: ReadonlyArray<string>) =>
  Effect.promise(() =>
    Promise.all(
      queueIds.map(async (id) => {
        const { body } = await send("GET", `${adminUrl}/api/distributions/${id}`, {
          authorization: `Bearer ${keys["secretKey"]}`
        })
        return body.live.node as string
      })
    )
  )

const enter = ({ consumerUrl }: Setup, queueId: string, consumer: Readonly<Record<string, string>>) =>
  fetch(`${consumerUrl}/api/queues/${queueId}/enter`, { method: "POST", headers: consumer })

describe("A front", () => {
  it.live("owns no mechanism, reaches all of them, and moves none when it comes, leaves or dies", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const engine = yield* node("engine", yield* settingsOn(url, "engine"))
      const all = yield* node("all", yield* settingsOn(url, "all"))
      yield* untilReady(engine)
      yield* untilReady(all)
      const keys = yield* organization({ DATABASE_URL: url })
      const atAll: Setup = { ...all, keys }
      yield* until(async () => (await ready(all))!.body.node!.nodes.every(({ shards }) => shards > 0))
      const queueIds = yield* Effect.promise(() => Promise.all(Array.from({ length: 12 }, () => createQueue(atAll))))
      const before = yield* owners(atAll, queueIds)
      const shards = yield* shares(all)
      assert.deepStrictEqual([...new Set(before)].toSorted(), ["all", "engine"])
      const isServed = yield* Effect.promise(() =>
        fetch(engine.consumerUrl)
          .then(() => true)
          .catch(() => false)
      )
      assert.isFalse(isServed, "an engine has no Consumer API")

      const own = yield* settingsOn(url, "front")
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        const front = yield* node("front", own)
        yield* untilReady(front)
        const atFront: Setup = { ...front, keys }
        const consumer = yield* Effect.promise(() => guest(atFront))
        const answers = yield* Effect.promise(() => Promise.all(queueIds.map((id) => enter(atFront, id, consumer))))
        assert.deepStrictEqual([...new Set(answers.map(({ status }) => status))], [200])
        assert.deepStrictEqual(yield* shares(front), { ...shards, front: 0 })
        assert.deepStrictEqual(yield* owners(atFront, queueIds), before)

        front.child.kill(signal)
        assert.strictEqual((yield* Usher.end(front)).code, signal === "SIGTERM" ? 0 : "SIGKILL")
        yield* until(async () => (await ready(all))!.body.node!.nodes.every(({ name }) => name !== "front"))
        assert.deepStrictEqual(yield* shares(all), shards)
        assert.deepStrictEqual(yield* owners(atAll, queueIds), before)
      }
    })
  )

  it.live("without a node that owns mechanisms says so, is not ready, and answers 503 with Retry-After", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const settings = yield* settingsOn(url, "engine")
      const engine = yield* node("engine", settings)
      yield* untilReady(engine)
      const front = yield* node("front", yield* settingsOn(url, "front"))
      yield* untilReady(front)
      const setup: Setup = { ...front, keys: yield* organization({ DATABASE_URL: url }) }
      const queueId = yield* Effect.promise(() => createQueue(setup))
      const [first, second] = yield* Effect.promise(() => Promise.all([guest(setup), guest(setup)]))
      assert.strictEqual((yield* Effect.promise(() => enter(setup, queueId, first))).status, 200)

      engine.child.kill("SIGTERM")
      yield* Usher.end(engine)
      yield* until(async () => (await ready(front))?.status === 503)
      const report = yield* Effect.promise(() => ready(front))
      assert.deepStrictEqual(report!.body.reasons, { mechanisms: "no node owns them" })
      const refused = yield* Effect.promise(() => enter(setup, queueId, second))
      assert.strictEqual(refused.status, 503)
      assert.strictEqual(refused.headers.get("retry-after"), "1")
      yield* Usher.until(() => front.stderr().includes('"event":"owners.lost"'))
      assert.include(
        front.stderr(),
        "No node owns mechanisms, so requests for them get a 503. Start one with CLUSTER_ROLE=engine"
      )

      yield* node("engine", settings)
      yield* untilReady(front)
      yield* until(async () => (await enter(setup, queueId, second)).status === 200)
      yield* Usher.until(() => front.stderr().includes('"event":"owners.back"'))
    })
  )
})

it.live("A role without CLUSTER refuses to start", () =>
  Effect.gen(function* () {
    const { code, stderr } = yield* UsherInProcess.run(["serve"], { CLUSTER_ROLE: "front" })
    assert.strictEqual(code, 1)
    assert.include(stderr, "CLUSTER_ROLE is front, and needs CLUSTER=true. Set it, or unset CLUSTER_ROLE.")
  })
)
