/**
 * Erases consumers: removes all data that identifies the person. Orders keep their items and sums. Journals of
 * mechanisms and places keep the consumer's id, which then identifies no person.
 *
 * Three kinds of data stay for their own time, because they do not belong to one consumer: requests of providers
 * (`store/receiver/ReceivedEvents.ts`), answers under an Idempotency-Key, and stopped addresses, which protect the
 * person from further messages.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Schema } from "effect"
import { Id, Mode, type Tenant } from "../../domain/values/Ids.ts"
import type { Consumer } from "../../domain/consumer/Consumer.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { stamped, stampOf } from "../records/Rows.ts"
import { ofTenant } from "../records/Tenancy.ts"
import { sameAddress } from "../../domain/message/StoppedAddress.ts"
import { type Row, toConsumer } from "../consumer/ConsumerRow.ts"

/** Tables with rows that belong to one consumer and say something about it. */
const ownTables = [
  "alerts",
  "sessions",
  "external_identities",
  "exchange_codes",
  "audience_members",
  "experience_entries",
  "experience_passes",
  "sequence_passes"
] as const

/** The erased consumer, the key that erased it, and the time. */
export const Erasure = Schema.Struct({
  organizationId: Id,
  mode: Mode,
  consumerId: Id,
  erasedBy: Schema.String,
  erasedAt: Schema.String
})
export type Erasure = typeof Erasure.Type

export class Erasures extends Context.Service<
  Erasures,
  {
    /**
     * Erases an archived consumer, in one transaction. Erasing it again changes nothing. The caller archives it first
     * and takes it out of all mechanisms. Fails with `RecordNotFound` if the tenant has no archived consumer of this id.
     */
    erase(tenant: Tenant, consumerId: string, by: string): Effect.Effect<Consumer, RecordNotFound | Unavailable>
    /** Returns all erasures of all organizations, the oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<Erasure>, Unavailable>
    /**
     * Erases a consumer again that a restored backup contains. Returns false if there was nothing to erase. Its places
     * stay until the organization erases it on the Admin API, because the engine removes them.
     */
    repeat(erasure: Erasure): Effect.Effect<boolean, Unavailable>
  }
>()("usher/store/privacy/Erasures") {
  static readonly layer = onDatabase(Erasures, (sql) => {
    const erase = Effect.fn("Erasures.erase")(
      function* (tenant: Tenant, consumerId: string, by: string) {
        const isConsumer = sql`c.id = ${consumerId} and ${ofTenant(sql, tenant, "c")} and c.archived`
        const [row] = yield* sql<Row & { readonly erased_at: Date | null }>`
          select c.* from consumers c where ${isConsumer} for update`
        if (row === undefined) return yield* new RecordNotFound({ record: "Consumer" })
        if (row.erased_at !== null) return toConsumer(row)
        yield* removeTraces(sql, tenant, row)
        const stamp = yield* stampOf(by)
        yield* sql`
          insert into erasures ${sql.insert({
            consumer_id: consumerId,
            organization_id: tenant.organizationId,
            mode: tenant.mode,
            erased_at: stamp.now,
            erased_by: by
          })} on conflict do nothing`
        const [erased] = yield* sql<Row>`
          update consumers c set ${sql.update({ ...stamped(stamp), erased_at: stamp.now })},
            email = null, phone = null, full_name = null, name = null, external_id = null, attributes = null,
            metadata = null, loyalty_balance = 0, proved_email = null, proved_phone = null
          where ${isConsumer} returning c.*`
        return toConsumer(erased!)
      },
      sql.withTransaction,
      orUnavailable
    )

    const list = Effect.map(sql<ErasureRow>`select * from erasures order by erased_at, consumer_id`, (rows) =>
      rows.map(toErasure)
    ).pipe(orUnavailable)

    const repeat = Effect.fn("Erasures.repeat")(
      function* ({ organizationId, mode, consumerId, erasedBy }: Erasure) {
        const tenant = { organizationId, mode }
        const held = yield* sql`
          update consumers c set archived = true
          where c.id = ${consumerId} and ${ofTenant(sql, tenant, "c")} and c.erased_at is null returning c.id`
        if (held.length > 0) yield* Effect.catchTag(erase(tenant, consumerId, erasedBy), "RecordNotFound", Effect.die)
        return held.length > 0
      },
      sql.withTransaction,
      orUnavailable
    )

    return { erase, list, repeat }
  })
}

interface ErasureRow {
  readonly organization_id: string
  readonly mode: Mode
  readonly consumer_id: string
  readonly erased_by: string
  readonly erased_at: Date
}

const toErasure = (row: ErasureRow): Erasure => ({
  organizationId: row.organization_id,
  mode: row.mode,
  consumerId: row.consumer_id,
  erasedBy: row.erased_by,
  erasedAt: row.erased_at.toISOString()
})

/** Removes what other tables say about the consumer. */
const removeTraces = Effect.fnUntraced(function* (sql: PgClient.PgClient, tenant: Tenant, { id, email, phone }: Row) {
  yield* sql`
    update audiences a set member_count = a.member_count - 1
    where ${ofTenant(sql, tenant, "a")}
      and a.id in (select m.audience_id from audience_members m where m.consumer_id = ${id})`
  for (const table of ownTables) yield* sql`delete from ${sql(table)} where consumer_id = ${id}`
  yield* sql`delete from security_events e where ${ofTenant(sql, tenant, "e")} and e.consumer_id = ${id}`
  // A row of an earlier release may have another spelling than its messages.
  const addresses = [email, phone].flatMap((address) => (address === null ? [] : [address, sameAddress(address)]))
  // A person of the dashboard may have the same address. Its codes are not the consumer's.
  yield* sql`
    delete from one_time_codes o
    where ${ofTenant(sql, tenant, "o")} and ${sql.in("o.address", addresses)} and o.channel <> 'operator'`
  yield* sql`
    delete from sent_messages m where ${ofTenant(sql, tenant, "m")}
      and (m.consumer_id = ${id} or ${sql.in("m.address", addresses)})`
  // The shop's own notes on an order, such as an address.
  yield* sql`
    update orders o set record = o.record - 'metadata'
    where ${ofTenant(sql, tenant, "o")} and o.consumer_id = ${id} and o.record ? 'metadata'`
})
