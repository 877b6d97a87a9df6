/** The schema of the first release: what its constraints, functions and triggers do. */
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Result, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { randomBytes, randomUUID } from "node:crypto"
import * as Auth from "../../../src/auth/Auth.ts"
import { ChallengePolicies } from "../../../src/auth/challenge/ChallengePolicies.ts"
import { OrganizationChanges } from "../../../src/auth/keys/OrganizationChanges.ts"
import { GrantNames } from "../../../src/auth/tokens/GrantNames.ts"
import { namedGrant } from "../../../src/domain/mechanism/GrantName.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import { Availability } from "../../../src/store/coordination/Availability.ts"
import * as Migrations from "../../../src/store/postgres/Migrations.ts"
import { foldings } from "../../../src/store/postgres/migrations/baseline/CaseFolding.ts"
import { CurrentKeyring } from "../../../src/store/secrets/CurrentKeyring.ts"
import * as SealedSecrets from "../../../src/store/secrets/SealedSecrets.ts"
import { keyOf, keyringOf } from "../../../src/store/secrets/Sealing.ts"
import { connect } from "../support/connections.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

const emptyDatabase = Effect.gen(function* () {
  const { url } = yield* TestDatabase.emptyDatabase
  const sql = yield* connect(url, 4)
  const database = Layer.succeedContext(
    Context.make(PgClient.PgClient, sql).pipe(
      Context.add(SqlClient.SqlClient, sql),
      Context.add(Availability, { isAway: false })
    )
  )
  yield* Effect.provide(Migrations.run, database)
  return { sql, database }
})

/** An organization, as the rows of these tests name it. */
const organizationId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

/** Makes an identifier. */
const anyId = (last: number): string => `0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c${last}`

/** Adds the organization with these settings. */
const addOrganization = (sql: PgClient.PgClient, settings: object = {}) =>
  sql`
    insert into organizations (id, name, plan, settings, created_at)
    values (${organizationId}, 'Brand', 'growth', ${sql.json(settings)}, now())`

/** Adds a consumer. */
const addConsumer = (sql: PgClient.PgClient, id: string, row: object) =>
  sql`insert into consumers ${sql.insert({
    id,
    organization_id: organizationId,
    mode: "live",
    type: "authenticated",
    created_at: new Date(1_700_000_000_000 + Number(id.slice(-4))),
    ...row
  })}`

const tenant = { organizationId, mode: "live" } as const
const mechanismId = anyId(1001)

const namesOn = <E, R>(database: Layer.Layer<R, E>) =>
  Effect.provide(Effect.service(GrantNames), Layer.fresh(GrantNames.layer).pipe(Layer.provide(database)))

