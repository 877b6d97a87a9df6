import { assert, describe, layer } from "@effect/vitest"
import { Cause, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { orUnavailable } from "../../../src/store/postgres/SqlFailure.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** Returns the outcome of a failed statement. */
const outcome = Effect.fnUntraced(function* (statement: string) {
  const sql = yield* SqlClient.SqlClient
  const exit = yield* Effect.exit(orUnavailable(sql.unsafe(statement)))
  if (Exit.isSuccess(exit)) return "success"
  return Cause.hasDies(exit.cause) ? "defect" : "unavailable"
})

describe("A failed statement", () => {
  layer(TestDatabase.layer, { excludeTestServices: true })((it) => {
    it.effect("is a defect when the statement itself is wrong", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`create table things (id int primary key check (id > 0))`
        for (const statement of [
          "selec 1",
          "select * from nothing",
          "select 1 / 0",
          "select 'x'::uuid",
          "insert into things values (1), (1)",
          "insert into things values (-1)"
        ]) {
          assert.strictEqual(yield* outcome(statement), "defect", statement)
        }
      })
    )

    it.effect("means that the store is out of reach when another try may succeed", () =>
      Effect.gen(function* () {
        for (const statement of [
          "select pg_terminate_backend(pg_backend_pid())",
          "do $$ begin raise sqlstate '40001'; end $$",
          "do $$ begin raise sqlstate '40P01'; end $$",
          "do $$ begin raise sqlstate '53300'; end $$",
          "do $$ begin raise sqlstate '57P03'; end $$"
        ]) {
          assert.strictEqual(yield* outcome(statement), "unavailable", statement)
        }
        assert.strictEqual(yield* outcome("select 1"), "success")
      })
    )
  })
})
