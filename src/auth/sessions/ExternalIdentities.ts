/**
 * Consumers authenticated by the organization's own server. The server identifies a consumer by provider, issuer and
 * subject, and receives a code. The consumer's browser exchanges the code for a session, once.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { hash, randomBytes } from "node:crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import { type Claims, ConsumerAccounts } from "./ConsumerAccounts.ts"
import { type AuthenticatedSession, Sessions, type StartedSession } from "./Sessions.ts"
import { ofTenant } from "../../store/records/Tenancy.ts"
import * as Time from "../../store/coordination/Time.ts"

/** How long an exchange code is valid (not configurable). */
const exchangeSeconds = 60

/** How the organization's server identifies a consumer. */
export interface ExternalIdentity {
  readonly provider: string
  readonly issuer: string
  readonly subject: string
}

export interface Authorization {
  readonly exchangeCode: Redacted.Redacted
  readonly expiresAt: Millis
  /** Whether the identity was new. */
  readonly resolution: "created" | "existing"
}

/** The code cannot be exchanged: it is unknown, used or expired. */
export class WrongExchangeCode extends Schema.TaggedError<WrongExchangeCode>()("WrongExchangeCode", {
  reason: Schema.Literals(["invalid_exchange_code", "exchange_code_expired"])
}) {}

export class ExternalIdentities extends Context.Service<
  ExternalIdentities,
  {
    /** Finds or creates the consumer and fills its empty fields from the claims. */
    authorize(tenant: Tenant, identity: ExternalIdentity, claims: Claims): Effect.Effect<Authorization, Unavailable>
    /** Consumes the code and starts a session. */
    exchange(
      tenant: Tenant,
      exchangeCode: string
    ): Effect.Effect<StartedSession<AuthenticatedSession>, WrongExchangeCode | Unavailable>
  }
>()("usher/auth/sessions/ExternalIdentities") {
  static readonly layer = Layer.effect(ExternalIdentities)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const accounts = yield* ConsumerAccounts
      const sessions = yield* Sessions
      const random = yield* SecureRandom.SecureRandom

      const named = (tenant: Tenant, { provider, issuer, subject }: ExternalIdentity) => sql`
        ${ofTenant(sql, tenant, "i")}
        and i.provider = ${provider} and i.issuer = ${issuer} and i.subject = ${subject}`

      /** Finds the consumer of the identity. Locks the identity's row until the transaction ends. */
      const find = (tenant: Tenant, identity: ExternalIdentity) =>
        sql<{ consumer_id: string; archived: boolean }>`
          select i.consumer_id, c.archived from external_identities i join consumers c on c.id = i.consumer_id
          where ${named(tenant, identity)} for update of i`

      /** Links the identity to a new consumer. False if it is already linked to an active one. */
      const name = Effect.fnUntraced(function* (tenant: Tenant, identity: ExternalIdentity, consumerId: string) {
        const rows = yield* sql`
          insert into external_identities as i ${sql.insert({
            organization_id: tenant.organizationId,
            mode: tenant.mode,
            provider: identity.provider,
            issuer: identity.issuer,
            subject: identity.subject,
            consumer_id: consumerId,
            created_at: new Date(yield* Time.now)
          })}
          on conflict (organization_id, mode, provider, issuer, subject) do update set consumer_id = excluded.consumer_id
          where exists (select from consumers c where c.id = i.consumer_id and c.archived)
          returning consumer_id`
        return rows.length > 0
      })

      const resolve = Effect.fnUntraced(function* (tenant: Tenant, identity: ExternalIdentity) {
        const known = (yield* find(tenant, identity))[0]
        if (known?.archived === false) return { consumerId: known.consumer_id, resolution: "existing" } as const
        const consumerId = yield* random.uuidV7()
        if (yield* name(tenant, identity, consumerId)) {
          yield* accounts.create(tenant, consumerId)
          return { consumerId, resolution: "created" } as const
        }
        // A concurrent request created it and has committed: the insert waited for that.
        const [found] = yield* find(tenant, identity)
        return { consumerId: found!.consumer_id, resolution: "existing" } as const
      })

      const authorize = Effect.fn("ExternalIdentities.authorize")(function* (
        tenant: Tenant,
        identity: ExternalIdentity,
        claims: Claims
      ) {
        const expiresAt = (yield* Time.now) + exchangeSeconds * 1000
        const exchangeCode = randomBytes(32).toString("base64url")
        const resolution = yield* Effect.gen(function* () {
          const resolved = yield* resolve(tenant, identity)
          yield* accounts.fill(tenant, resolved.consumerId, claims)
          yield* sql`insert into exchange_codes ${sql.insert({
            hash: hashOf(exchangeCode),
            organization_id: tenant.organizationId,
            mode: tenant.mode,
            consumer_id: resolved.consumerId,
            expires_at: new Date(expiresAt)
          })}`
          return resolved.resolution
        }).pipe(sql.withTransaction)
        return { exchangeCode: Redacted.make(exchangeCode, { label: "exchange code" }), expiresAt, resolution }
      }, orUnavailable)

      const exchange = Effect.fn("ExternalIdentities.exchange")(function* (tenant: Tenant, exchangeCode: string) {
        const now = new Date(yield* Time.now)
        const mine = sql`
          hash = ${hashOf(exchangeCode)} and ${ofTenant(sql, tenant)}
          and used_at is null`
        const taken = yield* Effect.gen(function* () {
          const rows = yield* sql<{ consumer_id: string }>`
            update exchange_codes set used_at = ${now} where ${mine} and expires_at > ${now} returning consumer_id`
          const consumer = rows[0] && (yield* accounts.find(tenant, rows[0].consumer_id))
          return consumer && (yield* sessions.start(consumer))
        }).pipe(sql.withTransaction)
        if (taken !== undefined) return taken
        const late = yield* sql`select 1 from exchange_codes where ${mine} and expires_at <= ${now}`
        return yield* new WrongExchangeCode({
          reason: late.length > 0 ? "exchange_code_expired" : "invalid_exchange_code"
        })
      }, orUnavailable)

      return { authorize, exchange }
    })
  )
}

const hashOf = (exchangeCode: string) => hash("sha256", exchangeCode, "buffer")
