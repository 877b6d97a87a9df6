/**
 * The keys of a rehearsal that a server runs. They are made for it and are one random text: with `rk_test_` before it the
 * key opens test mode as a secret key does, with `rk_live_` it only reads live mode. The database stores the SHA-256. The
 * process that runs the rehearsal extends them every second, so they end with it, or seconds after the process.
 */
import { PgClient } from "@effect/sql-pg"
import { Cache, Context, Duration, Effect, Exit, Layer } from "effect"
import { hash, randomBytes } from "node:crypto"
import { authorOf } from "../../domain/rehearsal/Rehearsal.ts"
import type { Mode } from "../../domain/values/Ids.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import * as Time from "../../store/coordination/Time.ts"
import type { KeyHolder } from "./ApiKeys.ts"

const keyPattern = /^rk_(live|test)_([A-Za-z0-9_-]{32})$/

/** Whether a credential has the form of a rehearsal's key. */
export const isRehearsalKey = (text: string): boolean => text.startsWith("rk_")

/** How long a process goes on with what it has read: so long a key may be accepted after its end. */
export const rememberedSeconds = 5

/** A server runs few rehearsals, and an unknown key is remembered as well. */
const rememberedMax = 1_000

/** A rehearsal stands for no caller whose rate could be too high. */
const unlimited = {}

export class RehearsalKeys extends Context.Service<
  RehearsalKeys,
  {
    /** Returns what the key opens; undefined if it is malformed, unknown or has ended. */
    lookup(key: string): Effect.Effect<KeyHolder | undefined, Unavailable>
  }
>()("usher/auth/keys/RehearsalKeys") {
  static readonly layer = Layer.effect(RehearsalKeys)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const find = Effect.fnUntraced(function* (digest: string) {
        const [row] = yield* sql<{ readonly id: string; readonly organizationId: string }>`
          select r.id, r.organization_id as "organizationId" from rehearsals r
          where r.keys_hash = ${Buffer.from(digest, "base64url")} and r.status = 'RUNNING'
            and r.keys_until > ${new Date(yield* Time.serverNow)}`
        return row
      }, orUnavailable)
      const remembered = yield* Cache.makeWith(find, {
        capacity: rememberedMax,
        timeToLive: (exit) => (Exit.isFailure(exit) ? Duration.zero : Duration.seconds(rememberedSeconds))
      })
      return {
        lookup: (key) => {
          const [, mode, text] = keyPattern.exec(key) ?? []
          if (text === undefined) return Effect.undefined
          return Effect.map(Cache.get(remembered, hash("sha256", text, "base64url")), (row) => {
            if (row === undefined) return undefined
            const tenant = { organizationId: row.organizationId, mode: mode as Mode }
            const holder = {
              keyId: row.id,
              tenant,
              kind: "secret",
              author: authorOf(row.id),
              rateLimits: unlimited
            } as const
            return mode === "live" ? { ...holder, readsOnly: true } : holder
          })
        }
      }
    })
  )
}

/** Makes the keys of a rehearsal. Their texts are stored nowhere. */
export const make = () => {
  const text = randomBytes(24).toString("base64url")
  return { keys: { live: `rk_live_${text}`, test: `rk_test_${text}` }, hash: hash("sha256", text, "buffer") }
}
