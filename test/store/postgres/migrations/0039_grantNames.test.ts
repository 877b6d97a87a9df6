/** The names of grants in a new installation, and in one with mechanisms from before. */
import { assert, describe, it } from "@effect/vitest"
import type { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { GrantNames } from "../../../../src/auth/tokens/GrantNames.ts"
import { namedGrant } from "../../../../src/domain/mechanism/GrantName.ts"
import { CurrentKeyring } from "../../../../src/store/secrets/CurrentKeyring.ts"
import { keyOf, keyringOf } from "../../../../src/store/secrets/Sealing.ts"
import * as SealedSecrets from "../../../../src/store/secrets/SealedSecrets.ts"
import { addOrganization, anyId, databaseAt, organizationId } from "./earlierSchema.ts"

const mechanismId = anyId(1001)
const dayMillis = 86_400_000

const namesOn = <E, R>(database: Layer.Layer<R, E>) =>
  Effect.provide(Effect.service(GrantNames), Layer.fresh(GrantNames.layer).pipe(Layer.provide(database)))

/** Writes a queue as the version of step 38 wrote it. */
const addMechanism = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const stamps = { created_at: new Date(), created_by: "x", updated_at: new Date(), updated_by: "x" }
  const owner = { organization_id: organizationId, mode: "live", ...stamps }
  const [experienceId, sequenceId] = [anyId(1003), anyId(1004)]
  const named = { name: "Drop", record: sql.json({}) }
  yield* sql`insert into experiences ${sql.insert({ id: experienceId, ...owner, ...named })}`
  yield* sql`insert into sequences ${sql.insert({ id: sequenceId, experience_id: experienceId, ...owner, ...named })}`
  const below = { experience_id: experienceId, sequence_id: sequenceId, kind: "queue", configuration: sql.json({}) }
  yield* sql`insert into mechanisms ${sql.insert({ id: mechanismId, ...owner, ...below })}`
})

describe("Step 0039", () => {
  it.live("gives every grant of a new installation a name that cannot be guessed, the same on each node", () =>
    Effect.gen(function* () {
      const { database, migrate } = yield* databaseAt(38)
      assert.include(yield* migrate, 39)
      const [names, others] = [yield* namesOn(database), yield* namesOn(database)]
      const made = [0, 1_000, Date.now(), Date.now() + 2 * dayMillis].map((at) => names.of(mechanismId, 7, at))
      assert.lengthOf(new Set(made), 1)
      assert.match(made[0]!, new RegExp(`^${mechanismId}\\.7\\.[\\w-]{22}$`))
      assert.deepInclude(namedGrant(made[0]), { mechanismId, sequence: 7 })
      assert.strictEqual(others.of(mechanismId, 7, 0), made[0])
      const proofs = [names.of(mechanismId, 8, 0), names.of(anyId(1002), 7, 0), made[0]!].map(
        (name) => name.split(".")[2]
      )
      assert.lengthOf(new Set(proofs), 3)
    })
  )

  it.live("lets the grants of an older installation, and those of its next day, keep their names", () =>
    Effect.gen(function* () {
      const { sql, database, migrate } = yield* databaseAt(38)
      yield* addOrganization(sql)
      yield* addMechanism(sql)
      const before = Date.now()
      yield* migrate
      const names = yield* namesOn(database)
      const hasProof = (at: number) => names.of(mechanismId, 7, at).split(".").length === 3
      assert.strictEqual(names.of(mechanismId, 7, before), `${mechanismId}.7`)
      assert.deepStrictEqual(
        [0, before - dayMillis, before + dayMillis / 2, before + dayMillis - 1, Date.now() + dayMillis].map(hasProof),
        [false, false, false, false, true]
      )
    })
  )

  it.live("makes a secret that is sealed like the others, and names stay", () =>
    Effect.gen(function* () {
      const { sql, database, migrate } = yield* databaseAt(38)
      yield* migrate
      const name = (yield* namesOn(database)).of(mechanismId, 7, 0)
      const key = keyOf(randomBytes(32))
      const keyring = Layer.succeed(CurrentKeyring, keyringOf([key]))
      const sealed = GrantNames.layer.pipe(
        Layer.provide(SealedSecrets.layerSealed),
        Layer.provide(Layer.merge(database, keyring))
      )
      const again = yield* Effect.provide(Effect.service(GrantNames), Layer.fresh(sealed))
      assert.strictEqual(again.of(mechanismId, 7, 0), name)
      const [row] = yield* sql<any>`select sealed_by from server_secrets where name = 'grant_names'`
      assert.strictEqual(row.sealed_by, key.id)
    })
  )
})
