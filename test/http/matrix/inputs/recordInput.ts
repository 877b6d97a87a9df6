/** The input of an admin's operation on one record, for kinds of records that each operation gets a new one of. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { MakeInput } from "../inputs.ts"
import type { byServer, Side } from "../world.ts"

/** Creates the record of a side. Returns its id. */
type Make = (
  side: Side
) => Effect.Effect<string, never, Effect.Services<ReturnType<typeof byServer>> | SqlClient.SqlClient>

/** Makes the function that returns the input of an operation with this body. */
export const recordInput =
  (make: Make) =>
  (body?: object): MakeInput =>
  (own, { sides }) =>
    Effect.gen(function* () {
      const id = yield* make(own)
      const names = [{ own: id, others: [yield* make(sides.test), yield* make(sides.foreign)], unknown: randomUUID() }]
      return { params: { id }, names, status: 200, ...(body && { body }) }
    })
