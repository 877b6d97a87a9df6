/**
 * API keys. A key is its prefix and 32 random characters. The database stores its SHA-256 and, for display, its first
 * characters and last four. Keys are cached, so a request with a known key costs no SQL. While this process may have
 * missed a revocation, every lookup queries the database.
 */
import { Cache, Context, Duration, Effect, Exit, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { hash, randomBytes } from "node:crypto"
import type { OpenedGate } from "../../domain/gate/Gate.ts"
import { KeyKind } from "../../domain/organization/ApiKey.ts"
import { Mode, type Tenant } from "../../domain/values/Ids.ts"
import { limitsWithPermission, LoadTestPermission } from "../../domain/organization/LoadTestPermission.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Plan, RateLimits, rateLimitsOf } from "../../domain/organization/Plan.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import { ofTenant } from "../../store/records/Tenancy.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import * as Time from "../../store/coordination/Time.ts"

/** A gate has a key too (`GateKeys.ts`). */
const HeldKind = Schema.Literals([...KeyKind.literals, "gate"])
type HeldKind = typeof HeldKind.Type

/** The rights of a key. */
export interface KeyHolder {
  /** The key's id. It identifies the key in records (`createdBy`) without revealing any of its text. */
  readonly keyId: string
  readonly tenant: Tenant
  readonly kind: HeldKind
  /** How records name the holder, if it is not an API key or a gate. */
  readonly author?: string
  /** True for a key that changes nothing. */
  readonly readsOnly?: boolean
  /** Present for a gate's key: what the key opens. */
  readonly gate?: OpenedGate
  /** The origins from which browsers may call; absent: any. A setting of the organization. */
  readonly allowedOrigins?: ReadonlyArray<string>
  /** The organization's request limits, shared by all its keys. */
  readonly rateLimits: RateLimits
}

/** A new key. `text` is shown once and never stored. */
export interface NewKey {
  readonly text: string
  readonly hash: Uint8Array
  /** The form for display: first characters, `…`, last four. */
  readonly display: string
}

/** Cached keys. The least recently used is evicted first. */
const cachedMax = 20_000

/** How long an unknown key is rejected from the cache. Short, so that a new key works soon. */
const unknownSeconds = 2

/** The payload of a notification that several keys have changed. For one key the payload is its digest. */
export const everyKey = "*"

const keyPattern = /^(?:pk|sk)_(?:live|test)_[A-Za-z0-9_-]{32,128}$/

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** Returns what the key authorizes, or undefined if it is malformed (then without SQL), unknown or revoked. */
    lookup(key: string): Effect.Effect<KeyHolder | undefined, Unavailable>
    /** Like `lookup`, but only for a cached key. Costs no SQL unless the cache may be out of date. */
    lookupRemembered(key: string): Effect.Effect<KeyHolder | undefined, Unavailable>
    /** Like `lookup`, for a status read: while the database is away, a cached key keeps its last known state. */
    lookupForStatus(key: string): Effect.Effect<KeyHolder | undefined, Unavailable>
    /**
     * Returns what a publishable key authorizes if that is in memory and up to date, without a digest. Undefined means
     * that `lookup` must be asked.
     */
    peekPublishable(key: string): KeyHolder | undefined
    /** Returns the holder of the tenant's publishable key, for a caller that sends no key. Cached likewise. */
    publishableOf(tenant: Tenant): Effect.Effect<KeyHolder | undefined, Unavailable>
    /** Evicts one key, given by its SHA-256 in base64url, from this process's cache. */
    forget(digest: string): Effect.Effect<void>
    /** Evicts all keys from this process's cache, after keys or the settings cached with them have changed. */
    readonly invalidate: Effect.Effect<void>
  }
>()("usher/auth/keys/ApiKeys") {
  static readonly layer = Layer.effect(ApiKeys)(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const invalidations = yield* Invalidations
      const select = makeSelect(sql)
      const find = (digest: string) => select(sql`k.hash = ${Buffer.from(digest, "base64url")}`)
      const findPublishable = (tenant: Tenant) => select(sql`${ofTenant(sql, tenant, "k")} and k.kind = 'publishable'`)

      // Indexed by the key's SHA-256, which a caller cannot choose. So the duration of a lookup reveals nothing about
      // other keys.
      const cached = yield* Cache.makeWith(find, cacheOptions)
      const publishables = yield* Cache.makeWith(findPublishable, cacheOptions)
      const peeked = makePeeked()

      // A lookup that reads an evicted key may be in progress. It returns its result to the callers that already wait
      // for it, and caches nothing.
      const forget = (digest: string) =>
        Effect.andThen(
          Cache.invalidate(cached, digest),
          Effect.andThen(Cache.invalidateAll(publishables), peeked.clear)
        )
      const invalidate = Effect.andThen(
        Cache.invalidateAll(cached),
        Effect.andThen(Cache.invalidateAll(publishables), peeked.clear)
      )
      yield* invalidations.subscribe("api_key", {
        handle: (digest) => (digest === everyKey ? invalidate : forget(digest)),
        refresh: invalidate
      })

      const known = knownIn(cached)
      const lookup = (key: string) => {
        if (!keyPattern.test(key)) return Effect.succeed(undefined)
        const digest = digestOf(key)
        return invalidations.isCurrent() ? peeked.remembering(key, Cache.get(cached, digest)) : find(digest)
      }
      return {
        lookup,
        peekPublishable: (key) => (invalidations.isCurrent() ? peeked.get(key) : undefined),
        lookupRemembered: makeLookupRemembered(invalidations, known, find),
        lookupForStatus: (key) => {
          if (invalidations.isCurrent()) return lookup(key)
          return Effect.flatMap(known(digestOf(key)), (holder) =>
            holder === undefined ? lookup(key) : invalidations.orLastHeard(lookup(key), holder)
          )
        },
        publishableOf: (tenant) =>
          invalidations.isCurrent() ? Cache.get(publishables, tenant) : findPublishable(tenant),
        forget,
        invalidate
      }
    })
  )
}

