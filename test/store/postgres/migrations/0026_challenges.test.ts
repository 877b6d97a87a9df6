/** The effect on organizations and experiences from before the gate for bots. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Auth from "../../../../src/auth/Auth.ts"
import { ChallengePolicies } from "../../../../src/auth/challenge/ChallengePolicies.ts"
import { OrganizationChanges } from "../../../../src/auth/keys/OrganizationChanges.ts"
import { Settings } from "../../../../src/settings/Settings.ts"
import { addOrganization, anyId, databaseAt, organizationId } from "./earlierSchema.ts"

const tenant = { organizationId, mode: "live" } as const

describe("Step 0026", () => {
  it.live("gives them the default, and announces their changes", () =>
    Effect.gen(function* () {
      const { sql, database, migrate } = yield* databaseAt(25)
      yield* addOrganization(sql, { currencyCode: "EUR" })
      const experienceId = anyId(4001)
      yield* sql`
        insert into experiences (id, organization_id, mode, name, record, created_at, created_by, updated_at, updated_by)
        values (${experienceId}, ${organizationId}, 'live', 'Drop', '{}', now(), 'x', now(), 'x')`
      const before =
        yield* sql`select name, secret from server_secrets where name not in ('challenges', 'grant_names') order by name`
      assert.include(yield* migrate, 26)
      assert.deepStrictEqual(
        yield* sql`select name, secret from server_secrets where name not in ('challenges', 'grant_names') order by name`,
        before
      )
      const services = ChallengePolicies.layer.pipe(
        Layer.provideMerge(Auth.layer),
        Layer.provide(Layer.mergeAll(Settings.layerTest(), SecureRandom.layerWebCrypto))
      )
      yield* Effect.gen(function* () {
        const policies = yield* ChallengePolicies
        const changes = yield* OrganizationChanges
        const forgotten = Effect.sync(() => policies.peek(tenant, experienceId)).pipe(
          Effect.repeat({
            until: (policy) => policy === undefined,
            schedule: Schedule.spaced("5 millis"),
            times: 1_000
          })
        )
        assert.deepStrictEqual(yield* policies.load(tenant, experienceId), {
          mode: "adaptive",
          provider: "proof_of_work"
        })
        yield* changes.change(organizationId, "test", (settings) =>
          Result.succeed({ ...settings, challenge: { mode: "always" as const } })
        )
        assert.isUndefined(yield* forgotten)
        assert.strictEqual((yield* policies.load(tenant, experienceId)).mode, "always")
        yield* sql`update experiences set record = '{"challenge": {"mode": "off"}}' where id = ${experienceId}`
        assert.isUndefined(yield* forgotten)
        assert.strictEqual((yield* policies.load(tenant, experienceId)).mode, "off")
      }).pipe(Effect.provide(Layer.provide(services, database)))
    })
  )
})
