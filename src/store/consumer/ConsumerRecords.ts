/**
 * The consumers as an organization keeps them. Whoever holds an address or an external id among a tenant's consumers, holds
 * it alone; guests have shown no address to be theirs, and may have any.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql/SqlError"
import { type Consumer, type ConsumerType, defaults, type Settings } from "../../domain/consumer/Consumer.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { Settings as AppSettings } from "../../settings/Settings.ts"
import * as ConsumerList from "./ConsumerList.ts"
import { type KeyField, keyFields, meaningsOf, type Upsert } from "./ConsumerMatching.ts"
import { columnsOf, type Row, settable, settingsOf, toConsumer } from "./ConsumerRow.ts"
import { notification } from "../coordination/Invalidations.ts"
import { Unavailable } from "../postgres/Unavailable.ts"
import { makePlan, page, type Page, type PageQuery, type PageRefused } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { tellConsumersChanged } from "../experience/SequenceAccess.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

/** Another consumer has it. Nothing has changed. */
export class KeyTaken extends Schema.TaggedError<KeyTaken>()("KeyTaken", { field: Schema.Literals(keyFields) }) {}

/** Rows that cannot be told apart, or point at several consumers. Nothing has changed. */
export class AmbiguousRows extends Schema.TaggedError<AmbiguousRows>()("AmbiguousRows", {
  rows: Schema.Array(Schema.Struct({ index: Schema.Int, sameAs: Schema.UndefinedOr(Schema.Int) }))
}) {}

/** Told as the instant until which a consumer's tokens are held off, once it is restored. */
export const heldOffNoMore = 0

/** How often a batch is tried again because others have taken what it was about to take. */
const triesMax = 5

export class ConsumerRecords extends Context.Service<
  ConsumerRecords,
  {
    /** Creates an authenticated consumer. */
    create(tenant: Tenant, by: string, settings: Settings): Effect.Effect<Consumer, KeyTaken | Unavailable>
    find(tenant: Tenant, id: string): Effect.Effect<Consumer, RecordNotFound | Unavailable>
    list(
      tenant: Tenant,
      query: PageQuery<keyof typeof ConsumerList.shape.sorts> & { readonly type?: ConsumerType | undefined }
    ): Effect.Effect<Page<Consumer>, PageRefused | Unavailable>
    /** Replaces the settings by what `revise` makes of them; every process is told. */
    change(
      tenant: Tenant,
      id: string,
      by: string,
      revise: (settings: Settings) => Settings
    ): Effect.Effect<Consumer, KeyTaken | RecordNotFound | Unavailable>
    /** Changes the consumers that the rows name, and creates the others, all or none; answers them in the order of the rows. */
    upsert(
      tenant: Tenant,
      by: string,
      rows: ReadonlyArray<Upsert>
    ): Effect.Effect<ReadonlyArray<Consumer>, AmbiguousRows | Unavailable>
    /** Archives the consumer, and tells every process that its tokens work no more. Its places are taken by their mechanisms. */
    archive(tenant: Tenant, id: string, by: string): Effect.Effect<Consumer, RecordNotFound | Unavailable>
    /** The consumer, if it is archived. */
    findArchived(tenant: Tenant, id: string): Effect.Effect<Consumer, RecordNotFound | Unavailable>
    /** Takes the consumer out of the archive, and tells every process that it is there again. */
    restore(tenant: Tenant, id: string, by: string): Effect.Effect<Consumer, KeyTaken | RecordNotFound | Unavailable>
  }