/** Makes the function that reads the holder of the key under a condition. */
const makeSelect = (sql: SqlClient.SqlClient) => (condition: Fragment) =>
  sql`
    select k.id, k.organization_id, k.mode, k.kind, o.plan, o.settings
    from api_keys k join organizations o on o.id = k.organization_id
    where ${condition} and k.revoked_at is null`.pipe(Effect.flatMap(holderIn), orUnavailable)

/** Returns the holder of the key in the first row. */
export const holderIn = (rows: ReadonlyArray<unknown>): Effect.Effect<KeyHolder | undefined> =>
  decodeRows(rows).pipe(
    Effect.flatMap(([row]) =>
      Effect.flatMap(Time.serverClock, (clock) =>
        Effect.succeed(row === undefined ? undefined : holderOf(row, () => clock.currentTimeMillisUnsafe()))
      )
    ),
    Effect.catchTag("SchemaError", Effect.die)
  )

/**
 * Holders of publishable keys by the text of the key, which is public. A lookup that was in progress when keys were
 * evicted leaves nothing here.
 */
const makePeeked = () => {
  let holders = new SegmentedCache<KeyHolder>(cachedMax)
  return {
    get: (key: string) => holders.get(key),
    remembering: <E>(key: string, lookup: Effect.Effect<KeyHolder | undefined, E>) => {
      const begun = holders
      return Effect.tap(lookup, (holder) => {
        if (holder?.kind === "publishable") begun.set(key, holder)
        return Effect.void
      })
    },
    clear: Effect.sync(() => {
      holders = new SegmentedCache(cachedMax)
    })
  }
}

/** Size and lifetimes of a cache of keys. */
export const cacheOptions = {
  capacity: cachedMax,
  timeToLive: (exit: Exit.Exit<KeyHolder | undefined, Unavailable>) =>
    Exit.isFailure(exit)
      ? Duration.zero
      : exit.value === undefined
        ? Duration.seconds(unknownSeconds)
        : Duration.infinity
}

/** The digest by which a key is stored and cached. */
export const digestOf = (key: string): string => hash("sha256", key, "base64url")

type Holders = Cache.Cache<string, KeyHolder | undefined, Unavailable>

/** Makes the function that returns the holder of a cached key. */
export const knownIn = (cached: Holders) => (digest: string) =>
  Effect.map(Cache.getSuccess(cached, digest), Option.getOrUndefined)

/** Makes the lookup of a cached key. It costs no SQL unless the cache may be out of date. */
export const makeLookupRemembered =
  (
    invalidations: Invalidations["Service"],
    known: ReturnType<typeof knownIn>,
    find: (digest: string) => Effect.Effect<KeyHolder | undefined, Unavailable>
  ) =>
  (key: string): Effect.Effect<KeyHolder | undefined, Unavailable> => {
    const digest = digestOf(key)
    if (invalidations.isCurrent()) return known(digest)
    return Effect.flatMap(known(digest), (holder) => (holder === undefined ? Effect.undefined : find(digest)))
  }

/** Creates a new key with the prefix of its kind and mode. */
export function make(kind: KeyKind, mode: Mode): NewKey {
  const prefix = `${kind === "publishable" ? "pk" : "sk"}_${mode}_`
  const text = prefix + randomBytes(24).toString("base64url")
  return {
    text,
    hash: hash("sha256", text, "buffer"),
    display: `${text.slice(0, prefix.length + 4)}…${text.slice(-4)}`
  }
}

const Row = Schema.Struct({
  id: Schema.String,
  organization_id: Schema.String,
  mode: Mode,
  kind: HeldKind,
  plan: Plan,
  settings: Schema.Struct({
    allowedOrigins: Schema.optionalKey(Schema.Array(Schema.String)),
    rateLimits: Schema.optionalKey(RateLimits),
    loadLeave: Schema.optionalKey(LoadTestPermission)
  })
})

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

const holderOf = (
  { id, organization_id, mode, kind, plan, settings }: typeof Row.Type,
  now: () => Millis
): KeyHolder => {
  const rateLimits = rateLimitsOf(plan, settings.rateLimits)
  const holder = {
    keyId: id,
    tenant: { organizationId: organization_id, mode },
    kind,
    ...(settings.allowedOrigins?.length && { allowedOrigins: settings.allowedOrigins }),
    rateLimits
  }
  if (mode !== "test" || settings.loadLeave === undefined) return holder
  // The holder stays in caches when the permission ends.
  return Object.defineProperty(holder, "rateLimits", { get: limitsWithPermission(rateLimits, settings.loadLeave, now) })
}
