/** Collects what is stored about one consumer, for a person who asks for it. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect } from "effect"
import { type Consumer, exportedMax, exportedJournalsMax } from "../../domain/consumer/Consumer.ts"
import { sameAddress } from "../../domain/message/StoppedAddress.ts"
import type { Kind } from "../../domain/mechanism/Mechanism.ts"
import type { Order } from "../../domain/consumer/Order.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { onDatabase } from "../postgres/OnDatabase.ts"
import { currentPlaces, ofMechanisms } from "../journal/CurrentPlaces.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { ofTenant } from "../records/Tenancy.ts"
import { type Row, toConsumer } from "../consumer/ConsumerRow.ts"
import * as OrderRows from "../consumer/OrderRows.ts"
import type { OwnFields, PlaceStatus } from "../../domain/mechanism/PlaceFields.ts"
import type { MessageStatus } from "../../domain/receiver/Meaning.ts"
import type { Risk } from "../../domain/risk/Risk.ts"

export interface ConsumerExport {
  readonly consumer: Consumer
  /** Accounts at providers of identities. */
  readonly identities: ReadonlyArray<{
    readonly provider: string
    readonly issuer: string
    readonly subject: string
    readonly createdAt: Millis
  }>
  readonly sessions: ReadonlyArray<{ readonly id: string; readonly createdAt: Millis; readonly expiresAt: Millis }>
  readonly audiences: ReadonlyArray<{ readonly id: string; readonly name: string; readonly addedAt: Millis }>
  readonly places: ReadonlyArray<{
    readonly distributionId: string
    readonly distributionType: Kind
    readonly status: PlaceStatus
    readonly enteredAt: Millis
    readonly updatedAt: Millis
    readonly fields: OwnFields & { readonly risk?: Risk }
  }>
  readonly events: ReadonlyArray<{
    readonly distributionId: string
    readonly type: string
    readonly at: Millis
    readonly data: unknown
  }>
  readonly orders: ReadonlyArray<Order>
  readonly securityEvents: ReadonlyArray<{
    readonly type: string
    readonly clientAddress: string | null
    readonly at: Millis
    readonly count: number
  }>
  /** Messages of the last weeks, without their texts. */
  readonly messages: ReadonlyArray<{
    readonly channel: string
    readonly address: string | null
    readonly purpose: string | null
    readonly status: MessageStatus
    readonly sentAt: Millis
  }>
  /** Emails that the consumer has asked for. */
  readonly alerts: ReadonlyArray<{
    readonly topic: string
    readonly subjectId: string
    readonly language: string
    readonly createdAt: Millis
  }>
  /** False if a list has reached its limit. */
  readonly isComplete: boolean
}

export class ConsumerExports extends Context.Service<
  ConsumerExports,
  {
    /** Returns what is stored about the consumer, archived ones too. */
    collect(tenant: Tenant, consumerId: string): Effect.Effect<ConsumerExport, RecordNotFound | Unavailable>
  }
>()("usher/store/privacy/ConsumerExports") {
  static readonly layer = onDatabase(ConsumerExports, (sql) => ({
    collect: Effect.fn("ConsumerExports.collect")(function* (tenant: Tenant, consumerId: string) {
      const [row] = yield* sql<Row>`
          select c.* from consumers c where c.id = ${consumerId} and ${ofTenant(sql, tenant, "c")}`
      if (row === undefined) return yield* new RecordNotFound({ record: "Consumer" })
      yield* currentPlaces(sql, ofMechanisms(sql, tenant))
      const places = yield* placesOf(sql, tenant, consumerId)
      const journals = places.slice(0, exportedJournalsMax).map(({ distributionId }) => distributionId)
      const events = yield* eventsOf(sql, consumerId, journals)
      const orders = yield* ordersOf(sql, tenant, consumerId)
      const account = yield* accountOf(sql, tenant, consumerId)
      const messages = yield* messagesOf(sql, tenant, row)
      const lists = [places, events, orders, messages, ...Object.values(account)]
      const isComplete = lists.every(({ length }) => length < exportedMax) && places.length <= exportedJournalsMax
      return { consumer: toConsumer(row), ...account, places, events, orders, messages, isComplete }
    }, orUnavailable)
  }))
}

const placesOf = (sql: PgClient.PgClient, tenant: Tenant, consumerId: string) =>
  Effect.map(
    sql<{
      readonly id: string
      readonly kind: Kind
      readonly status: PlaceStatus
      readonly entered_at: Date
      readonly updated_at: Date
      readonly fields: (OwnFields & { readonly risk?: Risk }) | null
    }>`
      select m.id, m.kind, p.status, p.entered_at, p.updated_at, p.fields
      from mechanisms m join places p on p.mechanism_id = m.id and p.consumer_id = ${consumerId}
      where ${ofTenant(sql, tenant, "m")}
      order by p.entered_at desc, m.id limit ${exportedMax}`,
    (rows) =>
      rows.map(({ id, kind, status, entered_at, updated_at, fields }) => ({
        distributionId: id,
        distributionType: kind,
        status,
        enteredAt: entered_at.getTime(),
        updatedAt: updated_at.getTime(),
        fields: fields ?? {}
      }))
  )

