/**
 * Secrets of this installation, kept apart from what is hashed with them: what could be guessed from a plain hash in no
 * time, such as a code of six digits, cannot be guessed from a hash keyed with one of these.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { orUnavailable } from "../postgres/SqlFailure.ts"

/** The secret, 32 bytes that never change. Each is made by the migration that needs it. */
export const serverSecret = Effect.fnUntraced(
  function* (name: "one_time_codes" | "access_codes" | "assigned_products" | "nodes" | "cursors") {
    const sql = yield* PgClient.PgClient
    const select = SqlSchema.findOne({
      Request: Schema.String,
      Result: Schema.Struct({ secret: Schema.Uint8Array }),
      execute: (name) => sql`select secret from server_secrets where name = ${name}`
    })
    return (yield* select(name)).secret
  },
  Effect.catchTag(["SchemaError", "NoSuchElementError"], Effect.die),
  orUnavailable
)
