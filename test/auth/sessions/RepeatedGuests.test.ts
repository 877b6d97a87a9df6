/** A client that does not get the answer to its first request, and sends it again. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Sessions } from "../../../src/auth/sessions/Sessions.ts"
import { Tokens } from "../../../src/auth/tokens/Tokens.ts"
import { aTenant } from "../authFixture.ts"
import * as Fixture from "../authFixture.ts"

describe("A guest whose client names its attempt", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect(
      "is the same for each repetition within a minute, also for simultaneous ones, and its tokens are good",
      () =>
        Effect.gen(function* () {
          const sessions = yield* Sessions
          const tokens = yield* Tokens
          const sql = yield* SqlClient.SqlClient
          const tenant = yield* aTenant
          const attempt = randomUUID()
          const first = yield* sessions.guest(tenant, attempt)
          const { consumerId } = first.session
          const again = yield* Effect.replicateEffect(sessions.guest(tenant, attempt), 8, { concurrency: "unbounded" })
          for (const { session, accessToken } of again) {
            assert.strictEqual(session.consumerId, consumerId)
            assert.strictEqual((yield* tokens.verifyAccess(accessToken))?.consumerId, consumerId)
          }
          const { accessToken } = yield* sessions.refresh(tenant, again[0]!.refreshToken)
          assert.strictEqual((yield* tokens.verifyAccess(accessToken))?.consumerId, consumerId)
          const rows = yield* sql`select from sessions where consumer_id = ${consumerId}`
          assert.lengthOf(rows, 1)
        })
    )

    it.effect("is another one for another attempt, another tenant, an ended session, and after a minute", () =>
      Effect.gen(function* () {
        const sessions = yield* Sessions
        const tokens = yield* Tokens
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const attempt = randomUUID()
        const guest = (of = tenant, name: string = attempt) =>
          Effect.map(sessions.guest(of, name), (made) => ({ ...made, consumerId: made.session.consumerId }))
        const first = yield* guest()
        const others = [yield* guest(tenant, randomUUID()), yield* guest(yield* aTenant)]
        yield* sql`update sessions set created_at = created_at - interval '61 seconds'
          where consumer_id = ${first.consumerId}`
        others.push(yield* guest(), yield* guest())
        const ended = yield* guest(tenant, "another attempt")
        yield* sessions.end(tenant, (yield* tokens.verifyAccess(ended.accessToken))!.sessionId)
        others.push(yield* guest(tenant, "another attempt"))
        const ids = [first, ended, ...others].map(({ consumerId }) => consumerId)
        assert.lengthOf(new Set(ids), ids.length)
      })
    )
  })
})
