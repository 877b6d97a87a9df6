/**
 * The facts about a consumer that the Consumer API needs beyond its token: whether it exists (for calls by an
 * organization's server), its loyalty score (for queues), whether it has proved an address (for bids), and whether it is
 * archived.
 */
import { Cache, Context, Duration, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Id, Mode, type Tenant } from "../../domain/values/Ids.ts"
import { defaultLoyaltyFullScoreBalance } from "../../domain/organization/Organization.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import { endSessions, Revocations } from "./Revocations.ts"
import { longestAccess } from "../tokens/TokenLifetimes.ts"
import { ofTenant, unarchivedOf } from "../../store/records/Tenancy.ts"
import * as Time from "../../store/coordination/Time.ts"

/** The facts about a consumer that credential checks need. */
export interface KnownConsumer {
  readonly isGuest: boolean
}

/** Cached consumers. The least recently used is evicted first. */
const cachedMax = 100_000

/** How long a consumer stays cached. A guest may become an authenticated consumer in that time. */
const cachedSeconds = 60

export class Consumers extends Context.Service<
  Consumers,
  {
    /** Returns the consumer, or undefined if the tenant has none with that id. Cached for a minute. */
    find(tenant: Tenant, consumerId: string): Effect.Effect<KnownConsumer | undefined, Unavailable>
    /**
     * Returns the consumer's loyalty balance over the organization's `loyaltyFullScoreBalance`, 0 to 1. Reads the
     * database.
     */
    loyaltyScore(tenant: Tenant, consumerId: string): Effect.Effect<number, Unavailable>
    /** Returns whether a code has proved an address that the consumer has now. Reads the database. */
    hasProvedAddress(tenant: Tenant, consumerId: string): Effect.Effect<boolean, Unavailable>
    /**
     * Must be called after a consumer was archived, before the caller gets its response: its tokens stop working and
     * servers no longer find it. Takes effect in this process at once. Returns when every process applies it.
     */
    archived(tenant: Tenant, consumerId: string): Effect.Effect<void>
    /**
     * Must be called before an archived consumer is restored. Ends the sessions of an authenticated consumer, so that
     * no earlier token works again. A guest keeps its session, because nothing else identifies it.
     */
    endSessionsOfArchived(tenant: Tenant, consumerId: string): Effect.Effect<void, Unavailable>
    /**
     * Must be called after a consumer was restored, before the caller gets its response. Returns when every process
     * applies it.
     */
    restored(consumerId: string): Effect.Effect<void>
  }
>()("usher/auth/sessions/Consumers") {
  static readonly layer = Layer.effect(Consumers)(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const select = SqlSchema.findAll({
        Request: Owned,
        Result: Schema.Struct({ type: Schema.Literals(["guest", "authenticated"]) }),
        execute: ({ consumerId, ...tenant }) => sql`
          select type from consumers
          where id = ${consumerId} and ${unarchivedOf(sql, tenant)}`
      })
      const cached = yield* Cache.makeWith(
        (key: string) =>
          select(ownedOf(key)).pipe(
            Effect.map((rows): KnownConsumer | undefined => rows[0] && { isGuest: rows[0].type === "guest" }),
            Effect.catchTag("SchemaError", Effect.die),
            orUnavailable
          ),
        {
          capacity: cachedMax,
          // An unknown consumer is not cached: it may be created at any moment.
          timeToLive: (exit) =>
            Exit.isSuccess(exit) && exit.value !== undefined ? Duration.seconds(cachedSeconds) : Duration.zero
        }
      )

      const longestAccessSeconds = yield* longestAccess
      const revocations = yield* Revocations
      const invalidations = yield* Invalidations
      yield* invalidations.subscribe("consumer", {
        handle: (key) => Cache.invalidate(cached, key),
        refresh: Cache.invalidateAll(cached)
      })

      return {
        find: (tenant, consumerId) => Time.inServerTime(Cache.get(cached, keyOf(tenant, consumerId))),
        ...makeFacts(sql),
        archived: Effect.fnUntraced(function* (tenant, consumerId) {
          revocations.add(consumerId, (yield* Time.serverNow) + longestAccessSeconds * 1000)
          yield* Cache.invalidate(cached, keyOf(tenant, consumerId))
          yield* invalidations.settled
        }),
        endSessionsOfArchived: Effect.fn("Consumers.endSessionsOfArchived")(function* (tenant, consumerId) {
          const isArchived = sql`exists (
            select from consumers c
            where c.id = s.consumer_id and ${ofTenant(sql, tenant, "c")} and c.archived)`
          const condition = sql`s.consumer_id = ${consumerId} and s.type = 'authenticated' and ${isArchived}`
          const ended = yield* endSessions(sql, condition, new Date(yield* Time.serverNow))
          yield* revocations.ended(ended)
        }, orUnavailable),
        restored: (consumerId) =>
          Effect.suspend(() => {
            revocations.remove(consumerId)
            return invalidations.settled
          })
      }
    })
  )
}

/** Makes the questions that read the database. */
const makeFacts = (sql: SqlClient.SqlClient): Pick<Consumers["Service"], "loyaltyScore" | "hasProvedAddress"> => {
  const selectScore = SqlSchema.findAll({
    Request: Owned,
    Result: Schema.Struct({ score: Schema.Finite }),
    execute: ({ consumerId, ...tenant }) => sql`
      select least(1, greatest(0,
        c.loyalty_balance / coalesce((o.settings ->> 'loyaltyFullScoreBalance')::numeric, ${defaultLoyaltyFullScoreBalance})
      ))::float8 as score
      from consumers c join organizations o on o.id = c.organization_id
      where c.id = ${consumerId} and ${ofTenant(sql, tenant, "c")}`
  })

  const selectProved = SqlSchema.findAll({
    Request: Owned,
    Result: Schema.Struct({ id: Id }),
    execute: ({ consumerId, ...tenant }) => sql`
      select id from consumers
      where id = ${consumerId} and ${unarchivedOf(sql, tenant)} and (email = proved_email or phone = proved_phone)`
  })

  return {
    loyaltyScore: (tenant, consumerId) =>
      selectScore({ ...tenant, consumerId }).pipe(
        Effect.map((rows) => rows[0]?.score ?? 0),
        Effect.catchTag("SchemaError", Effect.die),
        orUnavailable
      ),
    hasProvedAddress: (tenant, consumerId) =>
      selectProved({ ...tenant, consumerId }).pipe(
        Effect.map((rows) => rows.length > 0),
        Effect.catchTag("SchemaError", Effect.die),
        orUnavailable
      )
  }
}

const Owned = Schema.Struct({ organizationId: Id, mode: Mode, consumerId: Id })

const keyOf = (tenant: Tenant, consumerId: string) => `${tenant.organizationId} ${tenant.mode} ${consumerId}`

const ownedOf = (key: string): typeof Owned.Type => {
  const [organizationId, mode, consumerId] = key.split(" ") as [string, Mode, string]
  return { organizationId, mode, consumerId }
}
