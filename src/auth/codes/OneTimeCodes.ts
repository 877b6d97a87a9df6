/**
 * One-time codes by email and phone (completions 2): six digits, valid for ten minutes, one use, five wrong tries. A
 * newer code replaces the older one. Each address has one row, and one statement on that row decides each of these
 * rules, however many requests run at the same time.
 *
 * A code could be recovered from a plain hash by trying all million codes. Codes are therefore hashed with a secret
 * that is not stored in their table.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Redacted, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { createHmac, randomInt } from "node:crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { serverSecret } from "../../store/coordination/ServerSecrets.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import type { Address } from "./Addresses.ts"
import { ConsumerAccounts } from "../sessions/ConsumerAccounts.ts"
import { endSessions, Revocations } from "../sessions/Revocations.ts"
import { type AuthenticatedSession, Sessions, type StartedSession } from "../sessions/Sessions.ts"
import { ofTenant } from "../../store/records/Tenancy.ts"

/** How long a code is valid. */
export const codeMinutes = 10

/** Wrong tries after which a code is invalid. */
const triesMax = 5

/** Codes that may be sent to one address within `windowMinutes`. */
const codesMax = 5
const windowMinutes = 10

/** The guest session that the caller presents. */
export interface Guest {
  readonly consumerId: string
  readonly sessionId: string
}

/** A code that a caller presents, and the address it was sent to. */
export interface ShownCode {
  readonly address: Address
  readonly code: string
}

/** The address has reached its limit of codes for now. */
export class TooManyCodes extends Schema.TaggedError<TooManyCodes>()("TooManyCodes", {
  /** The limit. */
  codesMax: Schema.Int,
  /** When the next code may be requested. */
  retryAt: Schema.Finite
}) {}

/** The code is not the one that was sent. `otp_expired` if the address has no valid code. */
export class WrongCode extends Schema.TaggedError<WrongCode>()("WrongCode", {
  reason: Schema.Literals(["otp_invalid", "otp_expired"])
}) {}

export class OneTimeCodes extends Context.Service<
  OneTimeCodes,
  {
    /** Creates a new code for the address. The caller sends it there and shows it nowhere else. */
    request(tenant: Tenant, address: Address): Effect.Effect<Redacted.Redacted, TooManyCodes | Unavailable>
    /**
     * Consumes the code and runs `action` in one transaction. If `action` fails, the code stays valid. A wrong code
     * counts as a try.
     */
    prove<A, E, R>(
      tenant: Tenant,
      shown: ShownCode,
      action: Effect.Effect<A, E, R>
    ): Effect.Effect<A, WrongCode | Unavailable | Exclude<E, SqlError>, R>
    /**
     * Consumes the code and starts a session for the consumer of the address. See `ConsumerAccounts.byAddress` for the
     * guest.
     */
    verify(
      tenant: Tenant,
      shown: ShownCode & { readonly guest?: Guest | undefined }
    ): Effect.Effect<StartedSession<AuthenticatedSession>, WrongCode | Unavailable>
  }
