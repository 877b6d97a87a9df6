/**
 * Changes to an organization: the organization changes its settings, and the operator its plan. Processes cache an
 * organization's settings with its keys (`ApiKeys`) and its token lifetimes (`TokenLifetimes`). The commit of a change
 * notifies every process. The call returns when all processes have confirmed, or after two seconds.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Result, Schema } from "effect"
import { sendsGrantMessages, Settings } from "../../domain/organization/Organization.ts"
import type { LoadTestPermission } from "../../domain/organization/LoadTestPermission.ts"
import type { Plan, RateLimits } from "../../domain/organization/Plan.ts"
import { restate } from "../../store/consumer/ConsumerTotals.ts"
import { beginWithNext } from "../../store/message/GrantMessages.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { columnsOf, secretKeyOf } from "../../store/organization/ChallengeSecrets.ts"
import { CurrentKeyring } from "../../store/secrets/CurrentKeyring.ts"
import type { Keyring } from "../../store/secrets/Sealing.ts"
import { OrganizationNotFound } from "./OrganizationKeys.ts"
import { type KeptSettings, type Organization, Row, toOrganization } from "./Organizations.ts"
import { TokenLifetimes } from "../tokens/TokenLifetimes.ts"
import { ofOrganization } from "../../store/records/Tenancy.ts"
import * as Time from "../../store/coordination/Time.ts"

type Changed = Pick<Organization, "name" | "plan" | "settings">

export class OrganizationChanges extends Context.Service<
  OrganizationChanges,
  {
    /**
     * Replaces the organization's settings with the result of `revise`, unless `revise` fails. Holds a row lock, so
     * concurrent changes wait.
     */
    change<E>(
      id: string,
      by: string,
      revise: (settings: Settings) => Result.Result<Settings, E>
    ): Effect.Effect<Organization, E | OrganizationNotFound | Unavailable>
    /**
     * Sets the plan. Without `rateLimits` the agreed limits stay as they are. Agreed limits apply only on `enterprise`.
     */
    setPlan(
      id: string,
      by: string,
      plan: Plan,
      rateLimits?: RateLimits
    ): Effect.Effect<Organization, OrganizationNotFound | Unavailable>
    /** Gives permission to load test mode, instead of an earlier one. */
    allowLoad(
      id: string,
      by: string,
      permission: LoadTestPermission
    ): Effect.Effect<Organization, OrganizationNotFound | Unavailable>
  }
>()("usher/auth/keys/OrganizationChanges") {
  static readonly layer = Layer.effect(OrganizationChanges)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const invalidations = yield* Invalidations
      const keys = yield* ApiKeys
      const lifetimes = yield* TokenLifetimes
      const keyring = yield* CurrentKeyring

      /** Writes the change and notifies every process. Also returns the digests of the organization's keys. */
      const write = Effect.fnUntraced(function* <E>(
        id: string,
        by: string,
        next: (organization: Organization) => Result.Result<Changed, E>
      ) {
        // The lock serializes changes of one organization and rotations of its keys.
        const row = yield* decoded(yield* sql`select * from organizations where id = ${id} for no key update`)
        const present = yield* withSecret(keyring, row)
        const { name, plan, settings } = yield* Effect.fromResult(next(present))
        const stored = withoutSecret(keyring, row, present, settings)
        const now = new Date(yield* Time.serverNow)
        const written = yield* sql`
          update organizations
          set name = ${name}, plan = ${plan}, settings = ${sql.json(stored.settings)}, updated_at = ${now}, updated_by = ${by},
            challenge_secret = ${stored.challenge_secret}, challenge_secret_sealed_by = ${stored.challenge_secret_sealed_by}
          where id = ${id} returning *`
        const organization = toOrganization(yield* decoded(written))
        if (settings.currencyCode !== present.settings.currencyCode) yield* restate(sql, id, settings.currencyCode)
        if (sendsGrantMessages(settings) !== sendsGrantMessages(present.settings)) yield* beginWithNext(sql, id)
        const known = yield* sql<{ readonly hash: Uint8Array }>`
          select hash from api_keys where ${ofOrganization(sql, id)} and revoked_at is null`
        const digests = known.map(({ hash }) => Buffer.from(hash).toString("base64url"))
        for (const digest of digests) yield* invalidations.publish("api_key", digest)
        yield* invalidations.publish("settings", id)
        return { organization, digests }
      }, sql.withTransaction)

      const changed = Effect.fn("OrganizationChanges.changed")(function* <E>(
        id: string,
        by: string,
        next: (organization: Organization) => Result.Result<Changed, E>
      ) {
        const { organization, digests } = yield* write(id, by, next)
        for (const digest of digests) yield* keys.forget(digest)
        yield* lifetimes.forget(id)
        yield* invalidations.settled
        return organization
      }, orUnavailable)

      return {
        change: (id, by, revise) =>
          changed(id, by, ({ name, plan, settings: kept }) =>
            Result.map(revise({ name, ...ownOf(kept) }), ({ name, ...own }) => ({
              name,
              plan,
              settings: { ...own, ...operatorsOf(kept), ...longestOf(kept, own) }
            }))
          ),
        setPlan: (id, by, plan, rateLimits) =>
          changed(id, by, withOperators({ plan, ...(rateLimits && { rateLimits }) })),
        allowLoad: (id, by, loadLeave) => changed(id, by, withOperators({ loadLeave }))
      }
    })
  )
}