>()("usher/store/consumer/ConsumerRecords") {
  static readonly layer = Layer.effect(
    ConsumerRecords,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const plan = yield* makePlan
      const random = yield* SecureRandom.SecureRandom
      const { accessTokenLifetimeSeconds } = yield* AppSettings

      const ofTenant = ({ organizationId, mode }: Tenant) =>
        sql`c.organization_id = ${organizationId} and c.mode = ${mode} and not c.archived`

      const one = (rows: ReadonlyArray<Row>) => (rows[0] === undefined ? notFound : Effect.succeed(rows[0]))

      /**
       * Writes consumers in one statement: changes those whose id exists, creates the others. It writes them in the order of
       * their keys, so batches that create the same consumers wait for each other in turn and never in a circle.
       */
      const write = Effect.fnUntraced(function* (
        tenant: Tenant,
        by: string,
        consumers: ReadonlyArray<{ readonly id: string; readonly settings: Settings }>
      ) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const given = sql.json(consumers.map(({ id, settings }) => ({ id, ...columnsOf(settings) })))
        const rows = yield* sql<Row>`
          insert into consumers as c
            (id, organization_id, mode, type, ${sql.literal(settable.join(", "))},
              created_at, created_by, updated_at, updated_by)
          select id, ${tenant.organizationId}::uuid, ${tenant.mode}, 'authenticated', ${sql.literal(settable.join(", "))},
            ${now}::timestamptz, ${by}, ${now}::timestamptz, ${by}
          from jsonb_to_recordset(${given}) as given (
            id uuid, email text, phone text, full_name text, name text, external_id text, loyalty_balance numeric,
            attributes jsonb, metadata jsonb)
          order by external_id, email, phone
          on conflict (id) do update set
            ${sql.literal(settable.map((column) => `${column} = excluded.${column}`).join(", "))},
            updated_at = excluded.updated_at, updated_by = excluded.updated_by
          returning *`
        const byId = new Map(rows.map((row) => [row.id, row]))
        return consumers.map(({ id }) => toConsumer(byId.get(id)!))
      })

      const create = Effect.fn("ConsumerRecords.create")(
        function* (tenant: Tenant, by: string, settings: Settings) {
          const written = yield* write(tenant, by, [{ id: yield* random.uuidV7(), settings }])
          return written[0]!
        },
        orTaken,
        orUnavailable
      )

      const find = Effect.fn("ConsumerRecords.find")(function* (tenant: Tenant, id: string) {
        return toConsumer(
          yield* one(yield* sql<Row>`select c.* from consumers c where c.id = ${id} and ${ofTenant(tenant)}`)
        )
      }, orUnavailable)

      const list = Effect.fn("ConsumerRecords.list")(function* (
        tenant: Tenant,
        query: PageQuery<keyof typeof ConsumerList.shape.sorts> & { readonly type?: ConsumerType | undefined }
      ) {
        const { type, search, archived } = query
        const planned = yield* plan(ConsumerList.shape, query, { tenant, filter: { type } })
        const rows = yield* ConsumerList.select<Row>(sql, planned, { tenant, type, search, archived })
        return page(planned, rows, toConsumer)
      }, orUnavailable)

      const change = Effect.fn("ConsumerRecords.change")(
        function* (tenant: Tenant, id: string, by: string, revise: (settings: Settings) => Settings) {
          const row = yield* Effect.flatMap(
            sql<Row>`select c.* from consumers c where c.id = ${id} and ${ofTenant(tenant)} for update`,
            one
          )
          const written = yield* write(tenant, by, [{ id, settings: revise(settingsOf(row)) }])
          yield* tellConsumersChanged(sql, [id])
          return written[0]!
        },
        sql.withTransaction,
        orTaken,
        orUnavailable
      )

      /** The tenant's consumers whom the rows name, kept to this transaction; always in one order, so that nobody waits in a circle. */
      const named = (tenant: Tenant, rows: ReadonlyArray<Upsert>) => {
        const all = (field: KeyField) => rows.flatMap(({ keys }) => keys[field] ?? [])
        const isMember = sql`c.type = 'authenticated'`
        return sql<Row>`
          select c.* from consumers c
          where c.id = any(array(
              select c.id from consumers c
              where ${ofTenant(tenant)} and c.external_id = any(${all("externalId")}::text[])
              union select c.id from consumers c
              where ${ofTenant(tenant)} and ${isMember} and c.email = any(${all("email")}::text[])
              union select c.id from consumers c
              where ${ofTenant(tenant)} and ${isMember} and c.phone = any(${all("phone")}::text[])
            )) and ${ofTenant(tenant)}
          order by c.id for update`
      }

      const attempt = Effect.fnUntraced(function* (tenant: Tenant, by: string, rows: ReadonlyArray<Upsert>) {
        const known = yield* named(tenant, rows)
        const meant = meaningsOf(rows, known)
        if (meant.ambiguous.length > 0) return yield* new AmbiguousRows({ rows: meant.ambiguous })
        const consumers = yield* Effect.forEach(rows, ({ revise }, index) => {
          const row = meant.consumers[index]
          return row === undefined
            ? Effect.map(random.uuidV7(), (id) => ({ id, settings: revise(defaults) }))
            : Effect.succeed({ id: row.id, settings: revise(settingsOf(row)) })
        })
        const written = yield* write(tenant, by, consumers)
        yield* tellConsumersChanged(
          sql,
          known.map(({ id }) => id)
        )
        return written
      }, sql.withTransaction)

      const upsert = Effect.fn("ConsumerRecords.upsert")(function* (
        tenant: Tenant,
        by: string,
        rows: ReadonlyArray<Upsert>
      ) {
        // Who signs in at the same moment may take an address that nobody had: then it names a consumer.
        return yield* Effect.retry(orTaken(attempt(tenant, by, rows)), {
          while: (error) =>
            error._tag === "KeyTaken" || (error._tag === "SqlError" && error.reason._tag === "DeadlockError"),
          times: triesMax
        }).pipe(Effect.catchTag("KeyTaken", (cause) => Effect.fail(new Unavailable({ cause }))))
      }, orUnavailable)

      const archive = Effect.fn("ConsumerRecords.archive")(function* (tenant: Tenant, id: string, by: string) {
        const now = yield* Clock.currentTimeMillis
        const tokensUntil = now + accessTokenLifetimeSeconds * 1000
        const rows = yield* sql<Row>`
          with archived as (
            update consumers c set archived = true, updated_at = ${new Date(now)}, updated_by = ${by}
            where c.id = ${id} and ${ofTenant(tenant)} returning *
          )
          select archived.*,
            ${notification(sql, "session", sql`${`${id} ${tokensUntil}`}::text`)} as session_told,
            ${notification(sql, "consumer", sql`${`${tenant.organizationId} ${tenant.mode} ${id}`}::text`)} as told
          from archived`
        return toConsumer(yield* one(rows))
      }, orUnavailable)

      const findArchived = Effect.fn("ConsumerRecords.findArchived")(function* (
        { organizationId, mode }: Tenant,
        id: string
      ) {
        const rows = yield* sql<Row>`
          select c.* from consumers c
          where c.id = ${id} and c.organization_id = ${organizationId} and c.mode = ${mode} and c.archived`
        return toConsumer(yield* one(rows))
      }, orUnavailable)

      return { create, find, list, change, upsert, archive, findArchived, restore: makeRestore(sql, find) }
    })
  )
}