describe("The schema", () => {
  it.live("gives each database a timeline of its own, and neither a hold nor a backup", () =>
    Effect.gen(function* () {
      const made = Effect.gen(function* () {
        const { sql } = yield* emptyDatabase
        const rows = yield* sql<any>`select timeline, held_at, backup_at from installation`
        assert.lengthOf(rows, 1)
        assert.deepInclude(rows[0], { held_at: null, backup_at: null })
        const second = yield* Effect.exit(sql`insert into installation (timeline) values (gen_random_uuid())`)
        assert.strictEqual(second._tag, "Failure")
        return rows[0].timeline as string
      })
      assert.notStrictEqual(yield* made, yield* made)
    }).pipe(Effect.scoped)
  )

  it.live("ends the sessions of the dashboard of a key that is removed", () =>
    Effect.gen(function* () {
      const { sql } = yield* emptyDatabase
      yield* addOrganization(sql)
      const id = randomUUID()
      yield* sql`
        insert into api_keys (id, organization_id, mode, kind, hash, display, created_at)
        values (${id}, ${organizationId}, 'live', 'secret', 'h', 'sk…', now())`
      yield* sql`
        insert into operator_sessions (hash, api_key_id, created_at, expires_at) values ('s', ${id}, now(), now())`
      yield* sql`delete from api_keys where id = ${id}`
      assert.deepStrictEqual(yield* sql`select * from operator_sessions`, [])
    })
  )

  it.live("takes codes of consumers and people alone, and ends the sessions of a person that is removed", () =>
    Effect.gen(function* () {
      const { sql } = yield* emptyDatabase
      yield* addOrganization(sql)
      const [key, person] = [randomUUID(), randomUUID()]
      const codeFor = (channel: string) => sql`
        insert into one_time_codes (id, organization_id, mode, channel, address, client, hash, sent_at, expires_at)
        values (${randomUUID()}, ${organizationId}, 'live', ${channel}, 'a@b.example', 'c', 'h', now(), now())`
      yield* sql`
        insert into api_keys (id, organization_id, mode, kind, hash, display, created_at)
        values (${key}, ${organizationId}, 'live', 'secret', 'h', 'sk…', now())`
      yield* sql`
        insert into operator_sessions (hash, api_key_id, created_at, expires_at) values ('k', ${key}, now(), now())`
      yield* codeFor("email")
      yield* codeFor("operator")
      assert.strictEqual((yield* Effect.exit(codeFor("pigeon")))._tag, "Failure")
      yield* sql`
        insert into people (id, organization_id, mode, record, created_at, created_by, updated_at, updated_by, email, role)
        values (${person}, ${organizationId}, 'live', '{}', now(), 'test', now(), 'test', 'a@b.example', 'viewer')`
      yield* sql`
        insert into operator_sessions (hash, person_id, created_at, expires_at) values ('p', ${person}, now(), now())`
      yield* sql`delete from people where id = ${person}`
      assert.deepStrictEqual(yield* sql`select api_key_id from operator_sessions`, [{ api_key_id: key }])
      assert.lengthOf(yield* sql`select id from one_time_codes`, 2)
    })
  )

  it.live("notes each change of a consumer in the journal of the tenant", () =>
    Effect.gen(function* () {
      const { sql } = yield* emptyDatabase
      yield* addOrganization(sql)
      const id = randomUUID()
      yield* sql`
        insert into consumers (id, organization_id, mode, type, email, created_at)
        values (${id}, ${organizationId}, 'live', 'authenticated', 'ann@example.com', now())`
      assert.deepStrictEqual(yield* sql`select email, erased_at from consumers`, [
        { email: "ann@example.com", erased_at: null }
      ])
      yield* sql`update consumers set email = 'bea@example.com' where id = ${id}`
      yield* sql`update consumers set archived = true where id = ${id}`
      yield* sql`update consumers set email = null, erased_at = now() where id = ${id}`
      assert.deepStrictEqual(
        (yield* sql<{
          readonly type: string
        }>`select type from tenant_events where subject_id = ${id} order by sequence`).map(({ type }) => type),
        ["consumer.created", "consumer.updated", "consumer.archived", "consumer.erased"]
      )
    })
  )

  it.live("gives experiences the default challenge, and announces changes of it", () =>
    Effect.gen(function* () {
      const { sql, database } = yield* emptyDatabase
      yield* addOrganization(sql, { currencyCode: "EUR" })
      const experienceId = anyId(4001)
      yield* sql`
        insert into experiences (id, organization_id, mode, name, record, created_at, created_by, updated_at, updated_by)
        values (${experienceId}, ${organizationId}, 'live', 'Drop', '{}', now(), 'x', now(), 'x')`
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

  it.live("gives every grant a name that cannot be guessed, the same on each node", () =>
    Effect.gen(function* () {
      const { database } = yield* emptyDatabase
      const [names, others] = [yield* namesOn(database), yield* namesOn(database)]
      const name = names.of(mechanismId, 7)
      assert.match(name, new RegExp(`^${mechanismId}\\.7\\.[\\w-]{22}$`))
      assert.deepInclude(namedGrant(name), { mechanismId, sequence: 7 })
      assert.strictEqual(others.of(mechanismId, 7), name)
      const proofs = [names.of(mechanismId, 8), names.of(anyId(1002), 7), name].map((name) => name.split(".")[2])
      assert.lengthOf(new Set(proofs), 3)
    })
  )

  it.live("names grants with a secret that is sealed like the others, and names stay", () =>
    Effect.gen(function* () {
      const { sql, database } = yield* emptyDatabase
      const name = (yield* namesOn(database)).of(mechanismId, 7)
      const key = keyOf(randomBytes(32))
      const keyring = Layer.succeed(CurrentKeyring, keyringOf([key]))
      const sealed = GrantNames.layer.pipe(
        Layer.provide(SealedSecrets.layerSealed),
        Layer.provide(Layer.merge(database, keyring))
      )
      const again = yield* Effect.provide(Effect.service(GrantNames), Layer.fresh(sealed))
      assert.strictEqual(again.of(mechanismId, 7), name)
      const [row] = yield* sql<any>`select sealed_by from server_secrets where name = 'grant_names'`
      assert.strictEqual(row.sealed_by, key.id)
    })
  )

  it.live("writes what a search reads of consumers, also after a change", () =>
    Effect.gen(function* () {
      const { sql } = yield* emptyDatabase
      yield* addOrganization(sql)
      const names = ["ΝΙΚΟΣ", "Anna Straße", "Plain Name", "e\u0301"]
      yield* Effect.forEach(names, (full_name, index) => addConsumer(sql, anyId(4001 + index), { full_name }))
      const texts = Effect.map(
        sql<{ readonly text: string }>`
          select coalesce(search_text, searched) as text from consumers order by created_at, id`,
        (rows) => rows.map(({ text }) => text.trim())
      )
      const expected = ["νικοσ", "anna strasse", "plain name", "\u00e9"]
      assert.deepStrictEqual(yield* texts, expected)
      yield* sql`update consumers set full_name = null`
      assert.deepStrictEqual(new Set(yield* texts), new Set([""]))
    })
  )

  it.live("folds as Unicode does, whatever the locale of the database", () =>
    Effect.gen(function* () {
      const { sql } = yield* emptyDatabase
      const characters = Object.keys(foldings())
      const rows = yield* sql<{ readonly letter: string; readonly folded: string }>`
        select letter, fold_case(letter) as folded from unnest(${characters}::text[]) as letter`
      for (const { letter, folded } of rows) {
        const one = foldings()[letter.normalize("NFC")] ?? letter.toLowerCase()
        assert.strictEqual(folded.normalize("NFC"), one.normalize("NFC"), letter)
        // A letter with a folding of one character is the same letter for an expression that ignores case.
        if (letter.normalize("NFC") === letter && [...one].length === 1)
          assert.match(letter, new RegExp(`^${one}$`, "iu"))
      }
      assert.strictEqual(rows.length, 1559)
      const known = yield* sql<{ readonly folded: string }>`
        select fold_case(text) as folded
        from unnest(${["ẞß", "Σσς", "İIıi", "ŸÆ", "ﬃ", "ᾼ", "Ԁ", "ꭰ", "山😀", ""]}::text[]) with ordinality as given (text, n) order by n`
      assert.deepStrictEqual(
        known.map(({ folded }) => folded),
        ["ssss", "σσσ", "i\u0307iıi", "ÿæ", "ffi", "αι", "ԁ", "Ꭰ", "山😀", ""]
      )
    })
  )

  it.live("of a development version from before the first release is refused, and left as it is", () =>
    Effect.gen(function* () {
      const { sql, database } = yield* emptyDatabase
      yield* sql`update usher_migrations set name = 'foundation'`
      yield* sql`insert into usher_migrations (migration_id, name) values (43, 'textContracted')`
      const before = yield* sql`select migration_id, name from usher_migrations`
      const refused = yield* Effect.flip(Effect.provide(Migrations.run, database))
      assert.include(refused.message, "a development version of Usher from before the first release")
      assert.include(refused.message, "Name another database in DATABASE_URL or DATA_DIR, or drop this one")
      assert.deepStrictEqual(yield* sql`select migration_id, name from usher_migrations`, before)
    })
  )
})
