/**
 * How long the tokens of an organization's consumers live (interface document 5.4): as long as the organization says, else
 * as long as the installation does. Remembered, and told by the database when it changes (`Invalidations`), so that a new
 * session costs no look at its organization.
 */
import { Cache, Context, Duration, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { accessTokenTtl } from "../../domain/organization/Organization.ts"
import { Settings } from "../../settings/Settings.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"

/** Organizations remembered at most; the least recently used is forgotten first. */
const rememberedMax = 20_000

/** Seconds after which no access token that was made before is alive any more, whoever has set what meanwhile. */
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
    /** Of tokens that are made now. */
    of(organizationId: string): Effect.Effect<Lifetimes, Unavailable>
    /** Forgets what this process remembers of the organization. */
    forget(organizationId: string): Effect.Effect<void>
  }
>()("usher/auth/tokens/TokenLifetimes") {
  static readonly layer = Layer.effect(
    TokenLifetimes,
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

      const remembered = yield* Cache.makeWith(read, {
        capacity: rememberedMax,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero)
      })
      yield* invalidations.subscribe("settings", {
        handle: (organizationId) => Cache.invalidate(remembered, organizationId),
        refresh: Cache.invalidateAll(remembered)
      })

      return {
        of: (organizationId) =>
          invalidations.isCurrent() ? Cache.get(remembered, organizationId) : read(organizationId),
        forget: (organizationId) => Cache.invalidate(remembered, organizationId)
      }
    })
  )
}
