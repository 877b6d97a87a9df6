/** The timeline of a database that was there before timelines. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { addOrganization, databaseAt } from "./earlierSchema.ts"

describe("Step 0032", () => {
  it.live("gives a database a timeline of its own, and neither a hold nor a backup", () =>
    Effect.gen(function* () {
      const made = Effect.gen(function* () {
        const { sql, migrate } = yield* databaseAt(31)
        yield* addOrganization(sql)
        assert.include(yield* migrate, 32)
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
})
