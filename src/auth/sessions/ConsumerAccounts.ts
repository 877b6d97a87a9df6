/**
 * Finds or creates the consumer record of a caller: by an address that the caller has verified, or by claims from the
 * organization's server.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Id, Mode, type Tenant } from "../../domain/values/Ids.ts"
import { lengthOf } from "../../domain/values/Text.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import { tellConsumersChanged } from "../../store/experience/SequenceAccess.ts"
import { type Address, parseEmail, parsePhone } from "../../domain/consumer/Address.ts"
import { type EndedSession, endSessions } from "./Revocations.ts"
import type { AuthenticatedConsumer } from "./Sessions.ts"
import { ofTenant } from "../../store/records/Tenancy.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Longer names are ignored, not truncated. */
const nameLengthMax = 200

export class ConsumerAccounts extends Context.Service<
  ConsumerAccounts,
  {
    /**
     * Returns the consumer of an address, and creates it if there is none. Another spelling of a mailbox is the same
     * address, unless the organization keeps spellings apart. If the address is free, the given guest becomes that
     * consumer and keeps its id and its places. Must run in a transaction.
     */
    byAddress(
      tenant: Tenant,
      address: Address,
      guestId: string | undefined
    ): Effect.Effect<{ readonly consumer: AuthenticatedConsumer; readonly isUpgrade: boolean }, SqlError>
    /** Returns an authenticated consumer, or undefined if it is archived or belongs to another tenant. */
    find(tenant: Tenant, consumerId: string): Effect.Effect<AuthenticatedConsumer | undefined, SqlError>
    /** Creates a consumer without any details. */
    create(tenant: Tenant, consumerId: string): Effect.Effect<void, SqlError>
    /**
     * Records that the consumer has proved the address by a code. At the first proof all its sessions end but
     * `sessionId`: an attacker may have used the address before its owner. Returns the ended sessions; the caller must
     * call `Revocations.ended` after the commit.
     */
    markProved(
      tenant: Tenant,
      prover: { readonly consumerId: string; readonly sessionId?: string },
      address: Address
    ): Effect.Effect<ReadonlyArray<EndedSession>, SqlError>
    /**
     * Fills empty fields from the claims. Never overwrites a field, and never takes an address of another consumer. An
     * address counts only if the claims say that it was verified. Ignores invalid claims.
     */
    fill(tenant: Tenant, consumerId: string, claims: Claims): Effect.Effect<void, SqlError>
  }
>()("usher/auth/sessions/ConsumerAccounts") {
  static readonly layer = Layer.effect(ConsumerAccounts)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom
      const invalidations = yield* Invalidations
      const mailboxHolder = yield* makeMailboxHolder

      const selectByAddress = SqlSchema.findAll({
        Request: Schema.Struct({ ...Owner, channel: Channel, value: Schema.String }),
        Result: Row,
        execute: ({ channel, value, ...tenant }) => sql`
          select id, email, phone from consumers
          where ${ofTenant(sql, tenant)} and type = 'authenticated' and not archived and ${sql(channel)} = ${value}`
      })

      const selectById = SqlSchema.findAll({
        Request: Schema.Struct({ ...Owner, id: Id }),
        Result: Row,
        execute: ({ id, ...tenant }) => sql`
          select id, email, phone from consumers
          where id = ${id} and ${ofTenant(sql, tenant)} and type = 'authenticated' and not archived`
      })

      const holder = (tenant: Tenant, address: Address) =>
        selectByAddress({ ...tenant, ...address }).pipe(
          Effect.map((rows) => rows[0]),
          Effect.catchTag("SchemaError", Effect.die)
        )

      /** Authenticates the guest. Undefined if it is no longer a guest, or the address was taken first. */
      const upgrade = (tenant: Tenant, { channel, value }: Address, guestId: string, now: Date) =>
        sql<typeof Row.Type>`
          update consumers set type = 'authenticated', ${sql(channel)} = ${value}, updated_at = ${now}, updated_by = null
          where id = ${guestId} and ${ofTenant(sql, tenant)} and type = 'guest' and not archived
          returning id, email, phone`.pipe(
          // A failed statement would abort the whole transaction, so this one runs in a savepoint.
          sql.withTransaction,
          Effect.map((rows) => rows[0]),
          ifTaken(undefined)
        )

      const insert = Effect.fnUntraced(function* (tenant: Tenant, { channel, value }: Address) {
        const rows = yield* sql<typeof Row.Type>`
          insert into consumers ${sql.insert({
            ...(yield* blank(tenant, yield* random.uuidV7())),
            [channel]: value
          })}
          on conflict do nothing returning id, email, phone`
        return rows[0]
      })
      const blank = (tenant: Tenant, id: string) =>
        Effect.map(Time.now, (now) => ({
          id,
          organization_id: tenant.organizationId,
          mode: tenant.mode,
          type: "authenticated",
          created_at: new Date(now)
        }))

      const byAddress = Effect.fnUntraced(function* (tenant: Tenant, address: Address, guestId: string | undefined) {
        const known = (yield* holder(tenant, address)) ?? (yield* mailboxHolder(tenant, address))
        if (known !== undefined) return { consumer: toConsumer(tenant, known), isUpgrade: false }
        if (guestId !== undefined) {
          const now = new Date(yield* Time.now)
          const upgraded = yield* upgrade(tenant, address, guestId, now)
          if (upgraded !== undefined) {
            yield* tellConsumersChanged(sql, [guestId])
            yield* invalidations.publish("consumer", `${tenant.organizationId} ${tenant.mode} ${guestId}`)
            return { consumer: toConsumer(tenant, upgraded), isUpgrade: true }
          }
        }
        // A concurrent request that took the address has committed, or the insert would still wait.
        const found = (yield* insert(tenant, address)) ?? (yield* holder(tenant, address))
        return { consumer: toConsumer(tenant, found!), isUpgrade: false }
      })

      const fill = Effect.fnUntraced(function* (tenant: Tenant, consumerId: string, claims: Claims) {
        const mine = sql`id = ${consumerId} and ${ofTenant(sql, tenant)}`
        const fullName = nameOf(claims["fullName"])
        const name = nameOf(claims["name"])
        if (fullName !== undefined || name !== undefined) {
          yield* sql`
            update consumers set
              full_name = coalesce(nullif(full_name, ''), ${fullName ?? null}::text),
              name = coalesce(nullif(name, ''), ${name ?? null}::text)
            where ${mine}`
        }
        for (const { channel, value } of verifiedIn(claims)) {
          yield* sql`update consumers set ${sql(channel)} = ${value} where ${mine} and ${sql(channel)} is null`.pipe(
            sql.withTransaction,
            ifTaken(undefined)
          )
        }
      })

      return {
        byAddress,
        markProved: makeMarkProved(sql),
        find: (tenant, id) =>
          selectById({ ...tenant, id }).pipe(
            Effect.map((rows) => rows[0] && toConsumer(tenant, rows[0])),
            Effect.catchTag("SchemaError", Effect.die)
          ),
        create: (tenant, id) =>
          Effect.flatMap(blank(tenant, id), (row) => Effect.asVoid(sql`insert into consumers ${sql.insert(row)}`)),
        fill
      }
    })
  )
}

