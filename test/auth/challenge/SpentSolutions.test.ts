/** Each solution serves once: in one process, and in several with Redis or the database between them. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { SpentSolutions } from "../../../src/auth/challenge/SpentSolutions.ts"
import { removeExpired } from "../../../src/auth/sessions/Expiry.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import { canStart, ownServer, title } from "../../http/limits/redisFixture.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"

const until = Date.now() + 600_000

/** The spent solutions of a process of its own. */
const aProcess = Effect.fnUntraced(function* (settings: Parameters<typeof Settings.layerTest>[0] = {}) {
  const built = yield* Layer.build(Layer.fresh(Layer.provide(SpentSolutions.layer, Settings.layerTest(settings))))
  const { spend } = Context.get(built, SpentSolutions)
  return (id: string, expiresAt = until) =>
    Effect.suspend(() => {
      const first = spend(id, expiresAt)
      return Effect.isEffect(first) ? first : Effect.succeed(first)
    })
})

/** Races of three processes for one solution each: always one wins. */
const race = Effect.fnUntraced(function* (settings: Parameters<typeof Settings.layerTest>[0]) {
  const processes = yield* Effect.all(
    [1, 2, 3].map(() => aProcess(settings)),
    { concurrency: "unbounded" }
  )
  for (let round = 0; round < 20; round++) {
    const id = randomUUID()
    const served = yield* Effect.all(
      processes.map((spend) => spend(id)),
      { concurrency: "unbounded" }
    )
    assert.strictEqual(served.filter(Boolean).length, 1)
  }
})

const at = (url: string) => ({ redisUrl: Option.some(Redacted.make(url)) })

const inDatabase = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql`select id from spent_challenges`, (rows) => rows.length)
)

describe("A solution", () => {
  layer(TestDatabase.layer, { excludeTestServices: true })((it) => {
    it.effect("serves once in one process, which answers at once", () =>
      Effect.gen(function* () {
        const spend = yield* aProcess()
        const id = randomUUID()
        assert.deepStrictEqual(
          yield* Effect.all([spend(id), spend(id), spend(randomUUID())], { concurrency: "unbounded" }),
          [true, false, true]
        )
      })
    )

    it.effect("serves once in three processes that share the database", () => race({ cluster: true }))

    it.effect("serves once in three processes that share the database while Redis is away", () =>
      race(at("redis://127.0.0.1:1"))
    )

    it.effect.skipIf(!canStart)(title("serves once in three processes that share Redis, without SQL"), () =>
      Effect.gen(function* () {
        const redis = yield* ownServer
        const before = yield* inDatabase
        yield* race(at(redis.url))
        assert.strictEqual(yield* inDatabase, before)
      })
    )

    it.effect("is forgotten by the database when its challenge has expired", () =>
      Effect.gen(function* () {
        const spend = yield* aProcess({ cluster: true })
        yield* spend(randomUUID(), Date.now() - 1)
        assert.strictEqual(yield* removeExpired, 1)
        assert.strictEqual(yield* removeExpired, 0)
      })
    )
  })
})
