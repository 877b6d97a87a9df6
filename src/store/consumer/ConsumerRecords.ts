/**
 * The consumers of an organization. No two authenticated consumers of a tenant have the same address or external id. A
 * guest has not verified an address, so several guests can have the same one.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Consumer, ConsumerType, Settings } from "../../domain/consumer/Consumer.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Settings as AppSettings } from "../../settings/Settings.ts"
import { notification } from "../coordination/Invalidations.ts"
import { tellConsumersChanged } from "../experience/SequenceAccess.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { makePlan, page, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import type { Changeable } from "../records/Records.ts"
import { type Stamp, stamped, stampOf } from "../records/Rows.ts"
import { ofTenant, unarchivedOf } from "../records/Tenancy.ts"
import * as ConsumerList from "./ConsumerList.ts"
import type { Upsert } from "./ConsumerMatching.ts"
import { type Row, settingsOf, toConsumer } from "./ConsumerRow.ts"
import { type AmbiguousRows, type KeyTaken, makeUpsert, makeWrite, orKeyTaken } from "./ConsumerWrites.ts"

/** Sent when a consumer is restored, instead of the instant until which its tokens are refused. */
export const heldOffNoMore = 0

type Query = PageQuery<keyof typeof ConsumerList.shape.sorts> & { readonly type?: ConsumerType | undefined }

export class ConsumerRecords extends Context.Service<
  ConsumerRecords,
  Changeable<Consumer, Settings, KeyTaken> & {
    /** Creates an authenticated consumer. */
    create(tenant: Tenant, by: string, settings: Settings): Effect.Effect<Consumer, KeyTaken | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<Consumer, RecordNotFound | Unavailable>
    list(tenant: Tenant, query: Query): Effect.Effect<Page<Consumer>, PageRefused | Unavailable>
    /**
     * Changes the consumers that the rows name and creates the others, all or none. Returns them in the order of the
     * rows.
     */
    upsert(
      tenant: Tenant,
      by: string,
      rows: ReadonlyArray<Upsert>
    ): Effect.Effect<ReadonlyArray<Consumer>, AmbiguousRows | Unavailable>
    /** Archives the consumer and notifies every process, which refuses its tokens. Mechanisms remove its places. */
    archive(tenant: Tenant, id: string, by: string): Effect.Effect<Consumer, RecordNotFound | Unavailable>
    /** Returns the consumer, if it is archived. */
    findArchived(tenant: Tenant, id: string): Effect.Effect<Consumer, RecordNotFound | Unavailable>
    /** Restores the consumer and notifies every process. An erased one is not found. */
    restore(tenant: Tenant, id: string, by: string): Effect.Effect<Consumer, KeyTaken | RecordNotFound | Unavailable>
  }
>()("usher/store/consumer/ConsumerRecords") {
  static readonly layer = Layer.effect(ConsumerRecords)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom
      const write = makeWrite(sql)

      const create = Effect.fn("ConsumerRecords.create")(
        function* (tenant: Tenant, by: string, settings: Settings) {
          const written = yield* write(tenant, by, [{ id: yield* random.uuidV7(), settings }])
          return written[0]!
        },
        orKeyTaken,
        orUnavailable
      )

      const change = Effect.fn("ConsumerRecords.change")(
        function* (tenant: Tenant, id: string, by: string, revise: (settings: Settings) => Settings) {
          const row = yield* Effect.flatMap(
            sql<Row>`select c.* from consumers c where c.id = ${id} and ${unarchivedOf(sql, tenant, "c")} for update`,
            one
          )
          const written = yield* write(tenant, by, [{ id, settings: revise(settingsOf(row)) }])
          yield* tellConsumersChanged(sql, [id])
          return written[0]!
        },
        sql.withTransaction,
        orKeyTaken,
        orUnavailable
      )

      return {
        create,
        ...(yield* makeReads),
        change,
        upsert: makeUpsert(sql, random),
        ...(yield* makeArchiving)
      }
    })
  )
}

const one = (rows: ReadonlyArray<Row>): Effect.Effect<Row, RecordNotFound> =>
  rows[0] === undefined ? Effect.fail(new RecordNotFound({ record: "Consumer" })) : Effect.succeed(rows[0])

const findWith = (sql: PgClient.PgClient, tenant: Tenant, id: string) =>
  sql<Row>`select c.* from consumers c where c.id = ${id} and ${unarchivedOf(sql, tenant, "c")}`

const makeReads = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const plan = yield* makePlan

  const find = Effect.fn("ConsumerRecords.find")(function* (tenant: Tenant, id: string) {
    return toConsumer(yield* one(yield* findWith(sql, tenant, id)))
  }, orUnavailable)

  const findArchived = Effect.fn("ConsumerRecords.findArchived")(function* (tenant: Tenant, id: string) {
    const rows = yield* sql<Row>`
      select c.* from consumers c where c.id = ${id} and ${ofTenant(sql, tenant, "c")} and c.archived`
    return toConsumer(yield* one(rows))
  }, orUnavailable)

  const list = Effect.fn("ConsumerRecords.list")(function* (tenant: Tenant, query: Query) {
    const { type, search, archived } = query
    const planned = yield* plan(ConsumerList.shape, query, { tenant, filter: { type } })
    const rows = yield* ConsumerList.select<Row>(sql, planned, { tenant, type, search, archived })
    return page(planned, rows, toConsumer)
  }, orUnavailable)

  return { find, findArchived, list }
})

/** Creates the operations that archive and restore a consumer. Each is one statement, with its notifications. */
const makeArchiving = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const { accessTokenLifetimeSeconds } = yield* AppSettings

  /** Archives or restores the consumer. Its tokens are refused until an instant. Returns no row if nothing changed. */
  const setArchived = (tenant: Tenant, id: string, stamp: Stamp, archived: boolean, heldOffUntil: Millis) => {
    const isOther = archived ? sql`not c.archived` : sql`c.archived and c.erased_at is null`
    return sql<Row>`
    with changed as (
      update consumers c set ${sql.update({ ...stamped(stamp), archived })}
      where c.id = ${id} and ${ofTenant(sql, tenant, "c")} and ${isOther} returning *
    )
    select changed.*,
      ${notification(sql, "session", sql`${`${id} ${heldOffUntil}`}::text`)} as session_told,
      ${notification(sql, "consumer", sql`${`${tenant.organizationId} ${tenant.mode} ${id}`}::text`)} as told
    from changed`
  }

  const archive = Effect.fn("ConsumerRecords.archive")(function* (tenant: Tenant, id: string, by: string) {
    const stamp = yield* stampOf(by)
    const tokensUntil = stamp.now.getTime() + accessTokenLifetimeSeconds * 1000
    return toConsumer(yield* one(yield* setArchived(tenant, id, stamp, true, tokensUntil)))
  }, orUnavailable)

  const restore = Effect.fn("ConsumerRecords.restore")(
    function* (tenant: Tenant, id: string, by: string) {
      const restored = yield* setArchived(tenant, id, yield* stampOf(by), false, heldOffNoMore)
      return toConsumer(yield* one(restored.length > 0 ? restored : yield* findWith(sql, tenant, id)))
    },
    orKeyTaken,
    orUnavailable
  )

  return { archive, restore }
})
