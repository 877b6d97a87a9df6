/**
 * The addresses that get no more messages of an organization: those to which mail cannot arrive, and those whose
 * consumers complained or opted out. An address stays stopped until its consumer opts in again.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import type { Channel, StopReason } from "../../domain/receiver/Meaning.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { ofTenant } from "../records/Tenancy.ts"

export class StoppedAddresses extends Context.Service<
  StoppedAddresses,
  {
    /** True if the address gets no more messages of the tenant. */
    isStopped(tenant: Tenant, channel: Channel, address: string): Effect.Effect<boolean, Unavailable>
    /** Stops messages to the addresses, because of an event of the receiver. Opting in does not undo a bounce or a complaint. */
    stop(
      tenant: Tenant,
      receiverId: string,
      channel: Channel,
      addresses: ReadonlyArray<string>,
      reason: StopReason
    ): Effect.Effect<void, Unavailable>
    /** Allows messages to an address whose consumer had opted out. */
    allow(tenant: Tenant, channel: Channel, address: string): Effect.Effect<void, Unavailable>
  }
>()("usher/store/message/StoppedAddresses") {
  static readonly layer = Layer.effect(
    StoppedAddresses,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const isStopped = Effect.fn("StoppedAddresses.isStopped")(function* (
        tenant: Tenant,
        channel: Channel,
        address: string
      ) {
        const rows = yield* sql`
          select from stopped_addresses
          where ${ofTenant(sql, tenant)} and channel = ${channel} and address = ${sameAs(address)}`
        return rows.length > 0
      }, orUnavailable)

      const stop = Effect.fn("StoppedAddresses.stop")(function* (
        { organizationId, mode }: Tenant,
        receiverId: string,
        channel: Channel,
        addresses: ReadonlyArray<string>,
        reason: StopReason
      ) {
        const now = new Date(yield* Clock.currentTimeMillis)
        yield* sql`
          insert into stopped_addresses (organization_id, mode, channel, address, reason, receiver_id, stopped_at)
          select ${organizationId}, ${mode}, ${channel}, address, ${reason}, ${receiverId}, ${now}
          from unnest(${[...new Set(addresses.map(sameAs))].toSorted()}::text[]) as stopped (address)
          on conflict (organization_id, mode, channel, address) do update set reason = excluded.reason
          where stopped_addresses.reason = 'OPTED_OUT'`
      }, orUnavailable)

      const allow = Effect.fn("StoppedAddresses.allow")(function* (tenant: Tenant, channel: Channel, address: string) {
        yield* sql`
          delete from stopped_addresses
          where ${ofTenant(sql, tenant)} and channel = ${channel} and address = ${sameAs(address)}
            and reason = 'OPTED_OUT'`
      }, orUnavailable)

      return { isStopped, stop, allow }
    })
  )
}

/** One spelling for an address: consumers' addresses are stored in lower case too. */
const sameAs = (address: string): string => address.trim().toLowerCase()
