/**
 * Counts the SQL statements of requests whose caller is cached: there must be none. The count happens on the wire
 * between a real server and Postgres, less the server's background statements.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { beyondIdle, openSqlTap, since } from "../../../bench/setup/SqlTap.ts"
import { organization, serving } from "../../cli/servingProcess.ts"
import { asConsumer, asServer, type Call, send } from "../../http/support/usherFixture.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"

const reads = 200

/** Statements of background tasks that did not run in the idle span. A request that costs SQL costs it `reads` times. */
const rareStatementsMax = 20

/** Long enough for several runs of every background task of a server. */
const idleSeconds = 5

/** Sends a request that must succeed, and returns the body. */
const made = (url: string, path: string, headers: Call["headers"], body?: object) =>
  Effect.map(send(url, { method: "POST", path: `/api${path}`, headers: headers!, body }), (answer) => {
    assert.isBelow(answer.status, 300, answer.text)
    return answer.body
  })

/** Creates a consumer that waits in a queue and has a unit of a release. The server that created it has stopped. */
const waiting = Effect.fnUntraced(function* (url: string) {
  const settings = { DATABASE_URL: url, LOG_LEVEL: "warn" }
  const { publishableKey, secretKey } = yield* organization(settings)
  const { consumerUrl, adminUrl } = yield* serving(settings)
  const create = (path: string, body: object) => made(adminUrl, path, asServer(secretKey), body)
  const product = yield* create("/products", { name: "Sneaker", variants: [{ sku: "S" }] })
  const { id: experienceId } = yield* create("/experiences", { name: "Drop", products: [{ productId: product.id }] })
  const { id: sequenceId } = yield* create("/sequences", { experienceId, name: "Sale" })
  const { id: queueId } = yield* create("/queues", { sequenceId, name: "Line", admitRate: 0 })
  const { id: releaseId } = yield* create("/timed-releases", { sequenceId, name: "Release" })
  const { accessToken } = yield* made(consumerUrl, "/auth/guest", { "x-publishable-key": publishableKey })
  const headers = asConsumer(publishableKey, accessToken)
  yield* made(consumerUrl, `/queues/${queueId}/enter`, headers)
  const selection = { variantId: product.variants[0].id as string }
  yield* made(consumerUrl, `/timed-releases/${releaseId}/enter`, headers, selection)
  return {
    status: { path: `/api/queues/${queueId}/status`, headers },
    entry: { method: "POST", path: `/api/timed-releases/${releaseId}/enter`, headers, body: selection }
  }
}, Effect.scoped)

describe("A cached consumer", () => {
  it.live(
    "costs no SQL when it reads its status, repeats an entry with the same selection, or reads its status after its logout",
    () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase.migratedDatabase
        const { status, entry } = yield* waiting(url)
        const tap = yield* Effect.acquireRelease(
          Effect.promise(() => openSqlTap(url)),
          ({ stop }) => Effect.sync(stop)
        )
        const { consumerUrl } = yield* serving({ DATABASE_URL: tap.url(url), LOG_LEVEL: "warn" })
        yield* Effect.sleep("2 seconds")
        const atStart = tap.statements()
        yield* Effect.sleep(`${idleSeconds} seconds`)
        const idle = since(atStart, tap.statements())
        assert.isNotEmpty(idle, "the tap receives the server's statements")

        /** Runs a request and counts the statements that background tasks do not explain. */
        const statementsOf = Effect.fnUntraced(function* <A>(request: Effect.Effect<A>) {
          const before = tap.statements()
          const answer = yield* request
          return { answer, statements: beyondIdle(since(before, tap.statements()), idle) }
        })

        const first = yield* statementsOf(send(consumerUrl, status))
        assert.deepInclude(first.answer.body, { status: "QUEUED", position: 1 })
        assert.isAbove(first.statements, 0, "no consumer is cached before the first request")

        const known = yield* statementsOf(Effect.replicateEffect(send(consumerUrl, status), reads))
        for (const { body } of known.answer) assert.deepInclude(body, { status: "QUEUED", position: 1 })
        assert.isAtMost(known.statements, rareStatementsMax)

        yield* send(consumerUrl, entry)
        const entries = yield* statementsOf(Effect.replicateEffect(send(consumerUrl, entry), reads))
        for (const { body } of entries.answer) assert.deepInclude(body, { selectedVariantId: entry.body.variantId })
        assert.isAtMost(entries.statements, rareStatementsMax)

        const { authorization } = status.headers
        const logout = { method: "POST", path: "/api/auth/logout", headers: { authorization } }
        const ending = yield* statementsOf(send(consumerUrl, logout))
        assert.strictEqual(ending.answer.status, 204)
        assert.isAbove(ending.statements, 0, "the end of a session is recorded")

        const ended = yield* statementsOf(Effect.replicateEffect(send(consumerUrl, status), reads))
        assert.deepStrictEqual(new Set(ended.answer.map((answer) => answer.status)), new Set([401]))
        assert.isAtMost(ended.statements, rareStatementsMax)
      })
  )
})
