/**
 * The gate's rules for each organization and each of its experiences, in memory. The database notifies every process of
 * changes (`Invalidations`).
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import {
  type ChallengePolicy,
  type ExperienceChallenge,
  type OrganizationChallenge,
  policyOf
} from "../../domain/challenge/Challenge.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { type ChallengeSecretColumns, secretKeyOf } from "../../store/organization/ChallengeSecrets.ts"
import { CurrentKeyring } from "../../store/secrets/CurrentKeyring.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import { ofOrganization } from "../../store/records/Tenancy.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"

/** Least number of organizations in memory. */
const organizationsMax = 10_000

/** Experiences of one organization with rules of their own. Further ones follow the organization's. */
const experiencesMax = 10_000

/** The rules of one organization. */
interface Loaded {
  readonly live: ChallengePolicy
  readonly test: ChallengePolicy
  readonly experiences: ReadonlyMap<string, ChallengePolicy>
}

export class ChallengePolicies extends Context.Service<
  ChallengePolicies,
  {
    /** Returns the rules if they are in memory. Costs one or two lookups. */
    peek(tenant: Tenant, experienceId?: string): ChallengePolicy | undefined
    /** Reads the organization's rules into memory and returns those asked for. */
    load(tenant: Tenant, experienceId?: string): Effect.Effect<ChallengePolicy, Unavailable>
  }
>()("usher/auth/challenge/ChallengePolicies") {
  static readonly layer = Layer.effect(ChallengePolicies)(
    Effect.gen(function* () {
      const invalidations = yield* Invalidations
      let cached = new SegmentedCache<Loaded>(organizationsMax)
      /** Number of notifications, to detect one during a query. */
      let changes = 0

      yield* invalidations.subscribe("challenge", {
        handle: (organizationId) =>
          Effect.sync(() => {
            changes++
            cached.delete(organizationId)
          }),
        refresh: Effect.sync(() => {
          changes++
          cached = new SegmentedCache(organizationsMax)
        })
      })

      const read = yield* makeRead

      const chosen = ({ experiences, live, test }: Loaded, { mode }: Tenant, experienceId: string | undefined) =>
        (experienceId === undefined ? undefined : experiences.get(experienceId)) ?? (mode === "live" ? live : test)

      return {
        peek: (tenant, experienceId) => {
          const known = cached.get(tenant.organizationId)
          return known === undefined ? undefined : chosen(known, tenant, experienceId)
        },
        load: Effect.fnUntraced(function* (tenant: Tenant, experienceId?: string) {
          const before = changes
          const loaded = yield* read(tenant.organizationId)
          if (before === changes) cached.set(tenant.organizationId, loaded)
          return chosen(loaded, tenant, experienceId)
        })
      }
    })
  )
}

/** Makes the function that reads the rules of an organization. */
const makeRead = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const keyring = yield* CurrentKeyring

  /** The organization's setting with its secret key. Without a secret key that can be opened, clients get a proof of work. */
  const ownOf = Effect.fnUntraced(function* (
    organizationId: string
  ): Effect.fn.Return<OrganizationChallenge, SqlError> {
    const [row] = yield* sql<{ readonly challenge: OrganizationChallenge | null } & ChallengeSecretColumns>`
      select settings -> 'challenge' as challenge, challenge_secret, challenge_secret_sealed_by
      from organizations where id = ${organizationId}`
    if (row === undefined || row.challenge_secret === null) return row?.challenge ?? {}
    const secretKey = secretKeyOf(keyring, organizationId, row)
    if (secretKey !== undefined) return { ...row.challenge, secretKey }
    yield* Effect.logWarning(`The secret key of the challenges of ${organizationId} cannot be opened with SECRETS_KEY`)
    return row.challenge ?? {}
  })

  return Effect.fnUntraced(function* (organizationId: string) {
    const own = yield* ownOf(organizationId)
    const experiences = yield* sql<{
      readonly id: string
      readonly mode: Tenant["mode"]
      readonly challenge: ExperienceChallenge
    }>`
      select id, mode, record -> 'challenge' as challenge from experiences
      where ${ofOrganization(sql, organizationId)} and record ? 'challenge' and not archived
      order by id limit ${experiencesMax}`
    return {
      live: policyOf("live", own),
      test: policyOf("test", own),
      experiences: new Map(experiences.map(({ id, mode, challenge }) => [id, policyOf(mode, own, challenge)]))
    }
  }, orUnavailable)
})
