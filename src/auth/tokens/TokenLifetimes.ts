/**
 * Token lifetimes of an organization's consumers: the organization's own, or else the installation's. They are cached,
 * and the database notifies every process of changes (`Invalidations`), so starting a session does not read the
 * organization.
 */
import { Cache, Context, Duration, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { accessTokenTtl } from "../../domain/organization/Organization.ts"
import { Settings } from "../../settings/Settings.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"

/** Cached organizations. The least recently used is evicted first. */
const cachedMax = 20_000

/** The longest possible lifetime of an access token in seconds, including changes of settings in the meantime. */
export const longestAccess = Effect.map(Settings, ({ accessTokenLifetimeSeconds }) =>
  Math.max(accessTokenLifetimeSeconds, accessTokenTtl.most)
)

/** In seconds. */
export interface Lifetimes {
  readonly access: number
  readonly refresh: number
}

export class TokenLifetimes extends Context.Service<
  TokenLifetimes,
  {
    /** Returns the lifetimes of tokens issued now. */
    of(organizationId: string): Effect.Effect<Lifetimes, Unavailable>
    /** Evicts the organization from this process's cache. */
    forget(organizationId: string): Effect.Effect<void>
  }
>()("usher/auth/tokens/TokenLifetimes") {
  static readonly layer = Layer.effect(TokenLifetimes)(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const invalidations = yield* Invalidations
      const { accessTokenLifetimeSeconds, refreshTokenLifetimeSeconds } = yield* Settings

      const read = Effect.fnUntraced(function* (organizationId: string) {
        const rows = yield* sql<{ readonly access: number | null; readonly refresh: number | null }>`
          select (settings ->> 'accessTokenTtlSeconds')::int as access,
            (settings ->> 'refreshTokenTtlSeconds')::int as refresh
          from organizations where id = ${organizationId}`
        return {
          access: rows[0]?.access ?? accessTokenLifetimeSeconds,
          refresh: rows[0]?.refresh ?? refreshTokenLifetimeSeconds
        }
      }, orUnavailable)

      const cached = yield* Cache.makeWith(read, {
        capacity: cachedMax,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero)
      })
      yield* invalidations.subscribe("settings", {
        handle: (organizationId) => Cache.invalidate(cached, organizationId),
        refresh: Cache.invalidateAll(cached)
      })

      return {
        of: (organizationId) => (invalidations.isCurrent() ? Cache.get(cached, organizationId) : read(organizationId)),
        forget: (organizationId) => Cache.invalidate(cached, organizationId)
      }
    })
  )
}
