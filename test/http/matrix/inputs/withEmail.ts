/** The input of an operation for consumers with an email address. A guest has none. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { MakeInput } from "../inputs.ts"

export const withEmail =
  (make: MakeInput): MakeInput =>
  (own, world) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { consumerId } = own
      yield* Effect.orDie(sql`
        update consumers set email = ${`${consumerId}@example.com`} where id = ${consumerId} and email is null`)
      return { ...(yield* make(own, world)), guestStatus: 403 }
    })
