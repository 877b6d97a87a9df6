/**
 * The keys of gates. A key opens its gate's record, and `pass` and `renew` of the queues that the gate's rules name. As
 * with API keys the database stores the SHA-256, and a known key costs no SQL.
 */
import { Cache, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { hash, randomBytes } from "node:crypto"
import type { Mode } from "../../domain/values/Ids.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import {
  cacheOptions,
  digestOf,
  holderIn,
  type KeyHolder,
  knownIn,
  makeLookupRemembered,
  type NewKey
} from "./ApiKeys.ts"

const keyPattern = /^gk_(?:live|test)_[A-Za-z0-9_-]{32,128}$/

/** Whether a credential has the form of a gate's key. */
export const isGateKey = (text: string): boolean => text.startsWith("gk_")

export class GateKeys extends Context.Service<
  GateKeys,
  {
    /** Returns what the key opens; undefined if it is malformed, unknown or replaced, or its gate is archived. */
    lookup(key: string): Effect.Effect<KeyHolder | undefined, Unavailable>
    /** Like `lookup`, but only for a cached key. Costs no SQL unless the cache may be out of date. */
    lookupRemembered(key: string): Effect.Effect<KeyHolder | undefined, Unavailable>
    /** Must be called after a gate or its key was changed. Returns when every process opens what the key opens now. */
    readonly changed: Effect.Effect<void>
  }
>()("usher/auth/keys/GateKeys") {
  static readonly layer = Layer.effect(GateKeys)(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const invalidations = yield* Invalidations

      const find = (digest: string): Effect.Effect<KeyHolder | undefined, Unavailable> =>
        orUnavailable(
          Effect.gen(function* () {
            const rows = yield* sql<{ readonly id: string; readonly queue_ids: ReadonlyArray<string> }>`
              select g.id, g.organization_id, g.mode, g.queue_ids, 'gate' as kind, o.plan, o.settings
              from gates g join organizations o on o.id = g.organization_id
              where g.key_hash = ${Buffer.from(digest, "base64url")} and not g.archived`
            const holder = yield* holderIn(rows)
            return holder && { ...holder, gate: { id: holder.keyId, queueIds: new Set(rows[0]!.queue_ids) } }
          })
        )

      const cached = yield* Cache.makeWith(find, cacheOptions)
      // Gates change rarely, and are few.
      const forget = Cache.invalidateAll(cached)
      yield* invalidations.subscribe("gate", { handle: () => forget, refresh: forget })
      yield* invalidations.subscribe("api_key", { handle: () => forget, refresh: forget })

      return {
        lookup: (key) => {
          if (!keyPattern.test(key)) return Effect.undefined
          const digest = digestOf(key)
          return invalidations.isCurrent() ? Cache.get(cached, digest) : find(digest)
        },
        lookupRemembered: makeLookupRemembered(invalidations, knownIn(cached), find),
        changed: Effect.andThen(forget, invalidations.settledForCertain)
      }
    })
  )
}

/** Creates a new key of a gate. */
export function make(mode: Mode): NewKey {
  const prefix = `gk_${mode}_`
  const text = prefix + randomBytes(24).toString("base64url")
  return {
    text,
    hash: hash("sha256", text, "buffer"),
    display: `${text.slice(0, prefix.length + 4)}…${text.slice(-4)}`
  }
}
