/**
 * The secrets of this installation, stored apart from the values that are hashed with them. A six-digit code can be
 * guessed from a plain hash almost immediately, but not from a hash that is keyed with one of these secrets. With
 * `SECRETS_KEY` they are sealed.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { CurrentKeyring } from "../secrets/CurrentKeyring.ts"
import { fromStored } from "../secrets/Sealing.ts"

type SecretName =
  | "one_time_codes"
  | "access_codes"
  | "assigned_products"
  | "nodes"
  | "cursors"
  | "challenges"
  | "grant_names"

/**
 * Returns the secret: 32 bytes that never change. The migration that needs a secret creates it. The start has checked
 * that this process can open what is sealed; a value that it cannot open was altered.
 */
export const serverSecret = Effect.fnUntraced(
  function* (name: SecretName) {
    const sql = yield* PgClient.PgClient
    const select = SqlSchema.findOne({
      Request: Schema.String,
      Result: Schema.Struct({ secret: Schema.Uint8Array, sealed_by: Schema.NullOr(Schema.String) }),
      execute: (name) => sql`select secret, sealed_by from server_secrets where name = ${name}`
    })
    const { secret: bytes, sealed_by: sealedBy } = yield* select(name)
    const secret = fromStored(yield* CurrentKeyring, `server_secret:${name}`, { bytes, sealedBy })
    return secret ?? (yield* Effect.die(new Error(`The secret ${name} cannot be opened with SECRETS_KEY`)))
  },
  Effect.catchTag(["SchemaError", "NoSuchElementError"], Effect.die),
  orUnavailable
)