const eventsOf = (sql: PgClient.PgClient, consumerId: string, mechanismIds: ReadonlyArray<string>) =>
  Effect.map(
    sql<{ readonly mechanism_id: string; readonly type: string; readonly at: Date; readonly data: unknown }>`
      select j.mechanism_id, j.type, j.at, j.data from journal j
      where j.mechanism_id = any(${mechanismIds}::uuid[]) and j.consumer_id = ${consumerId}
      order by j.at desc, j.sequence desc limit ${exportedMax}`,
    (rows) =>
      rows.map(({ mechanism_id, type, at, data }) => ({ distributionId: mechanism_id, type, at: at.getTime(), data }))
  )

const ordersOf = (sql: PgClient.PgClient, tenant: Tenant, consumerId: string) =>
  Effect.map(
    sql<OrderRows.Row>`
      select o.* from orders o where o.consumer_id = ${consumerId} and ${ofTenant(sql, tenant, "o")}
      order by o.created_at desc, o.id limit ${exportedMax}`,
    (rows) => rows.map(OrderRows.toOrder)
  )

const messagesOf = (sql: PgClient.PgClient, tenant: Tenant, { id, email, phone }: Row) =>
  Effect.map(
    sql<{
      readonly channel: string
      readonly address: string | null
      readonly purpose: string | null
      readonly status: MessageStatus
      readonly sent_at: Date
    }>`
      select m.channel, m.address, m.purpose, m.status, m.sent_at from sent_messages m
      where ${ofTenant(sql, tenant, "m")}
        and (m.consumer_id = ${id} or m.address in (${email === null ? null : sameAddress(email)}::text, ${phone}::text))
      order by m.sent_at desc, m.id limit ${exportedMax}`,
    (rows) => rows.map(({ sent_at, ...rest }) => ({ ...rest, sentAt: sent_at.getTime() }))
  )

/** The data of the account: ways to sign in, sessions, audiences, and security events. */
const accountOf = Effect.fnUntraced(function* (sql: PgClient.PgClient, tenant: Tenant, consumerId: string) {
  const identities = yield* sql<{
    readonly provider: string
    readonly issuer: string
    readonly subject: string
    readonly created_at: Date
  }>`
    select i.provider, i.issuer, i.subject, i.created_at from external_identities i
    where i.consumer_id = ${consumerId} and ${ofTenant(sql, tenant, "i")} order by i.created_at limit ${exportedMax}`
  const sessions = yield* sql<{ readonly id: string; readonly created_at: Date; readonly expires_at: Date }>`
    select s.id, s.created_at, s.expires_at from sessions s
    where s.consumer_id = ${consumerId} and ${ofTenant(sql, tenant, "s")} order by s.created_at desc limit ${exportedMax}`
  const audiences = yield* sql<{ readonly id: string; readonly name: string; readonly added_at: Date }>`
    select a.id, a.name, m.added_at from audiences a
      join audience_members m on m.audience_id = a.id and m.consumer_id = ${consumerId}
    where ${ofTenant(sql, tenant, "a")} order by m.added_at desc limit ${exportedMax}`
  const alerts = yield* sql<{
    readonly topic: string
    readonly subjectId: string
    readonly language: string
    readonly created_at: Date
  }>`
    select a.topic, a.subject_id as "subjectId", a.language, a.created_at from alerts a
    where a.consumer_id = ${consumerId} and ${ofTenant(sql, tenant, "a")} order by a.created_at desc limit ${exportedMax}`
  const securityEvents = yield* sql<{
    readonly type: string
    readonly client_address: string | null
    readonly first_at: Date
    readonly count: number
  }>`
    select e.type, e.client_address, e.first_at, e.count::float8 as count from security_events e
    where e.consumer_id = ${consumerId} and ${ofTenant(sql, tenant, "e")} order by e.first_at desc limit ${exportedMax}`
  return {
    identities: identities.map(({ created_at, ...rest }) => ({ ...rest, createdAt: created_at.getTime() })),
    sessions: sessions.map(({ id, created_at, expires_at }) => ({
      id,
      createdAt: created_at.getTime(),
      expiresAt: expires_at.getTime()
    })),
    alerts: alerts.map(({ created_at, ...rest }) => ({ ...rest, createdAt: created_at.getTime() })),
    audiences: audiences.map(({ added_at, ...rest }) => ({ ...rest, addedAt: added_at.getTime() })),
    securityEvents: securityEvents.map(({ client_address, first_at, ...rest }) => ({
      ...rest,
      clientAddress: client_address,
      at: first_at.getTime()
    }))
  }
})
