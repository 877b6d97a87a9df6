/** The handlers of the caller's organization on the Admin API. */
import { Effect, Option, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { OrganizationChanges } from "../../../auth/keys/OrganizationChanges.ts"
import { type Organization, Organizations } from "../../../auth/keys/Organizations.ts"
import { changedChallenge, missingKeys, shownChallenge } from "../../../domain/challenge/Challenge.ts"
import * as Domain from "../../../domain/organization/Organization.ts"
import { RateLimits, rateLimitsOf } from "../../../domain/organization/Plan.ts"
import { Settings } from "../../../settings/Settings.ts"
import { CurrentTenant } from "../../../api/Credentials.ts"
import { revising, withNulls } from "../records/Settings.ts"
import { Forbidden, type ValidationError } from "../../../api/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"
import { orServiceUnavailable } from "../../errors/Refusals.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import type { ChangeOrganization, Organization as ShownOrganization } from "../../../api/admin/OrganizationApi.ts"

export const OrganizationHandlers = HttpApiBuilder.group(AdminApi, "organizations", (handlers) =>
  Effect.gen(function* () {
    const organizations = yield* Organizations
    const changes = yield* OrganizationChanges
    const { accessTokenLifetimeSeconds, refreshTokenLifetimeSeconds } = yield* Settings
    const installation = { access: accessTokenLifetimeSeconds, refresh: refreshTokenLifetimeSeconds }

    return handlers.handleAll({
      getOrganization: Effect.fnUntraced(function* () {
        const { tenant } = yield* CurrentTenant
        // Organizations are never removed.
        return shown(Option.getOrThrow(yield* organizations.find(tenant.organizationId)))
      }, orServiceUnavailable),

      changeOrganization: Effect.fnUntraced(
        function* ({ payload }) {
          const { tenant, by } = yield* CurrentTenant
          if (tenant.mode !== "live") return yield* liveKeyRequired
          const revise = (settings: Domain.Settings) => revised(settings, payload, installation)
          return shown(yield* changes.change(tenant.organizationId, by, revise))
        },
        Effect.catchTag("OrganizationNotFound", Effect.die),
        orServiceUnavailable
      )
    })
  })
)

/** A test key must not change what live mode shows. */
const liveKeyRequired = new Forbidden({ error: "Live secret key required" })

const shown = ({
  id,
  name,
  plan,
  settings: { challenge, ...settings },
  hasChallengeSecret,
  ...stamps
}: Organization): typeof ShownOrganization.Type =>
  ({
    id,
    name,
    plan,
    rateLimits: withNulls(rateLimitsOf(plan, settings.rateLimits), RateLimits.fields),
    loadLeave: settings.loadLeave ?? null,
    ...withNulls({ name, ...settings }, Domain.Settings.fields),
    challenge: challenge === undefined ? null : shownChallenge(challenge, hasChallengeSecret),
    ...stamps
  }) as typeof ShownOrganization.Type

const withChanges = revising<Domain.Settings>(Domain.Settings.fields)

/** The settings with the changes made, if the lifetimes of the tokens agree. */
const revised = (
  settings: Domain.Settings,
  changes: typeof ChangeOrganization.Type,
  installation: { readonly access: number; readonly refresh: number }
): Result.Result<Domain.Settings, ValidationError> => {
  const { allowedOrigins, ...next } = withChanges(
    settings,
    changes.challenge ? { ...changes, challenge: changedChallenge(settings.challenge, changes.challenge) } : changes
  )
  const missing = changes.challenge ? missingKeys(next.challenge ?? {}) : []
  if (missing.length > 0) return Result.fail(invalidInput(missing.map((key) => keyMissing(changes, key))))
  const access = next.accessTokenTtlSeconds ?? installation.access
  const refresh = next.refreshTokenTtlSeconds ?? installation.refresh
  const isAboutTokens = changes.accessTokenTtlSeconds !== undefined || changes.refreshTokenTtlSeconds !== undefined
  if (isAboutTokens && refresh < access) return Result.fail(sessionTooShort(changes, access, refresh))
  return Result.succeed(allowedOrigins?.length ? { ...next, allowedOrigins } : next)
}

/** A provider of challenges needs the keys of an account. The setting is not echoed, because it may hold a secret. */
const keyMissing = ({ challenge }: typeof ChangeOrganization.Type, key: "siteKey" | "secretKey") =>
  issueAt({ challenge: { provider: challenge?.provider } }, ["challenge", key], {
    kind: "schema",
    type: "string",
    expected: "string"
  })

/** A session ends with its refresh token, and its access token must not outlive it. */
const sessionTooShort = (changes: typeof ChangeOrganization.Type, access: number, refresh: number): ValidationError =>
  invalidInput([
    changes.refreshTokenTtlSeconds === undefined
      ? issueAt(changes, "accessTokenTtlSeconds", {
          kind: "validation",
          type: "max_value",
          expected: `<=${refresh}, the lifetime of refresh tokens`
        })
      : issueAt(changes, "refreshTokenTtlSeconds", {
          kind: "validation",
          type: "min_value",
          expected: `>=${access}, the lifetime of access tokens`
        })
  ])
