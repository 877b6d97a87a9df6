/** Services that consist of statements: they need the database, and nothing else. */
import { PgClient } from "@effect/sql-pg"
import { type Context, Effect, Layer } from "effect"

/** The layer of a service that `make` makes of a database client. */
export const onDatabase = <Self, Service>(
  service: Context.Service<Self, Service>,
  make: (sql: PgClient.PgClient) => Service
): Layer.Layer<Self, never, PgClient.PgClient> => Layer.effect(service, Effect.map(PgClient.PgClient, make))
