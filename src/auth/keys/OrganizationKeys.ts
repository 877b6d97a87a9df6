/**
 * Lists and replaces the current API keys of organizations.
 *
 * Guarantee of a rotation: after it returns, no process accepts the old key for a new request. One transaction revokes
 * the old key and creates the new one, and its commit notifies every process. This process evicts the old key before it
 * returns. The call then waits until every other process has evicted the key. A process that is silent for too long
 * (`Invalidations`) looks up every key in the database, and the call no longer waits for it.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { apiKeySorts, type KeyKind } from "../../domain/organization/ApiKey.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import {
  keyset,
  listShape,
  makePlan,
  page,
  type Page,
  type PageQuery,
  type PageRefused
} from "../../store/records/Pagination.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import { actingAs } from "../../store/organization/TenantEvents.ts"
import * as ApiKeys from "./ApiKeys.ts"
import { makeInsertKey } from "./KeyRows.ts"
import { ofOrganization, ofTenant } from "../../store/records/Tenancy.ts"
import * as Time from "../../store/coordination/Time.ts"

/** A key without its secret text. */
export interface ShownKey {
  readonly kind: KeyKind
  readonly mode: Mode
  /** First characters, `…`, last four. */
  readonly display: string
  readonly createdAt: Millis
}

/** A key that was just created. `key` is its whole text, shown only this once. */
export interface RotatedKey extends ShownKey {
  readonly key: string
}

/** The organization does not exist. */
export class OrganizationNotFound extends Schema.TaggedError<OrganizationNotFound>()("OrganizationNotFound", {}) {}

export const shape = listShape("api-keys", "k", apiKeySorts, { createdAt: "timestamptz" })

export class OrganizationKeys extends Context.Service<
  OrganizationKeys,
  {
    /** Returns a page of the tenant's current keys. */
    list(tenant: Tenant, query: PageQuery<"createdAt">): Effect.Effect<Page<ShownKey>, PageRefused | Unavailable>
    /** Returns an organization's current keys in both modes. */
    ofOrganization(organizationId: string): Effect.Effect<ReadonlyArray<ShownKey>, OrganizationNotFound | Unavailable>
    /** Replaces the tenant's key of the given kind. */
    rotate(tenant: Tenant, kind: KeyKind, by: string): Effect.Effect<RotatedKey, OrganizationNotFound | Unavailable>
  }
>()("usher/auth/keys/OrganizationKeys") {
  static readonly layer = Layer.effect(OrganizationKeys)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan
      const random = yield* SecureRandom.SecureRandom
      const keys = yield* ApiKeys.ApiKeys
      const invalidations = yield* Invalidations

      const list = Effect.fn("OrganizationKeys.list")(function* (tenant: Tenant, query: PageQuery<"createdAt">) {
        const planned = yield* plan(shape, query, { tenant, filter: {} })
        const { columns, condition, order } = keyset(sql, planned)
        const rows = yield* sql<Row & { readonly sortKey: string; readonly sortId: string }>`
          select k.kind, k.mode, k.display, k.created_at, ${columns} from api_keys k
          where ${ofTenant(sql, tenant, "k")} and k.revoked_at is null
            and ${condition} ${order}`
        return page(planned, rows, toShown)
      }, orUnavailable)

      const listAll = Effect.fn("OrganizationKeys.ofOrganization")(function* (organizationId: string) {
        const organizations = yield* sql`select id from organizations where id = ${organizationId}`
        if (organizations.length === 0) return yield* new OrganizationNotFound()
        const rows = yield* sql<Row>`
          select kind, mode, display, created_at from api_keys
          where ${ofOrganization(sql, organizationId)} and revoked_at is null order by mode, kind`
        return rows.map(toShown)
      }, orUnavailable)

      const replace = makeReplace(sql, random, invalidations)

      const rotate = Effect.fn("OrganizationKeys.rotate")(function* (tenant: Tenant, kind: KeyKind, by: string) {
        const key = ApiKeys.make(kind, tenant.mode)
        const createdAt = yield* Time.serverNow
        const digests = yield* replace(tenant, kind, by, key, new Date(createdAt))
        for (const digest of digests) yield* keys.forget(digest)
        yield* invalidations.settledForCertain
        return { kind, mode: tenant.mode, display: key.display, createdAt, key: key.text }
      }, orUnavailable)

      return { list, ofOrganization: listAll, rotate }
    })
  )
}

/** Creates the function that replaces a key. It returns the digests under which the old key is cached. */
const makeReplace = (
  sql: PgClient.PgClient,
  random: SecureRandom.SecureRandom["Service"],
  invalidations: Invalidations["Service"]
) => {
  const insertKey = makeInsertKey(sql, random)
  return Effect.fnUntraced(function* (tenant: Tenant, kind: KeyKind, by: string, key: ApiKeys.NewKey, now: Date) {
    // The lock serializes rotations of one organization.
    const organizations = yield* sql`
      select ${actingAs(sql, by)} from organizations where id = ${tenant.organizationId} for no key update`
    if (organizations.length === 0) return yield* new OrganizationNotFound()
    const ended = yield* sql<{ readonly hash: Uint8Array }>`
      update api_keys set revoked_at = ${now}
      where ${ofTenant(sql, tenant)} and kind = ${kind} and revoked_at is null
      returning hash`
    yield* insertKey(tenant, kind, key, now)
    const digests = ended.map(({ hash }) => Buffer.from(hash).toString("base64url"))
    for (const digest of digests) yield* invalidations.publish("api_key", digest)
    return digests
  }, sql.withTransaction)
}

interface Row {
  readonly kind: KeyKind
  readonly mode: Mode
  readonly display: string
  readonly created_at: Date
}

const toShown = ({ kind, mode, display, created_at }: Row): ShownKey => ({
  kind,
  mode,
  display,
  createdAt: created_at.getTime()
})
