/**
 * The addresses that get no more messages of an organization: those to which mail cannot arrive, and those whose
 * consumers complained or opted out. An address stays stopped until its consumer opts in again, or an admin lifts it.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { sameAddress, type StoppedAddress, stoppedAddressSorts } from "../../domain/message/StoppedAddress.ts"
import type { Channel, StopReason } from "../../domain/receiver/Meaning.ts"
import { masked } from "../../domain/values/Masked.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { makeReadPage } from "../records/Lists.ts"
import { equal, listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ofTenant } from "../records/Tenancy.ts"
import * as Time from "../coordination/Time.ts"

/** The list of stopped addresses. */
export const shape = listShape("stopped-addresses", "s", stoppedAddressSorts, { stoppedAt: "timestamptz" })

/** The filters of the list. */
export interface StopFilter {
  readonly channel?: Channel | undefined
  readonly reason?: StopReason | undefined
  readonly address?: string | undefined
}

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
    /** Allows messages to an address whose consumer had opted out. `by` is the author in the audit log. */
    allow(tenant: Tenant, by: string, channel: Channel, address: string): Effect.Effect<void, Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<StoppedAddress, RecordNotFound | Unavailable>
    /** Returns a page of the tenant's stopped addresses. */
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts> & StopFilter
    ): Effect.Effect<Page<StoppedAddress>, PageRefused | Unavailable>
    /** Allows messages to the address again, for any reason of the stop. Returns the stop as it was. */
    lift(tenant: Tenant, id: string, by: string): Effect.Effect<StoppedAddress, RecordNotFound | Unavailable>
  }
>()("usher/store/message/StoppedAddresses") {
  static readonly layer = Layer.effect(StoppedAddresses)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return {
        ...makeStopping(sql, yield* SecureRandom.SecureRandom),
        ...makeLifting(sql),
        ...(yield* makeReading)
      }
    })
  )
}

const makeStopping = (sql: PgClient.PgClient, random: SecureRandom.SecureRandom["Service"]) => {
  const isStopped = Effect.fn("StoppedAddresses.isStopped")(function* (
    tenant: Tenant,
    channel: Channel,
    address: string
  ) {
    const rows = yield* sql`
      select from stopped_addresses
      where ${ofTenant(sql, tenant)} and channel = ${channel} and address = ${sameAddress(address)}`
    return rows.length > 0
  }, orUnavailable)

  const stop = Effect.fn("StoppedAddresses.stop")(function* (
    { organizationId, mode }: Tenant,
    receiverId: string,
    channel: Channel,
    addresses: ReadonlyArray<string>,
    reason: StopReason
  ) {
    const now = new Date(yield* Time.now)
    const stopped = [...new Set(addresses.map(sameAddress))].toSorted()
    const ids = yield* Effect.forEach(stopped, () => random.uuidV7())
    yield* sql`
      insert into stopped_addresses (organization_id, mode, channel, address, reason, receiver_id, stopped_at, id)
      select ${organizationId}, ${mode}, ${channel}, address, ${reason}, ${receiverId}, ${now}, id
      from unnest(${stopped}::text[], ${ids}::uuid[]) as stopped (address, id)
      on conflict (organization_id, mode, channel, address) do update set reason = excluded.reason
      where stopped_addresses.reason = 'OPTED_OUT'`
  }, orUnavailable)

  return { isStopped, stop }
}

const makeLifting = (sql: PgClient.PgClient) => {
  const note = Effect.fnUntraced(function* (
    { organizationId, mode }: Tenant,
    by: string,
    { id, address, channel, reason, receiverId }: StoppedAddress
  ) {
    const at = new Date(yield* Time.now)
    const before = { channel, address: masked(address), reason, receiverId }
    const data = { changed: Object.keys(before).toSorted(), before, after: {} }
    yield* sql`
      insert into noted_events (organization_id, mode, at, type, actor, subject_id, data)
      values (${organizationId}, ${mode}, ${at}, 'stopped_address.lifted', ${by}, ${id}, ${sql.json(data)})`
  })

  const lift = Effect.fn("StoppedAddresses.lift")(
    function* (tenant: Tenant, id: string, by: string) {
      const [row] = yield* sql<Row>`
        delete from stopped_addresses where id = ${id} and ${ofTenant(sql, tenant)} returning *`
      if (row === undefined) return yield* new RecordNotFound({ record: "Stopped address" })
      const lifted = toStopped(row)
      yield* note(tenant, by, lifted)
      return lifted
    },
    sql.withTransaction,
    orUnavailable
  )

  const allow = Effect.fn("StoppedAddresses.allow")(
    function* (tenant: Tenant, by: string, channel: Channel, address: string) {
      const [row] = yield* sql<Row>`
        delete from stopped_addresses
        where ${ofTenant(sql, tenant)} and channel = ${channel} and address = ${sameAddress(address)}
          and reason = 'OPTED_OUT'
        returning *`
      if (row !== undefined) yield* note(tenant, by, toStopped(row))
    },
    sql.withTransaction,
    orUnavailable
  )

  return { lift, allow }
}

const makeReading = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const readPage = yield* makeReadPage(shape, toStopped)

  const find = Effect.fn("StoppedAddresses.find")(function* (tenant: Tenant, id: string) {
    const [row] = yield* sql<Row>`
      select s.* from stopped_addresses s where s.id = ${id} and ${ofTenant(sql, tenant, "s")}`
    return row === undefined ? yield* new RecordNotFound({ record: "Stopped address" }) : toStopped(row)
  }, orUnavailable)

  const list = Effect.fn("StoppedAddresses.list")(function* (
    tenant: Tenant,
    query: PageQuery<keyof typeof shape.sorts> & StopFilter
  ) {
    const { channel, reason } = query
    const address = query.address === undefined ? undefined : sameAddress(query.address)
    return yield* readPage(tenant, query, {
      filter: { channel, reason, address },
      fields: sql`s.*`,
      from: sql`stopped_addresses s`,
      where: sql.and([
        ofTenant(sql, tenant, "s"),
        ...equal(sql, { "s.channel": channel, "s.reason": reason, "s.address": address })
      ])
    })
  }, orUnavailable)

  return { find, list }
})

interface Row {
  readonly id: string
  readonly channel: Channel
  readonly address: string
  readonly reason: StopReason
  readonly receiver_id: string
  readonly stopped_at: Date
}

const toStopped = (row: Row): StoppedAddress => ({
  id: row.id,
  channel: row.channel,
  address: row.address,
  reason: row.reason,
  receiverId: row.receiver_id,
  stoppedAt: row.stopped_at.getTime()
})
