/**
 * The secrets of this installation, stored apart from the values that are hashed with them. A six-digit code can be
 * guessed from a plain hash almost immediately, but not from a hash that is keyed with one of these secrets.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { orUnavailable } from "../postgres/SqlFailure.ts"

/** Returns the secret: 32 bytes that never change. The migration that needs a secret creates it. */
export const serverSecret = Effect.fnUntraced(
  function* (name: "one_time_codes" | "access_codes" | "assigned_products" | "nodes" | "cursors" | "challenges") {
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
