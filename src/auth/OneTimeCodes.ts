/**
 * One-time codes by email and phone (completions 2): six digits, ten minutes, one use, five wrong tries, and a newer code
 * replaces the older. An address has one row, and one statement on it decides each of these, however many try at once.
 *
 * A code could be guessed from a plain hash in no time: it is hashed with a secret that is not in its table.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Redacted, Schema } from "effect"
import { createHmac, randomInt } from "node:crypto"
import type { Tenant } from "../domain/Ids.ts"
import type { Millis } from "../domain/Time.ts"
import { Invalidations, notification } from "../store/Invalidations.ts"
import type { Unavailable } from "../store/Journal.ts"
import { serverSecret } from "../store/ServerSecrets.ts"
import { orUnavailable } from "../store/SqlFailure.ts"
import type { Address } from "./Addresses.ts"
import { ConsumerAccounts } from "./ConsumerAccounts.ts"
import { endOfSession, Revocations } from "./Revocations.ts"
import { type AuthenticatedSession, Sessions, type StartedSession } from "./Sessions.ts"

/** How long a code is good. */
export const codeMinutes = 10

/** Wrong tries after which a code is dead. */
const triesMax = 5

/** Codes to one address within `windowMinutes`. */
const codesMax = 5
const windowMinutes = 10

/** A guest that shows who it is. */
export interface Guest {
  readonly consumerId: string
  readonly sessionId: string
}

/** The address has had its codes for now. */
export class TooManyCodes extends Schema.TaggedError<TooManyCodes>()("TooManyCodes", {
  /** When the next may be asked for. */
  retryAt: Schema.Finite
}) {}

/** Not the code that was sent; `otp_expired` if there is none that is alive. */
export class WrongCode extends Schema.TaggedError<WrongCode>()("WrongCode", {
  reason: Schema.Literals(["otp_invalid", "otp_expired"])
}) {}

export class OneTimeCodes extends Context.Service<
  OneTimeCodes,
  {
    /** A new code for the address, to be sent there and shown nowhere else. */
    request(tenant: Tenant, address: Address): Effect.Effect<Redacted.Redacted, TooManyCodes | Unavailable>
    /** Uses the code up and starts a session for the consumer of the address; see `ConsumerAccounts.byAddress` for the guest. */
    verify(
      tenant: Tenant,
      shown: { readonly address: Address; readonly code: string; readonly guest?: Guest | undefined }
    ): Effect.Effect<StartedSession<AuthenticatedSession>, WrongCode | Unavailable>
  }
>()("usher/auth/OneTimeCodes") {
  static readonly layer = Layer.effect(
    OneTimeCodes,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const accounts = yield* ConsumerAccounts
      const sessions = yield* Sessions
      const revocations = yield* Revocations
      const invalidations = yield* Invalidations
      const secret = yield* serverSecret("one_time_codes")

      const hashOf = ({ organizationId, mode }: Tenant, { channel, value }: Address, code: string) =>
        createHmac("sha256", secret)
          .update(JSON.stringify([organizationId, mode, channel, value, code]))
          .digest()

      const keyed = ({ organizationId, mode }: Tenant, { channel, value }: Address) => sql`
        c.organization_id = ${organizationId} and c.mode = ${mode} and c.channel = ${channel} and c.address = ${value}`

      const request = Effect.fn("OneTimeCodes.request")(function* (tenant: Tenant, address: Address) {
        const code = `${randomInt(1_000_000)}`.padStart(6, "0")
        const now = yield* Clock.currentTimeMillis
        const windowStart = new Date(now - windowMinutes * 60_000)
        // The array holds the last `codesMax` times, oldest first: it alone says whether there may be one more.
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
        return yield* new TooManyCodes({ retryAt: oldest + windowMinutes * 60_000 })
      }, orUnavailable)

      /** Counts the try, and takes the code if it is the one. A failed try is a success here: it must be committed. */
      const take = (tenant: Tenant, address: Address, code: string, now: Date) => {
        const isRight = sql`c.hash = ${hashOf(tenant, address, code)}::bytea`
        return sql<{ is_right: boolean }>`
          update one_time_codes c set
            used_at = case when ${isRight} then ${now}::timestamptz end,
            tries = c.tries + case when ${isRight} then 0 else 1 end
          where ${keyed(tenant, address)} and c.used_at is null and c.expires_at > ${now} and c.tries < ${triesMax}
          returning c.used_at is not null as is_right`
      }

      const endGuestSession = ({ sessionId }: Guest, now: Date) =>
        sql<{ access_expires_at: Date }>`
          with ended as (
            update sessions set revoked_at = ${now} where id = ${sessionId} and revoked_at is null
            returning id, access_expires_at
          )
          select access_expires_at, ${notification(sql, "session", endOfSession(sql, sql`ended`))} from ended`

      const verify = Effect.fn("OneTimeCodes.verify")(function* (
        tenant: Tenant,
        {
          address,
          code,
          guest
        }: { readonly address: Address; readonly code: string; readonly guest?: Guest | undefined }
      ) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const outcome = yield* Effect.gen(function* () {
          const rows = yield* take(tenant, address, code, now)
          if (rows[0]?.is_right !== true)
            return new WrongCode({ reason: rows.length > 0 ? "otp_invalid" : "otp_expired" })
          const { consumer, isUpgrade } = yield* accounts.byAddress(tenant, address, guest?.consumerId)
          // Whoever else knows the guest's tokens must not become the consumer with it.
          const ended = guest !== undefined && isUpgrade ? yield* endGuestSession(guest, now) : []
          return { session: yield* sessions.start(consumer), ended: ended[0] }
        }).pipe(sql.withTransaction)
        if (outcome instanceof WrongCode) return yield* outcome
        if (guest !== undefined && outcome.ended !== undefined) {
          revocations.add(guest.sessionId, outcome.ended.access_expires_at.getTime())
          yield* invalidations.settled
        }
        return outcome.session
      }, orUnavailable)

      return { request, verify }
    })
  )
}
