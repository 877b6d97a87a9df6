/**
 * What the Consumer API needs to know of a consumer that its token does not say: whether it exists, for calls that a
 * server makes on its behalf, how loyal it is, for queues that care, and that it was archived.
 */
import { Cache, Clock, Context, Duration, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Id, Mode, type Tenant } from "../../domain/values/Ids.ts"
import { defaultLoyaltyFullScoreBalance } from "../../domain/organization/Organization.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import { endSessions, Revocations } from "./Revocations.ts"
import { longestAccess } from "../tokens/TokenLifetimes.ts"

/** A consumer of a tenant, as far as credentials go. */
export interface KnownConsumer {
  readonly isGuest: boolean
}

/** Consumers remembered at most; the least recently used is forgotten first. */
const rememberedMax = 100_000

/** How long a consumer stays remembered: a guest may become an authenticated consumer meanwhile. */
const rememberedSeconds = 60

export class Consumers extends Context.Service<
  Consumers,
  {
    /** The consumer, or undefined if the tenant has none of that id. Remembered for a minute. */
    find(tenant: Tenant, consumerId: string): Effect.Effect<KnownConsumer | undefined, Unavailable>
    /** 0 to 1: the consumer's loyalty balance over the organization's `loyaltyFullScoreBalance`. Read from the database. */
    loyaltyScore(tenant: Tenant, consumerId: string): Effect.Effect<number, Unavailable>
    /**
     * To be asked after a consumer was archived, before it is answered: its tokens work no more, and servers do not find
     * it. Returns when every process acts on it, in this one at once.
     */
    archived(tenant: Tenant, consumerId: string): Effect.Effect<void>
    /**
     * To be asked before an archived consumer is restored. The sessions of an authenticated one end, so that no token from
     * before works again; a guest keeps its session, since nothing else shows who it is.
     */
    endSessionsOfArchived(tenant: Tenant, consumerId: string): Effect.Effect<void, Unavailable>
    /** To be asked after a consumer was restored, before it is answered: returns when every process acts on it. */
    restored(consumerId: string): Effect.Effect<void>
  }
>()("usher/auth/sessions/Consumers") {
  static readonly layer = Layer.effect(
    Consumers,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient

      const select = SqlSchema.findAll({
        Request: Owned,
        Result: Schema.Struct({ type: Schema.Literals(["guest", "authenticated"]) }),
        execute: ({ organizationId, mode, consumerId }) => sql`
          select type from consumers
          where id = ${consumerId} and organization_id = ${organizationId} and mode = ${mode} and not archived`
      })
      const remembered = yield* Cache.makeWith(
        (key: string) =>
          select(ownedOf(key)).pipe(
            Effect.map((rows): KnownConsumer | undefined => rows[0] && { isGuest: rows[0].type === "guest" }),
            Effect.catchTag("SchemaError", Effect.die),
            orUnavailable
          ),
        {
          capacity: rememberedMax,
          // An unknown consumer is asked for again: it may be created at any moment.
          timeToLive: (exit) =>
            Exit.isSuccess(exit) && exit.value !== undefined ? Duration.seconds(rememberedSeconds) : Duration.zero
        }
      )

      const longestAccessSeconds = yield* longestAccess
      const revocations = yield* Revocations
      const invalidations = yield* Invalidations
      yield* invalidations.subscribe("consumer", {
        handle: (key) => Cache.invalidate(remembered, key),
        refresh: Cache.invalidateAll(remembered)
      })

      const selectScore = SqlSchema.findAll({
        Request: Owned,
        Result: Schema.Struct({ score: Schema.Finite }),
        execute: ({ organizationId, mode, consumerId }) => sql`
          select least(1, greatest(0,
            c.loyalty_balance / coalesce((o.settings ->> 'loyaltyFullScoreBalance')::numeric, ${defaultLoyaltyFullScoreBalance})
          ))::float8 as score
          from consumers c join organizations o on o.id = c.organization_id
          where c.id = ${consumerId} and c.organization_id = ${organizationId} and c.mode = ${mode}`
      })

      return {
        find: (tenant, consumerId) => Cache.get(remembered, keyOf(tenant, consumerId)),
        loyaltyScore: (tenant, consumerId) =>
          selectScore({ ...tenant, consumerId }).pipe(
            Effect.map((rows) => rows[0]?.score ?? 0),
            Effect.catchTag("SchemaError", Effect.die),
            orUnavailable
          ),
        archived: Effect.fnUntraced(function* (tenant, consumerId) {
          revocations.add(consumerId, (yield* Clock.currentTimeMillis) + longestAccessSeconds * 1000)
          yield* Cache.invalidate(remembered, keyOf(tenant, consumerId))
          yield* invalidations.settled
        }),
        endSessionsOfArchived: Effect.fn("Consumers.endSessionsOfArchived")(function* (
          { organizationId, mode },
          consumerId
        ) {
          const isArchived = sql`exists (
            select from consumers c
            where c.id = s.consumer_id and c.organization_id = ${organizationId} and c.mode = ${mode} and c.archived)`
          const condition = sql`s.consumer_id = ${consumerId} and s.type = 'authenticated' and ${isArchived}`
          const ended = yield* endSessions(sql, condition, new Date(yield* Clock.currentTimeMillis))
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

const Owned = Schema.Struct({ organizationId: Id, mode: Mode, consumerId: Id })

const keyOf = (tenant: Tenant, consumerId: string) => `${tenant.organizationId} ${tenant.mode} ${consumerId}`

const ownedOf = (key: string): typeof Owned.Type => {
  const [organizationId, mode, consumerId] = key.split(" ") as [string, Mode, string]
  return { organizationId, mode, consumerId }
}