const decodeRow = Schema.decodeUnknownEffect(Row)

const decoded = (rows: ReadonlyArray<unknown>) =>
  rows[0] === undefined
    ? Effect.fail(new OrganizationNotFound())
    : Effect.catchTag(decodeRow(rows[0]), "SchemaError", Effect.die)

/**
 * Returns the organization with the secret key of its challenges in its settings, for a change. The start has checked
 * that this process can open it.
 */
const withSecret = (keyring: Keyring, row: typeof Row.Type): Effect.Effect<Organization> => {
  const organization = toOrganization(row)
  if (!organization.hasChallengeSecret) return Effect.succeed(organization)
  const secretKey = secretKeyOf(keyring, row.id, row)
  if (secretKey === undefined) {
    return Effect.die(new Error(`The secret key of the challenges of ${row.id} cannot be opened with SECRETS_KEY`))
  }
  const { settings } = organization
  return Effect.succeed({ ...organization, settings: { ...settings, challenge: { ...settings.challenge, secretKey } } })
}

/** Returns the settings without the secret key, and the columns of the secret key. One that stays is not sealed again. */
const withoutSecret = (keyring: Keyring, row: typeof Row.Type, present: Organization, settings: KeptSettings) => {
  const { challenge_secret, challenge_secret_sealed_by } = row
  const { secretKey, ...challenge } = settings.challenge ?? {}
  const kept = { ...settings, ...(settings.challenge !== undefined && { challenge }) }
  return secretKey === present.settings.challenge?.secretKey
    ? { settings: kept, challenge_secret, challenge_secret_sealed_by }
    : { settings: kept, ...columnsOf(keyring, row.id, secretKey) }
}

/** The settings that the organization controls. */
const ownOf = ({
  rateLimits: _,
  loadLeave: __,
  longestTokenTtlSeconds: ___,
  ...own
}: KeptSettings): Omit<Settings, "name"> => own

/** The settings that the operator controls. */
const operatorsOf = ({ rateLimits, loadLeave }: KeptSettings): KeptSettings => ({
  ...(rateLimits && { rateLimits }),
  ...(loadLeave && { loadLeave })
})

/** Makes the change of the plan or of settings that the operator controls. */
const withOperators =
  ({ plan, ...own }: Pick<KeptSettings, "rateLimits" | "loadLeave"> & { readonly plan?: Plan }) =>
  (present: Organization): Result.Result<Changed> =>
    Result.succeed({
      name: present.name,
      plan: plan ?? present.plan,
      settings: { ...present.settings, ...own }
    })

/** Keeps the longest lifetime ever set, because tokens issued before a change keep theirs. */
const longestOf = (kept: KeptSettings, own: Omit<Settings, "name">): KeptSettings => {
  const seconds = Math.max(
    kept.longestTokenTtlSeconds ?? 0,
    own.accessTokenTtlSeconds ?? 0,
    own.refreshTokenTtlSeconds ?? 0
  )
  return seconds === 0 ? {} : { longestTokenTtlSeconds: seconds }
}
