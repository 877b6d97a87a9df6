/** `usher erasures` on a database that stands for a restored backup: the erased consumer is there again. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { run } from "../usherInProcess.ts"
import { clientOf, temporaryFolder } from "./archiveFixture.ts"

const consumerId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
const organizationId = randomUUID()

/** A database with one consumer, and a way to run the command in it. */
const aDatabase = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  const sql = yield* clientOf(url)
  yield* sql`
    insert into organizations (id, name, plan, settings, created_at) values (${organizationId}, 'A', 'growth', '{}', now())`
  yield* sql`
    insert into consumers (id, organization_id, mode, type, email, created_at)
    values (${consumerId}, ${organizationId}, 'live', 'authenticated', 'ann@example.com', now())`
  const consumer = sql`select email, archived, erased_at is not null as erased from consumers`
  return { sql, consumer, usher: (...args: ReadonlyArray<string>) => run(["erasures", ...args], { DATABASE_URL: url }) }
})

const aFile = Effect.map(temporaryFolder, (folder) => join(folder, "erasures.jsonl"))

describe("usher erasures", () => {
  it.live("lists erased consumers, and erases them again in a restored backup", () =>
    Effect.gen(function* () {
      const file = yield* aFile
      const present = yield* aDatabase
      yield* present.sql`
        insert into erasures (consumer_id, organization_id, mode, erased_at, erased_by)
        values (${consumerId}, ${organizationId}, 'live', now(), 'api_key:1')`
      const listed = yield* present.usher("list")
      assert.deepInclude(JSON.parse(listed.stdout), { consumerId, organizationId, mode: "live", erasedBy: "api_key:1" })
      writeFileSync(file, listed.stdout)

      const restored = yield* aDatabase
      const applied = yield* restored.usher("apply", file)
      assert.strictEqual(applied.code, 0, applied.stderr)
      assert.include(applied.stdout, "Erased 1 of 1 consumers")
      assert.deepStrictEqual(yield* restored.consumer, [{ email: null, archived: true, erased: true }])
      assert.include((yield* restored.usher("apply", file)).stdout, "Erased 0 of 1 consumers")
    })
  )

  it.live("erases nothing if a line of the file is no erasure", () =>
    Effect.gen(function* () {
      const file = yield* aFile
      const restored = yield* aDatabase
      const erasure = {
        organizationId,
        mode: "live",
        consumerId,
        erasedBy: "api_key:1",
        erasedAt: "2026-01-01T00:00:00Z"
      }
      writeFileSync(file, `${JSON.stringify(erasure)}\n{"consumerId":"ann"}\n`)
      const refused = yield* restored.usher("apply", file)
      assert.notStrictEqual(refused.code, 0)
      assert.include(refused.stderr, `${file}:2: this is no line of`)
      assert.deepStrictEqual(yield* restored.consumer, [{ email: "ann@example.com", archived: false, erased: false }])
      assert.include((yield* restored.usher("apply", `${file}.none`)).stderr, "there is no such file")
    })
  )
})