const makeMarkProved = (sql: PgClient.PgClient): ConsumerAccounts["Service"]["markProved"] =>
  Effect.fnUntraced(function* (tenant, { consumerId, sessionId }, { channel, value }) {
    const proved = sql(`proved_${channel}`)
    const first = yield* sql`
      update consumers set ${proved} = ${value}
      where id = ${consumerId} and ${ofTenant(sql, tenant)} and ${proved} is distinct from ${value} returning id`
    if (first.length === 0) return []
    const others = sql`
      s.consumer_id = ${consumerId} and ${ofTenant(sql, tenant, "s")} and s.id is distinct from ${sessionId ?? null}::uuid`
    return yield* endSessions(sql, others, new Date(yield* Time.serverNow))
  })

/** The addresses in the claims that the organization says were verified. */
function verifiedIn(claims: Claims): ReadonlyArray<Address> {
  const { email, email_verified: isEmail, phone, phone_verified: isPhone } = claims
  const found = [
    isEmail === true && typeof email === "string" ? parseEmail(email) : undefined,
    isPhone === true && typeof phone === "string" ? parsePhone(phone) : undefined
  ]
  return found.filter((address) => address !== undefined)
}

/** Unvalidated claims of an organization about a consumer. */
export type Claims = { readonly [name: string]: unknown }

const Channel = Schema.Literals(["email", "phone"])

/** Makes the function that finds the holder of a mailbox by any of its spellings. */
const makeMailboxHolder = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient

  /**
   * Returns the oldest consumer that has another spelling of the mailbox, unless the organization keeps spellings apart.
   * Until the transaction ends, no other request can create a consumer for the mailbox.
   */
  return Effect.fnUntraced(function* (tenant: Tenant, { channel, value }: Address) {
    if (channel !== "email") return undefined
    const kept = yield* sql<{ readonly mailbox: string }>`
      select mailbox_of(${value}) as mailbox from organizations
      where id = ${tenant.organizationId} and mailbox_of(${value}) is not null
        and coalesce((settings ->> 'oneAccountPerMailbox')::boolean, true)`
    const mailbox = kept[0]?.mailbox
    if (mailbox === undefined) return undefined
    const lock = `${tenant.organizationId} ${tenant.mode} ${mailbox}`
    yield* sql`select pg_advisory_xact_lock(hashtextextended(${lock}, 0))`
    const rows = yield* sql<typeof Row.Type>`
      select id, email, phone from consumers
      where ${ofTenant(sql, tenant)} and type = 'authenticated' and not archived and mailbox_of(email) = ${mailbox}
      order by (email = ${value}) desc, created_at, id limit 1`
    return rows[0]
  })
})

const Owner = { organizationId: Id, mode: Mode }

const Row = Schema.Struct({
  id: Schema.String,
  email: Schema.NullOr(Schema.String),
  phone: Schema.NullOr(Schema.String)
})

const toConsumer = (tenant: Tenant, { id, email, phone }: typeof Row.Type): AuthenticatedConsumer => ({
  tenant,
  consumerId: id,
  ...(email !== null && { email }),
  ...(phone !== null && { phone })
})

const nameOf = (claim: unknown): string | undefined => {
  const name = typeof claim === "string" ? claim.trim() : ""
  return name === "" || lengthOf(name) > nameLengthMax ? undefined : name
}

/** Returns `fallback` if the address belongs to another consumer. */
const ifTaken =
  <B>(fallback: B) =>
  <A, R>(effect: Effect.Effect<A, SqlError, R>): Effect.Effect<A | B, SqlError, R> =>
    Effect.catchTag(effect, "SqlError", (error) =>
      error.reason._tag === "UniqueViolation" ? Effect.succeed(fallback) : Effect.fail(error)
    )
