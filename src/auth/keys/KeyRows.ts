/** The rows of API keys. */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { NewKey } from "./ApiKeys.ts"
import type { KeyKind } from "../../domain/organization/ApiKey.ts"

/** Makes the function that stores a new key of a tenant. Its text is not stored. */
export const makeInsertKey = (sql: PgClient.PgClient, random: SecureRandom.SecureRandom["Service"]) =>
  Effect.fnUntraced(function* ({ organizationId, mode }: Tenant, kind: KeyKind, key: NewKey, createdAt: Date) {
    yield* sql`insert into api_keys ${sql.insert({
      id: yield* random.uuidV7(),
      organization_id: organizationId,
      mode,
      kind,
      hash: key.hash,
      display: key.display,
      created_at: createdAt
    })}`
  })
