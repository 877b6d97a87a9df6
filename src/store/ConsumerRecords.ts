/**
 * The consumers as an organization keeps them. Whoever holds an address or an external id among a tenant's consumers, holds
 * it alone; guests have shown no address to be theirs, and may have any.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlError } from "effect/sql/SqlError"
import { ofText, toText } from "../domain/Amount.ts"
import { type Consumer, type ConsumerType, defaults, type Settings } from "../domain/Consumer.ts"
import type { Tenant } from "../domain/Ids.ts"
import { Settings as AppSettings } from "../Settings.ts"
import * as ConsumerList from "./ConsumerList.ts"
import { notification } from "./Invalidations.ts"
import { Unavailable } from "./Journal.ts"
import { page, type Page, type PageQuery, type PageRefused, plan } from "./Pagination.ts"
import { RecordNotFound } from "./RecordNotFound.ts"
import { tellConsumersChanged } from "./SequenceAccess.ts"
import { orUnavailable } from "./SqlFailure.ts"

/** What names a consumer besides its id. */
export const keyFields = ["externalId", "email", "phone"] as const
export type KeyField = (typeof keyFields)[number]

/** Another consumer has it. Nothing has changed. */
export class KeyTaken extends Schema.TaggedError<KeyTaken>()("KeyTaken", { field: Schema.Literals(keyFields) }) {}

/** A row that does not say which consumer it means, or means the same as an earlier one. */
export interface AmbiguousRow {
  readonly index: number
  /** What is wrong with it; undefined where its fields point at different consumers. */
  readonly sameAs: number | undefined
}

/** Rows that cannot be told apart, or point at several consumers. Nothing has changed. */
export class AmbiguousRows extends Schema.TaggedError<AmbiguousRows>()("AmbiguousRows", {
  rows: Schema.Array(Schema.Struct({ index: Schema.Int, sameAs: Schema.UndefinedOr(Schema.Int) }))
}) {}

/** One consumer of many: what it is looked for by, and what becomes of its settings, or of the defaults if it is new. */
export interface Upsert {
  readonly keys: { readonly [K in KeyField]?: string | undefined }
  readonly revise: (settings: Partial<Settings>) => Settings
}

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
    /** Archives the consumer, and tells every process that its tokens work no more. Its places stay. */
    archive(tenant: Tenant, id: string, by: string): Effect.Effect<Consumer, RecordNotFound | Unavailable>
  }
>()("usher/store/ConsumerRecords") {
  static readonly layer = Layer.effect(
    ConsumerRecords,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom
      const { accessTokenLifetimeSeconds } = yield* AppSettings

      const ofTenant = ({ organizationId, mode }: Tenant) =>
        sql`c.organization_id = ${organizationId} and c.mode = ${mode} and not c.archived`

      const one = (rows: ReadonlyArray<Row>) => (rows[0] === undefined ? notFound : Effect.succeed(rows[0]))

      /** Consumers as they shall be, in one statement: whose id is there is changed, the others are created. */
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
        const { type, search } = query
        const now = yield* Clock.currentTimeMillis
        const planned = yield* Effect.fromResult(plan(ConsumerList.shape, query, { tenant, filter: { type } }, now))
        const rows = yield* ConsumerList.select<Row>(sql, planned, { tenant, type, search })
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

      return { create, find, list, change, upsert, archive }
    })
  )
}

const notFound = Effect.fail(new RecordNotFound({ record: "Consumer" }))

/** The consumer each row means, undefined for a new one; or the rows of which that cannot be said. */
const meaningsOf = (rows: ReadonlyArray<Upsert>, known: ReadonlyArray<Row>) => {
  const holders = new Map<string, Row>()
  for (const row of known) {
    if (row.external_id !== null) holders.set(`externalId ${row.external_id}`, row)
    if (row.type !== "authenticated") continue
    if (row.email !== null) holders.set(`email ${row.email}`, row)
    if (row.phone !== null) holders.set(`phone ${row.phone}`, row)
  }
  const consumers: Array<Row | undefined> = []
  const ambiguous: Array<AmbiguousRow> = []
  const firstWith = new Map<string, number>()
  for (const [index, { keys }] of rows.entries()) {
    const names = keyFields.flatMap((field) => (keys[field] === undefined ? [] : `${field} ${keys[field]}`))
    const meant = new Set(names.flatMap((name) => holders.get(name) ?? []))
    const [row] = meant
    const marks = row === undefined ? names : [...names, `id ${row.id}`]
    const sameAs = marks.flatMap((mark) => firstWith.get(mark) ?? [])[0]
    if (meant.size > 1) ambiguous.push({ index, sameAs: undefined })
    else if (sameAs !== undefined) ambiguous.push({ index, sameAs })
    for (const mark of marks) if (!firstWith.has(mark)) firstWith.set(mark, index)
    consumers.push(row)
  }
  return { consumers, ambiguous }
}

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

/** The columns that an admin sets. */
const settable = [
  "email",
  "phone",
  "full_name",
  "name",
  "external_id",
  "loyalty_balance",
  "attributes",
  "metadata"
] as const

const columnsOf = (settings: Settings): { readonly [C in (typeof settable)[number]]: unknown } => ({
  email: settings.email,
  phone: settings.phone,
  full_name: settings.fullName,
  name: settings.name,
  external_id: settings.externalId,
  loyalty_balance: toText(settings.loyaltyBalance),
  attributes: settings.attributes,
  metadata: settings.metadata
})

/** A row of `consumers`. */
interface Row {
  readonly id: string
  readonly organization_id: string
  readonly type: ConsumerType
  readonly email: string | null
  readonly phone: string | null
  readonly full_name: string | null
  readonly name: string | null
  readonly external_id: string | null
  readonly loyalty_balance: string
  readonly attributes: NonNullable<Settings["attributes"]> | null
  readonly metadata: NonNullable<Settings["metadata"]> | null
  readonly order_count: number
  readonly total_order_value: string
  readonly last_order_at: Date | null
  readonly created_at: Date
  readonly created_by: string | null
  readonly updated_at: Date | null
  readonly updated_by: string | null
  readonly archived: boolean
}

const settingsOf = (row: Row): Settings => ({
  loyaltyBalance: ofText(row.loyalty_balance),
  ...(row.email !== null && { email: row.email }),
  ...(row.phone !== null && { phone: row.phone }),
  ...(row.full_name !== null && { fullName: row.full_name }),
  ...(row.name !== null && { name: row.name }),
  ...(row.external_id !== null && { externalId: row.external_id }),
  ...(row.attributes !== null && { attributes: row.attributes }),
  ...(row.metadata !== null && { metadata: row.metadata })
})

const toConsumer = (row: Row): Consumer => {
  const itself = `consumer:${row.id}`
  const createdBy = row.created_by ?? itself
  return {
    id: row.id,
    organizationId: row.organization_id,
    type: row.type,
    email: row.email,
    phone: row.phone,
    fullName: row.full_name,
    name: row.name,
    externalId: row.external_id,
    loyaltyBalance: ofText(row.loyalty_balance),
    attributes: row.attributes,
    metadata: row.metadata,
    orderCount: row.order_count,
    totalOrderValue: toText(ofText(row.total_order_value)),
    lastOrderAt: row.last_order_at?.getTime() ?? null,
    createdAt: row.created_at.getTime(),
    createdBy,
    updatedAt: (row.updated_at ?? row.created_at).getTime(),
    updatedBy: row.updated_by ?? (row.updated_at === null ? createdBy : itself),
    archived: row.archived
  }
}
