/** Texts of earlier releases under the rules of Unicode. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { foldings } from "../../../../src/store/postgres/migrations/text/CaseFolding.ts"
import { addConsumer, addOrganization, anyId, databaseAt, organizationId } from "./earlierSchema.ts"

describe("Step 0040", () => {
  it.live("gives addresses their spelling, and leaves one of two consumers that are one mailbox as it is", () =>
    Effect.gen(function* () {
      const { sql, migrate } = yield* databaseAt(38)
      yield* addOrganization(sql)
      const consumers: ReadonlyArray<readonly [before: string, after: string, row?: object]> = [
        ["anna@xn--bcher-kva.example", "anna@bücher.example", { proved_email: "anna@xn--bcher-kva.example" }],
        ["ben@ｅｘａｍｐｌｅ.com", "ben@example.com"],
        ["carl@plain.example", "carl@plain.example"],
        ["dora@xn--p1ai.example", "dora@xn--p1ai.example"],
        ["dora@рф.example", "dora@рф.example"],
        ["emil@xn--fsqu00a.example", "emil@例子.example"],
        ["emil@例子.ｅｘａｍｐｌｅ", "emil@例子.ｅｘａｍｐｌｅ"],
        ["guest@xn--fsqu00a.example", "guest@例子.example", { type: "guest" }],
        ["guest@例子.example", "guest@例子.example", { type: "guest" }],
        ["emil@xn--fsqu00a.EXAMPLE", "emil@例子.example", { archived: true }]
      ]
      const ids = consumers.map((_, index) => anyId(4001 + index))
      yield* Effect.forEach(consumers, ([email, , row], index) => addConsumer(sql, ids[index]!, { email, ...row }))
      yield* addConsumer(sql, anyId(5001), { external_id: "e\u0301" })
      yield* addConsumer(sql, anyId(5002), { external_id: "\u00ea".normalize("NFD") })
      yield* addConsumer(sql, anyId(5003), { external_id: "\u00e9" })
      yield* sql`
        insert into receivers
          (id, organization_id, mode, record, created_at, created_by, updated_at, updated_by, adapter, secret)
        values (${anyId(6001)}, ${organizationId}, 'live', '{}', now(), 'x', now(), 'x', 'sendgrid', '')`
      yield* sql`
        insert into stopped_addresses (organization_id, mode, channel, address, reason, receiver_id, stopped_at)
        values (${organizationId}, 'live', 'email', 'anna@xn--bcher-kva.example', 'BOUNCED', ${anyId(6001)}, now())`
      assert.include(yield* migrate, 40)

      const rows = yield* sql<{ readonly id: string; readonly email: string }>`
        select id, email from consumers where email is not null order by created_at, id`
      assert.deepStrictEqual(
        rows.map(({ email }) => email),
        consumers.map(([, after]) => after)
      )
      assert.deepStrictEqual(yield* sql`select proved_email from consumers where proved_email is not null`, [
        { proved_email: "anna@bücher.example" }
      ])
      assert.deepStrictEqual(
        yield* sql`select external_id from consumers where external_id is not null order by created_at, id`,
        [{ external_id: "e\u0301" }, { external_id: "\u00ea" }, { external_id: "\u00e9" }]
      )
      assert.deepStrictEqual(yield* sql`select address from stopped_addresses`, [{ address: "anna@bücher.example" }])
    })
  )

  it.live("writes what a search reads of consumers of earlier releases, of later ones, and after a change", () =>
    Effect.gen(function* () {
      const { sql, migrate } = yield* databaseAt(38)
      yield* addOrganization(sql)
      const names = ["ΝΙΚΟΣ", "Anna Straße", "Plain Name", "e\u0301"]
      yield* Effect.forEach(names, (full_name, index) => addConsumer(sql, anyId(4001 + index), { full_name }))
      yield* migrate
      yield* Effect.forEach(names, (full_name, index) => addConsumer(sql, anyId(5001 + index), { full_name }))
      const texts = Effect.map(
        sql<{ readonly text: string }>`
          select coalesce(search_text, searched) as text from consumers order by created_at, id`,
        (rows) => rows.map(({ text }) => text.trim())
      )
      const expected = ["νικοσ", "anna strasse", "plain name", "\u00e9"]
      assert.deepStrictEqual(yield* texts, [...expected, ...expected])
      yield* sql`update consumers set full_name = null`
      assert.deepStrictEqual(new Set(yield* texts), new Set([""]))
    })
  )

  it.live("folds as Unicode does, whatever the locale of the database", () =>
    Effect.gen(function* () {
      const { sql, migrate } = yield* databaseAt(38)
      yield* migrate
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
})
