/**
 * Who a consumer turns out to be: found or created by an address it has shown to be its own, or by what the organization's
 * server says of it (completions 2).
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlSchema } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Id, Mode, type Tenant } from "../../domain/values/Ids.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import { tellConsumersChanged } from "../../store/experience/SequenceAccess.ts"
import { type Address, parseEmail } from "../codes/Addresses.ts"
import type { AuthenticatedConsumer } from "./Sessions.ts"
import { ofTenant } from "../../store/records/Tenancy.ts"

/** Longer names are cut off by nobody: they are left out. */
const nameLengthMax = 200

export class ConsumerAccounts extends Context.Service<
  ConsumerAccounts,
  {
    /**
     * The consumer of an address; created if there is none. A guest becomes that consumer, and keeps its id and with it
     * its places, unless the address is another's already.
     */
    byAddress(
      tenant: Tenant,
      address: Address,
      guestId: string | undefined
    ): Effect.Effect<{ readonly consumer: AuthenticatedConsumer; readonly isUpgrade: boolean }, SqlError>
    /** An authenticated consumer; undefined if it is archived, or not the tenant's. */
    find(tenant: Tenant, consumerId: string): Effect.Effect<AuthenticatedConsumer | undefined, SqlError>
    /** A new consumer of whom nothing is known. */
    create(tenant: Tenant, consumerId: string): Effect.Effect<void, SqlError>
    /** Fills what is empty: never overwrites, and never takes an email that is another's. What makes no sense is left out. */
    fill(tenant: Tenant, consumerId: string, claims: Claims): Effect.Effect<void, SqlError>
  }
>()("usher/auth/sessions/ConsumerAccounts") {
  static readonly layer = Layer.effect(
    ConsumerAccounts,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom
      const invalidations = yield* Invalidations

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

      /** The guest as authenticated consumer; undefined if it is no guest any more, or somebody was faster with the address. */
      const upgrade = (tenant: Tenant, { channel, value }: Address, guestId: string, now: Date) =>
        sql<typeof Row.Type>`
          update consumers set type = 'authenticated', ${sql(channel)} = ${value}, updated_at = ${now}, updated_by = null
          where id = ${guestId} and ${ofTenant(sql, tenant)} and type = 'guest' and not archived
          returning id, email, phone`.pipe(
          // A failed statement would fail the whole transaction: this one has its own.
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
        Effect.map(Clock.currentTimeMillis, (now) => ({
          id,
          organization_id: tenant.organizationId,
          mode: tenant.mode,
          type: "authenticated",
          created_at: new Date(now)
        }))

      const byAddress = Effect.fnUntraced(function* (tenant: Tenant, address: Address, guestId: string | undefined) {
        const known = yield* holder(tenant, address)
        if (known !== undefined) return { consumer: toConsumer(tenant, known), isUpgrade: false }
        if (guestId !== undefined) {
          const now = new Date(yield* Clock.currentTimeMillis)
          const upgraded = yield* upgrade(tenant, address, guestId, now)
          if (upgraded !== undefined) {
            yield* tellConsumersChanged(sql, [guestId])
            yield* invalidations.publish("consumer", `${tenant.organizationId} ${tenant.mode} ${guestId}`)
            return { consumer: toConsumer(tenant, upgraded), isUpgrade: true }
          }
        }
        // Whoever was faster has committed by now, or the insert would still be waiting for it.
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
        const email = typeof claims["email"] === "string" ? parseEmail(claims["email"]) : undefined
        if (email === undefined) return
        yield* sql`update consumers set email = ${email.value} where ${mine} and email is null`.pipe(
          sql.withTransaction,
          Effect.asVoid,
          ifTaken(undefined)
        )
      })

      return {
        byAddress,
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

/** What an organization says of a consumer. */
export type Claims = { readonly [name: string]: unknown }

const Channel = Schema.Literals(["email", "phone"])

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
  return name === "" || name.length > nameLengthMax ? undefined : name
}

/** The given answer where the address is another consumer's. */
const ifTaken =
  <B>(answer: B) =>
  <A, R>(effect: Effect.Effect<A, SqlError, R>): Effect.Effect<A | B, SqlError, R> =>
    Effect.catchTag(effect, "SqlError", (error) =>
      error.reason._tag === "UniqueViolation" ? Effect.succeed(answer) : Effect.fail(error)
    )
