/** Organizations: the tenants. Each has a live pair and a test pair of API keys. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlSchema } from "effect/sql"
import type { KeyKind } from "../../domain/organization/ApiKey.ts"
import { Id, type Tenant } from "../../domain/values/Ids.ts"
import { Theme } from "../../domain/experience/Experience.ts"
import { OrganizationChallenge } from "../../domain/challenge/Challenge.ts"
import { LoadTestPermission } from "../../domain/organization/LoadTestPermission.ts"
import { GrantMessages } from "../../domain/organization/Organization.ts"
import { Plan, RateLimits } from "../../domain/organization/Plan.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import * as ApiKeys from "./ApiKeys.ts"
import { makeInsertKey } from "./KeyRows.ts"
import * as Time from "../../store/coordination/Time.ts"

/**
 * The stored settings of an organization, without its name. They were validated when they were set
 * (`domain/organization/Organization.ts`). They include what the operator has set. Absent keys mean the documented
 * defaults.
 */
export const KeptSettings = Schema.Struct({
  allowedOrigins: Schema.optionalKey(Schema.Array(Schema.String)),
  timeZone: Schema.optionalKey(Schema.String),
  currencyCode: Schema.optionalKey(Schema.String),
  accessTokenTtlSeconds: Schema.optionalKey(Schema.Int),
  refreshTokenTtlSeconds: Schema.optionalKey(Schema.Int),
  loyaltyFullScoreBalance: Schema.optionalKey(Schema.Finite),
  grantMessages: Schema.optionalKey(GrantMessages),
  defaultCountry: Schema.optionalKey(Schema.String),
  smsCountries: Schema.optionalKey(Schema.Array(Schema.String)),
  smsCodesPerDay: Schema.optionalKey(Schema.Int),
  challenge: Schema.optionalKey(OrganizationChallenge),
  oneAccountPerMailbox: Schema.optionalKey(Schema.Boolean),
  operationsEmail: Schema.optionalKey(Schema.String),
  theme: Schema.optionalKey(Theme),
  /** The limits agreed with an `enterprise` organization. They have no effect on other plans. */
  rateLimits: Schema.optionalKey(RateLimits),
  /** The operator's permission to load test mode. */
  loadLeave: Schema.optionalKey(LoadTestPermission),
  /** The longest token lifetime the organization ever set. Tokens with that lifetime may still be valid. */
  longestTokenTtlSeconds: Schema.optionalKey(Schema.Int)
})
export type KeptSettings = typeof KeptSettings.Type

export interface Organization {
  readonly id: string
  readonly name: string
  readonly plan: Plan
  readonly settings: KeptSettings
  /** Whether there is a secret key of an account at a provider of challenges. `settings` never has it. */
  readonly hasChallengeSecret: boolean
  readonly createdAt: Millis
  /** Null if the organization was never changed. */
  readonly updatedAt: Millis | null
  readonly updatedBy: string | null
}

/** A new organization and its four keys, which are shown only this once. */
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
    /** Creates an organization and its keys in one transaction. */
    create(options: { readonly name: string; readonly plan: Plan }): Effect.Effect<NewOrganization, Unavailable>
    readonly count: Effect.Effect<number, Unavailable>
    /** All organizations, oldest first. */
    readonly all: Effect.Effect<ReadonlyArray<Pick<Organization, "id" | "name" | "plan">>, Unavailable>
    find(id: string): Effect.Effect<Option.Option<Organization>, Unavailable>
  }
>()("usher/auth/keys/Organizations") {
  static readonly layer = Layer.effect(Organizations)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom

      const insertKey = makeInsertKey(sql, random)

      const newKey = Effect.fnUntraced(function* (tenant: Tenant, kind: KeyKind, createdAt: Date) {
        const key = ApiKeys.make(kind, tenant.mode)
        yield* insertKey(tenant, kind, key, createdAt)
        return key.text
      })

      const create = Effect.fn("Organizations.create")(function* (options: {
        readonly name: string
        readonly plan: Plan
      }) {
        const id = yield* random.uuidV7()
        const createdAt = new Date(yield* Time.serverNow)
        yield* sql`insert into organizations ${sql.insert({ id, ...options, created_at: createdAt })}`
        const [live, test] = [
          { organizationId: id, mode: "live" },
          { organizationId: id, mode: "test" }
        ] as const
        return {
          organizationId: id,
          publishableKey: yield* newKey(live, "publishable", createdAt),
          secretKey: yield* newKey(live, "secret", createdAt),
          testPublishableKey: yield* newKey(test, "publishable", createdAt),
          testSecretKey: yield* newKey(test, "secret", createdAt)
        }
      })

      const select = SqlSchema.findOneOption({
        Request: Id,
        Result: Row,
        execute: (id) => sql`select * from organizations where id = ${id}`
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
        find: (id) =>
          select(id).pipe(
            Effect.map(Option.map(toOrganization)),
            Effect.catchTag("SchemaError", Effect.die),
            orUnavailable
          )
      }
    })
  )
}

export const Row = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  plan: Plan,
  settings: KeptSettings,
  challenge_secret: Schema.NullOr(Schema.Uint8Array),
  challenge_secret_sealed_by: Schema.NullOr(Schema.String),
  created_at: Schema.Date,
  updated_at: Schema.NullOr(Schema.Date),
  updated_by: Schema.NullOr(Schema.String)
})

/** Converts a row to the organization it stores. */
export const toOrganization = ({
  id,
  name,
  plan,
  settings,
  challenge_secret,
  created_at,
  updated_at,
  updated_by
}: typeof Row.Type): Organization => ({
  id,
  name,
  plan,
  settings,
  hasChallengeSecret: challenge_secret !== null,
  createdAt: created_at.getTime(),
  updatedAt: updated_at?.getTime() ?? null,
  updatedBy: updated_by
})