const notFound = Effect.fail(new RecordNotFound({ record: "Consumer" }))

const constraints: { readonly [constraint: string]: KeyField } = {
  consumers_by_email: "email",
  consumers_by_phone: "phone",
  consumers_by_external_id: "externalId"
}

/** Fails with `KeyTaken` where another consumer has what was to be written. */
function orTaken<A, E, R>(effect: Effect.Effect<A, E | SqlError, R>): Effect.Effect<A, E | SqlError | KeyTaken, R> {
  return Effect.catchTag(effect as Effect.Effect<A, SqlError, R>, "SqlError", (error) => {
    const field = error.reason._tag === "UniqueViolation" ? constraints[error.reason.constraint] : undefined
    return Effect.fail(field === undefined ? error : new KeyTaken({ field }))
  }) as Effect.Effect<A, E | SqlError | KeyTaken, R>
}

/** Takes a consumer out of the archive; one that is not archived is found with `find`. */
const makeRestore = (
  sql: PgClient.PgClient,
  find: (tenant: Tenant, id: string) => Effect.Effect<Consumer, RecordNotFound | Unavailable>
) =>
  Effect.fn("ConsumerRecords.restore")(
    function* (tenant: Tenant, id: string, by: string) {
      const now = new Date(yield* Clock.currentTimeMillis)
      const rows = yield* sql<Row>`
      with restored as (
        update consumers c set archived = false, updated_at = ${now}, updated_by = ${by}
        where c.id = ${id} and c.organization_id = ${tenant.organizationId} and c.mode = ${tenant.mode} and c.archived
          returning *
      )
      select restored.*,
        ${notification(sql, "session", sql`${`${id} ${heldOffNoMore}`}::text`)} as session_told,
        ${notification(sql, "consumer", sql`${`${tenant.organizationId} ${tenant.mode} ${id}`}::text`)} as told
      from restored`
      return rows[0] === undefined ? yield* find(tenant, id) : toConsumer(rows[0])
    },
    orTaken,
    orUnavailable
  )
