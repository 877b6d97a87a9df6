/** Organizations (interface document 5.1): the tenants, each with a live and a test pair of API keys. */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlSchema } from "effect/sql"
import { Id, type Mode } from "../domain/Ids.ts"
import { Plan, RateLimits } from "../domain/Plan.ts"
import type { Unavailable } from "../store/Journal.ts"
import { orUnavailable } from "../store/SqlFailure.ts"
import * as ApiKeys from "./ApiKeys.ts"

/** What the organization has set for itself; absent keys mean the documented defaults. */
export const OrganizationSettings = Schema.Struct({
  /** The origins browsers may call the Consumer API from; absent: any. */
  allowedOrigins: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The loyalty balance that counts as full loyalty; absent: 1000. */
  loyaltyFullScoreBalance: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0))),
  timeZone: Schema.optionalKey(Schema.String),
  currencyCode: Schema.optionalKey(Schema.String),
  /** The limits agreed with an `enterprise` organization; on other plans they have no effect. */
  rateLimits: Schema.optionalKey(RateLimits)
})
export type OrganizationSettings = typeof OrganizationSettings.Type

export interface Organization {
  readonly id: string
  readonly name: string
  readonly plan: Plan
  readonly settings: OrganizationSettings
}

/** A new organization and its four keys, which are shown this once. */
export interface NewOrganization {
  readonly organizationId: string
  readonly publishableKey: string
  readonly secretKey: string
  readonly testPublishableKey: string
  readonly testSecretKey: string
}

export class Organizations extends Context.Service<
  Organizations,
  {
    /** Creates an organization with its keys, all or nothing. */
    create(options: { readonly name: string; readonly plan: Plan }): Effect.Effect<NewOrganization, Unavailable>
    readonly count: Effect.Effect<number, Unavailable>
    /** All of them, oldest first. */
    readonly all: Effect.Effect<ReadonlyArray<Pick<Organization, "id" | "name" | "plan">>, Unavailable>
    find(id: string): Effect.Effect<Option.Option<Organization>, Unavailable>
  }
>()("usher/auth/Organizations") {
  static readonly layer = Layer.effect(
    Organizations,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom

      const insertKey = Effect.fnUntraced(function* (
        organizationId: string,
        kind: ApiKeys.KeyKind,
        mode: Mode,
        createdAt: Date
      ) {
        const key = ApiKeys.make(kind, mode)
        yield* sql`insert into api_keys ${sql.insert({
          id: yield* random.uuidV7(),
          organization_id: organizationId,
          mode,
          kind,
          hash: key.hash,
          display: key.display,
          created_at: createdAt
        })}`
        return key.text
      })

      const create = Effect.fn("Organizations.create")(function* (options: {
        readonly name: string
        readonly plan: Plan
      }) {
        const id = yield* random.uuidV7()
        const createdAt = new Date(yield* Clock.currentTimeMillis)
        yield* sql`insert into organizations ${sql.insert({ id, ...options, created_at: createdAt })}`
        return {
          organizationId: id,
          publishableKey: yield* insertKey(id, "publishable", "live", createdAt),
          secretKey: yield* insertKey(id, "secret", "live", createdAt),
          testPublishableKey: yield* insertKey(id, "publishable", "test", createdAt),
          testSecretKey: yield* insertKey(id, "secret", "test", createdAt)
        }
      })

      const select = SqlSchema.findOneOption({
        Request: Id,
        Result: Schema.Struct({ id: Schema.String, name: Schema.String, plan: Plan, settings: OrganizationSettings }),
        execute: (id) => sql`select id, name, plan, settings from organizations where id = ${id}`
      })

      return {
        create: (options) => orUnavailable(sql.withTransaction(create(options))),
        count: orUnavailable(
          Effect.map(sql<{ count: number }>`select count(*)::int as count from organizations`, (rows) => rows[0]!.count)
        ),
        all: orUnavailable(
          sql<
            Pick<Organization, "id" | "name" | "plan">
          >`select id, name, plan from organizations order by created_at, id`
        ),
        find: (id) => orUnavailable(Effect.catchTag(select(id), "SchemaError", Effect.die))
      }
    })
  )
}