>()("usher/auth/codes/OneTimeCodes") {
  static readonly layer = Layer.effect(
    OneTimeCodes,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const accounts = yield* ConsumerAccounts
      const sessions = yield* Sessions
      const revocations = yield* Revocations
      const secret = yield* serverSecret("one_time_codes")

      const hashOf = ({ organizationId, mode }: Tenant, { channel, value }: Address, code: string) =>
        createHmac("sha256", secret)
          .update(JSON.stringify([organizationId, mode, channel, value, code]))
          .digest()

      const keyed = (tenant: Tenant, { channel, value }: Address) => sql`
        ${ofTenant(sql, tenant, "c")} and c.channel = ${channel} and c.address = ${value}`

      const request = Effect.fn("OneTimeCodes.request")(function* (tenant: Tenant, address: Address) {
        const code = `${randomInt(1_000_000)}`.padStart(6, "0")
        const now = yield* Clock.currentTimeMillis
        const windowStart = new Date(now - windowMinutes * 60_000)
        // The array holds the times of the last `codesMax` codes, oldest first. It alone limits further codes.
        const stored = yield* sql`
          insert into one_time_codes as c (organization_id, mode, channel, address, hash, tries, expires_at, sent_at)
          values (${tenant.organizationId}, ${tenant.mode}, ${address.channel}, ${address.value},
            ${hashOf(tenant, address, code)}, 0, ${new Date(now + codeMinutes * 60_000)}, array[${new Date(now)}::timestamptz])
          on conflict (organization_id, mode, channel, address) do update set
            hash = excluded.hash, tries = 0, expires_at = excluded.expires_at, used_at = null,
            sent_at = (c.sent_at || excluded.sent_at)[greatest(1, cardinality(c.sent_at) - ${codesMax - 2}::int):]
          where cardinality(c.sent_at) < ${codesMax} or c.sent_at[1] <= ${windowStart}
          returning tries`
        if (stored.length > 0) return Redacted.make(code, { label: "one-time code" })
        const rows = yield* sql<{ oldest: Date }>`
          select sent_at[1] as oldest from one_time_codes c where ${keyed(tenant, address)}`
        const oldest: Millis = rows[0]?.oldest.getTime() ?? now
        return yield* new TooManyCodes({ codesMax, retryAt: oldest + windowMinutes * 60_000 })
      }, orUnavailable)

      /** Counts the try, and consumes the code if it matches. A wrong try succeeds: it must be committed. */
      const take = (tenant: Tenant, address: Address, code: string, now: Date) => {
        const isRight = sql`c.hash = ${hashOf(tenant, address, code)}::bytea`
        return sql<{ is_right: boolean }>`
          update one_time_codes c set
            used_at = case when ${isRight} then ${now}::timestamptz end,
            tries = c.tries + case when ${isRight} then 0 else 1 end
          where ${keyed(tenant, address)} and c.used_at is null and c.expires_at > ${now} and c.tries < ${triesMax}
          returning c.used_at is not null as is_right`
      }

      const prove = Effect.fn("OneTimeCodes.prove")(function* <A, E, R>(
        tenant: Tenant,
        { address, code }: ShownCode,
        action: Effect.Effect<A, E, R>
      ) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const outcome = yield* Effect.gen(function* () {
          const rows = yield* take(tenant, address, code, now)
          if (rows[0]?.is_right === true) return { done: yield* action }
          return new WrongCode({ reason: rows.length > 0 ? "otp_invalid" : "otp_expired" })
        }).pipe(sql.withTransaction)
        return outcome instanceof WrongCode ? yield* outcome : outcome.done
      }, orUnavailable)

      const endGuestSession = (tenant: Tenant, { sessionId }: Guest) => {
        const isMeant = sql`s.id = ${sessionId} and ${ofTenant(sql, tenant, "s")}`
        return Effect.flatMap(Clock.currentTimeMillis, (now) => endSessions(sql, isMeant, new Date(now)))
      }

      const signIn = Effect.fnUntraced(function* (tenant: Tenant, address: Address, guest: Guest | undefined) {
        const { consumer, isUpgrade } = yield* accounts.byAddress(tenant, address, guest?.consumerId)
        // An attacker with the guest's tokens must not gain access to the new consumer.
        const ended = guest !== undefined && isUpgrade ? yield* endGuestSession(tenant, guest) : []
        return { session: yield* sessions.start(consumer), ended }
      })

      const verify = Effect.fn("OneTimeCodes.verify")(function* (
        tenant: Tenant,
        { guest, ...shown }: ShownCode & { readonly guest?: Guest | undefined }
      ) {
        const { session, ended } = yield* prove(tenant, shown, signIn(tenant, shown.address, guest))
        yield* revocations.ended(ended)
        return session
      }, orUnavailable)

      return { request, prove, verify }
    })
  )
}
