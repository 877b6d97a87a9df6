/** Rotates the key that signs tokens and grants. Only for operators: the key is shared by all organizations. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schema } from "effect"
import type { Millis } from "../../domain/values/Time.ts"
import { Settings } from "../../settings/Settings.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import { CurrentKeyring } from "../../store/secrets/CurrentKeyring.ts"
import { insertKey, lock } from "./SigningKeys.ts"
import * as Time from "../../store/coordination/Time.ts"

export interface AcceptedKey {
  readonly kid: string
  readonly createdAt: Millis
  /** When a newer key replaced it; absent for the current key. */
  readonly replacedAt?: Millis
  /**
   * When the last token it signed expires. Grants that do not expire are not considered. Absent for the current key.
   */
  readonly neededUntil?: Millis
}

/** The key does not exist, or it is the current key. */
export class NotRemovable extends Schema.TaggedError<NotRemovable>()("NotRemovable", {
  reason: Schema.Literals(["unknown", "current"])
}) {}

export class SigningKeyRotation extends Context.Service<
  SigningKeyRotation,
  {
    /** All keys, newest first. */
    readonly list: Effect.Effect<ReadonlyArray<AcceptedKey>, Unavailable>
    /**
     * Makes a new key the current one. When it returns, every process signs with the new key. The former key stays
     * accepted.
     */
    readonly rotate: Effect.Effect<AcceptedKey, Unavailable>
    /** Removes a former key. When it returns, no process accepts anything the key signed. */
    remove(kid: string): Effect.Effect<void, NotRemovable | Unavailable>
  }
>()("usher/auth/keys/SigningKeyRotation") {
  static readonly layer = Layer.effect(SigningKeyRotation)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const invalidations = yield* Invalidations
      const keyring = yield* CurrentKeyring
      const { accessTokenLifetimeSeconds, refreshTokenLifetimeSeconds } = yield* Settings
      const tokenMillis = Math.max(accessTokenLifetimeSeconds, refreshTokenLifetimeSeconds) * 1000

      const list = Effect.gen(function* () {
        const rows = yield* sql<Row>`
          select kid, created_at, retired_at, o.longest_ttl_seconds
          from signing_keys, (
            select coalesce(max((settings ->> 'longestTokenTtlSeconds')::int), 0) as longest_ttl_seconds from organizations
          ) o order by created_at desc, kid`
        return rows.map(({ kid, created_at, retired_at, longest_ttl_seconds }): AcceptedKey => {
          const createdAt = created_at.getTime()
          if (retired_at === null) return { kid, createdAt }
          const replacedAt = retired_at.getTime()
          const neededUntil = replacedAt + Math.max(tokenMillis, longest_ttl_seconds * 1000)
          return { kid, createdAt, replacedAt, neededUntil }
        })
      }).pipe(orUnavailable)

      const replace = Effect.gen(function* () {
        yield* lock
        yield* sql`update signing_keys set retired_at = clock_timestamp() where retired_at is null`
        const kid = yield* insertKey(keyring)
        yield* invalidations.publish("signing_key", kid)
        return kid
      }).pipe(sql.withTransaction, Effect.provideService(PgClient.PgClient, sql), orUnavailable)

      const rotate = Effect.gen(function* () {
        const kid = yield* replace
        yield* invalidations.settledForCertain
        return { kid, createdAt: yield* Time.serverNow }
      })

      const take = Effect.fnUntraced(function* (kid: string) {
        const rows = yield* sql<{ readonly retired_at: Date | null }>`
          select retired_at from signing_keys where kid = ${kid} for update`
        if (rows[0] === undefined) return yield* new NotRemovable({ reason: "unknown" })
        if (rows[0].retired_at === null) return yield* new NotRemovable({ reason: "current" })
        yield* sql`delete from signing_keys where kid = ${kid}`
        yield* invalidations.publish("signing_key", kid)
      }, sql.withTransaction)

      const remove = Effect.fn("SigningKeyRotation.remove")(function* (kid: string) {
        yield* take(kid)
        yield* invalidations.settledForCertain
      }, orUnavailable)

      return { list, rotate, remove }
    })
  )
}

interface Row {
  readonly kid: string
  readonly created_at: Date
  readonly retired_at: Date | null
  /** The longest token lifetime that any organization ever set. */
  readonly longest_ttl_seconds: number
}
