/**
 * Bounds on tries that can be guessed or that cost money: codes shown, access codes, SMS. The database counts them, so
 * all processes share one count and a restart loses none. A window begins with the first try in it.
 *
 * Only wrong tries use up a bound: a caller takes a try before the check and gives it back when the try was right. So
 * tries at the same time cannot exceed a bound, and a crowd behind one address does not use it up by being right.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { createHmac } from "node:crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import { serverSecret } from "../../store/coordination/ServerSecrets.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { ofTenant } from "../../store/records/Tenancy.ts"
import * as Time from "../../store/coordination/Time.ts"

/** A bound on tries. */
export interface AttemptLimit {
  readonly name: string
  readonly attemptsMax: number
  readonly windowSeconds: number
}

/** The limited subject: a consumer, a client, or the organization. */
export interface AttemptSubject {
  readonly limit: AttemptLimit
  readonly subject: string
}

/** No further try is allowed for now. */
export class TooManyAttempts extends Schema.TaggedError<TooManyAttempts>()("TooManyAttempts", {
  limit: Schema.String,
  attemptsMax: Schema.Int,
  /** When the next try is allowed. */
  retryAt: Schema.Finite
}) {}

export class AttemptLimits extends Context.Service<
  AttemptLimits,
  {
    /** Counts a try under all the limits, or refuses it and counts it under none. */
    take(tenant: Tenant, subjects: ReadonlyArray<AttemptSubject>): Effect.Effect<void, TooManyAttempts | Unavailable>
    /** Takes back a try that was right. */
    giveBack(tenant: Tenant, subjects: ReadonlyArray<AttemptSubject>): Effect.Effect<void, Unavailable>
  }
>()("usher/auth/codes/AttemptLimits") {
  static readonly layer = Layer.effect(AttemptLimits)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const secret = yield* serverSecret("one_time_codes")
      const digest = (text: string) => createHmac("sha256", secret).update(`attempts:${text}`).digest()

      // The table has a column for clients. A subject names its client itself.
      const client = digest("")

      const takeOne = Effect.fnUntraced(function* (tenant: Tenant, { limit, subject }: AttemptSubject) {
        const now = new Date(yield* Time.serverNow)
        const endsAt = new Date(now.getTime() + limit.windowSeconds * 1000)
        const key = digest(subject)
        const rows = yield* sql`
          insert into attempts as a (organization_id, mode, limit_name, subject, client, count, ends_at)
          values (${tenant.organizationId}, ${tenant.mode}, ${limit.name}, ${key}, ${client}, 1, ${endsAt})
          on conflict (organization_id, mode, limit_name, subject, client) do update set
            count = case when a.ends_at <= ${now} then 1 else a.count + 1 end,
            ends_at = case when a.ends_at <= ${now} then excluded.ends_at else a.ends_at end
          where a.ends_at <= ${now} or a.count < ${limit.attemptsMax}
          returning a.count`
        if (rows.length > 0) return
        const [open] = yield* sql<{ readonly ends_at: Date }>`
          select a.ends_at from attempts a
          where ${ofTenant(sql, tenant, "a")} and a.limit_name = ${limit.name} and a.subject = ${key}::bytea
            and a.client = ${client}::bytea`
        return yield* new TooManyAttempts({
          limit: limit.name,
          attemptsMax: limit.attemptsMax,
          retryAt: (open?.ends_at ?? endsAt).getTime()
        })
      })

      const giveBack = Effect.fnUntraced(function* (tenant: Tenant, subjects: ReadonlyArray<AttemptSubject>) {
        for (const { limit, subject } of subjects) {
          yield* sql`
            update attempts a set count = greatest(a.count - 1, 0)
            where ${ofTenant(sql, tenant, "a")} and a.limit_name = ${limit.name}
              and a.subject = ${digest(subject)}::bytea and a.client = ${client}::bytea`
        }
      }, orUnavailable)

      return {
        take: (tenant, subjects) =>
          Effect.forEach(subjects, (attempt) => takeOne(tenant, attempt), { discard: true }).pipe(
            sql.withTransaction,
            orUnavailable
          ),
        giveBack
      }
    })
  )
}
