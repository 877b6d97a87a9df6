/** Sent messages, by the id that their provider gave them, with the provider's reports. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { type MessagePurpose, type SentMessage, messageSorts } from "../../domain/message/SentMessage.ts"
import { sameAddress } from "../../domain/message/StoppedAddress.ts"
import { type Channel, MessageStatus } from "../../domain/receiver/Meaning.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { makeReadPage } from "../records/Lists.ts"
import { equal, listShape, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ofTenant } from "../records/Tenancy.ts"
import * as Time from "../coordination/Time.ts"

/** The statuses from the least telling to the most. */
const statuses = [...MessageStatus.literals]

/** The list of messages. */
export const shape = listShape("messages", "m", messageSorts, { sentAt: "timestamptz" })

/** A message to be stored. */
export interface NewMessage {
  readonly tenant: Tenant
  readonly channel: Channel
  readonly to: string
  readonly purpose: MessagePurpose
  /** The consumer, where the sender knows it. */
  readonly consumerId?: string
}

/** The filters of the list. */
export interface MessageFilter {
  readonly channel?: Channel | undefined
  readonly status?: MessageStatus | undefined
  readonly purpose?: MessagePurpose | undefined
  readonly address?: string | undefined
  /** Messages that name the consumer, and those to the addresses that it has now. */
  readonly consumerId?: string | undefined
}

export class SentMessages extends Context.Service<
  SentMessages,
  {
    /** Records a message, by the id that its provider gave it; by an id of its own if there is none. */
    record(
      message: NewMessage,
      messageId: string | undefined,
      status: "SENT" | "FAILED"
    ): Effect.Effect<void, Unavailable>
    /**
     * Records the provider's report about the message with one of these ids. A report never replaces a more conclusive
     * one. Returns false if the tenant has no such message.
     */
    report(
      tenant: Tenant,
      channel: Channel,
      messageIds: ReadonlyArray<string>,
      status: MessageStatus
    ): Effect.Effect<boolean, Unavailable>
    /** Returns a message by its id on the Admin API. */
    find(tenant: Tenant, id: string): Effect.Effect<SentMessage, RecordNotFound | Unavailable>
    /** Returns a page of the tenant's messages. */
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof shape.sorts> & MessageFilter
    ): Effect.Effect<Page<SentMessage>, PageRefused | Unavailable>
  }
>()("usher/store/message/SentMessages") {
  static readonly layer = Layer.effect(SentMessages)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      return { ...makeWriting(sql, yield* SecureRandom.SecureRandom), ...(yield* makeReading) }
    })
  )
}

const makeWriting = (sql: PgClient.PgClient, random: SecureRandom.SecureRandom["Service"]) => {
  const record = Effect.fn("SentMessages.record")(function* (
    { tenant: { organizationId, mode }, channel, to, purpose, consumerId }: NewMessage,
    messageId: string | undefined,
    status: "SENT" | "FAILED"
  ) {
    const now = new Date(yield* Time.now)
    const id = yield* random.uuidV7()
    yield* sql`
      insert into sent_messages (
        organization_id, mode, channel, message_id, status, sent_at, updated_at, id, address, purpose, consumer_id
      )
      values (
        ${organizationId}, ${mode}, ${channel}, ${messageId ?? id}, ${status}, ${now}, ${now}, ${id},
        ${sameAddress(to)}, ${purpose}, ${consumerId ?? null}
      )
      on conflict (organization_id, mode, channel, message_id) do nothing`
  }, orUnavailable)

  const report = Effect.fn("SentMessages.report")(function* (
    tenant: Tenant,
    channel: Channel,
    messageIds: ReadonlyArray<string>,
    status: MessageStatus
  ) {
    const now = new Date(yield* Time.now)
    const rank = sql`array_position(${statuses}::text[], status)`
    const rows = yield* sql`
      update sent_messages
      set status = case when ${rank} < ${statuses.indexOf(status) + 1} then ${status} else status end,
        updated_at = ${now}
      where ${ofTenant(sql, tenant)} and channel = ${channel} and message_id = any(${messageIds}::text[])
      returning 1`
    return rows.length > 0
  }, orUnavailable)

  return { record, report }
}

const makeReading = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const readPage = yield* makeReadPage(shape, toMessage)

  const find = Effect.fn("SentMessages.find")(function* (tenant: Tenant, id: string) {
    const [row] = yield* sql<Row>`select m.* from sent_messages m where m.id = ${id} and ${ofTenant(sql, tenant, "m")}`
    return row === undefined ? yield* new RecordNotFound({ record: "Message" }) : toMessage(row)
  }, orUnavailable)

  const ofConsumer = (tenant: Tenant, consumerId: string) => sql`
    (m.consumer_id = ${consumerId} or (m.channel, m.address) in (
      select a.channel, lower(a.address) from consumers c,
        lateral (values ('email', c.email), ('phone', c.phone)) as a (channel, address)
      where c.id = ${consumerId} and ${ofTenant(sql, tenant, "c")}
    ))`

  const list = Effect.fn("SentMessages.list")(function* (
    tenant: Tenant,
    query: PageQuery<keyof typeof shape.sorts> & MessageFilter
  ) {
    const { channel, status, purpose, consumerId } = query
    const address = query.address === undefined ? undefined : sameAddress(query.address)
    return yield* readPage(tenant, query, {
      filter: { channel, status, purpose, address, consumerId },
      fields: sql`m.*`,
      from: sql`sent_messages m`,
      where: sql.and([
        sql`${ofTenant(sql, tenant, "m")} and m.id is not null`,
        ...equal(sql, { "m.channel": channel, "m.status": status, "m.purpose": purpose, "m.address": address }),
        ...(consumerId === undefined ? [] : [ofConsumer(tenant, consumerId)])
      ])
    })
  }, orUnavailable)

  return { find, list }
})

interface Row {
  readonly id: string
  readonly channel: Channel
  readonly address: string | null
  readonly purpose: MessagePurpose | null
  readonly consumer_id: string | null
  readonly status: MessageStatus
  readonly sent_at: Date
  readonly updated_at: Date
}

const toMessage = (row: Row): SentMessage => ({
  id: row.id,
  channel: row.channel,
  address: row.address,
  purpose: row.purpose,
  consumerId: row.consumer_id,
  status: row.status,
  sentAt: row.sent_at.getTime(),
  updatedAt: row.updated_at.getTime()
})
