/** Creates an organization without rate limits, without the start of a process. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { type NewOrganization, Organizations } from "../../../src/auth/keys/Organizations.ts"
import { onDatabase } from "../../store/support/connections.ts"

/** Writes the organization to a migrated database, as `usher organizations create` does, and returns its keys. */
export const make = (databaseUrl: string): Promise<NewOrganization> =>
  Effect.runPromise(
    onDatabase(databaseUrl, (sql) =>
      Effect.flatMap(Organizations, (organizations) => organizations.create({ name: "Test", plan: "enterprise" })).pipe(
        Effect.provide(
          Organizations.layer.pipe(Layer.provide([SecureRandom.layerWebCrypto, Layer.succeed(PgClient.PgClient, sql)]))
        )
      )
    )
  )
