/**
 * API keys (interface document 5.1; completions 2). A key is its prefix and 32 random characters; the database has its
 * SHA-256 and, to display, its first characters and last four. A key that was seen is remembered, so that a request with
 * a known key costs no SQL; and while this process may have missed that a key has ended, every lookup asks the database.
 */
import { Cache, Context, Duration, Effect, Exit, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { hash, randomBytes } from "node:crypto"
import { Mode, type Tenant } from "../../domain/values/Ids.ts"
import { Plan, RateLimits, rateLimitsOf } from "../../domain/organization/Plan.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"

/** Which of an organization's two keys. */
export const KeyKind = Schema.Literals(["publishable", "secret"])
export type KeyKind = typeof KeyKind.Type

/** Who a key speaks for. */
export interface KeyHolder {
  /** The key's own id: names it in records (`createdBy`) without showing any of it. */
  readonly keyId: string
  readonly tenant: Tenant
  readonly kind: KeyKind
  /** The origins browsers may call from; absent: any. A setting of the organization. */
  readonly allowedOrigins?: ReadonlyArray<string>
  /** How many requests the organization may make, with all its keys together. */
  readonly rateLimits: RateLimits
}

/** A new key: `text` is shown once and kept nowhere. */
export interface NewKey {
  readonly text: string
  readonly hash: Uint8Array
  /** The key as it may be shown: first characters, `…`, last four. */
  readonly display: string
}

/** Known keys remembered at most; the least recently used is forgotten first. */
const rememberedMax = 20_000

/** How long a key that does not exist stays refused without asking again: a key made a moment ago works soon. */
const unknownSeconds = 2

/** What is told of keys when more than one has changed; of one, its digest. */
export const everyKey = "*"

const keyPattern = /^(?:pk|sk)_(?:live|test)_[A-Za-z0-9_-]{32,128}$/

export class ApiKeys extends Context.Service<
  ApiKeys,
  {
    /** Who the key speaks for; undefined if it is malformed (no SQL then), unknown or revoked. */
    lookup(key: string): Effect.Effect<KeyHolder | undefined, Unavailable>
    /** The same, if it is remembered: no SQL, unless what is remembered may be out of date. */
    lookupRemembered(key: string): Effect.Effect<KeyHolder | undefined, Unavailable>
    /** The same for a status read: while the database is away, a remembered key is as good as was last heard. */
    lookupForStatus(key: string): Effect.Effect<KeyHolder | undefined, Unavailable>
    /** The holder of the tenant's publishable key, for a caller that shows none; remembered likewise. */
    publishableOf(tenant: Tenant): Effect.Effect<KeyHolder | undefined, Unavailable>
    /** Forgets one key, named by its SHA-256 in base64url, in this process. */
    forget(digest: string): Effect.Effect<void>
    /** Forgets every remembered key: for when keys, or what is told with them, have changed. */
    readonly invalidate: Effect.Effect<void>
  }
>()("usher/auth/keys/ApiKeys") {
  static readonly layer = Layer.effect(
    ApiKeys,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const invalidations = yield* Invalidations
      const select = (condition: Fragment) =>
        sql`
          select k.id, k.organization_id, k.mode, k.kind, o.plan, o.settings
          from api_keys k join organizations o on o.id = k.organization_id
          where ${condition} and k.revoked_at is null`.pipe(
          Effect.flatMap(decodeRows),
          Effect.map((rows) => (rows[0] === undefined ? undefined : holderOf(rows[0]))),
          Effect.catchTag("SchemaError", Effect.die),
          orUnavailable
        )
      const find = (digest: string) => select(sql`k.hash = ${Buffer.from(digest, "base64url")}`)
      const findPublishable = ({ organizationId, mode }: Tenant) =>
        select(sql`k.organization_id = ${organizationId} and k.mode = ${mode} and k.kind = 'publishable'`)

      // Keyed by the key's SHA-256, which nobody can steer: how long a lookup takes says nothing about other keys.
      const remembered = yield* Cache.makeWith(find, memory)
      const publishables = yield* Cache.makeWith(findPublishable, memory)

      // What is forgotten may be on its way: a lookup that has read the keys as they were answers those who wait for it,
      // who all came before, and leaves nothing behind.
      const forget = (digest: string) =>
        Effect.andThen(Cache.invalidate(remembered, digest), Cache.invalidateAll(publishables))
      const invalidate = Effect.andThen(Cache.invalidateAll(remembered), Cache.invalidateAll(publishables))
      yield* invalidations.subscribe("api_key", {
        handle: (digest) => (digest === everyKey ? invalidate : forget(digest)),
        refresh: invalidate
      })

      const known = (digest: string) => Effect.map(Cache.getSuccess(remembered, digest), Option.getOrUndefined)
      const lookup = (key: string) => {
        if (!keyPattern.test(key)) return Effect.succeed(undefined)
        const digest = digestOf(key)
        return invalidations.isCurrent() ? Cache.get(remembered, digest) : find(digest)
      }
      return {
        lookup,
        lookupRemembered: (key) => {
          const digest = digestOf(key)
          if (invalidations.isCurrent()) return known(digest)
          return Effect.flatMap(known(digest), (holder) => (holder === undefined ? Effect.undefined : find(digest)))
        },
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

/** How keys are remembered. */
const memory = {
  capacity: rememberedMax,
  timeToLive: (exit: Exit.Exit<KeyHolder | undefined, Unavailable>) =>
    Exit.isFailure(exit)
      ? Duration.zero
      : exit.value === undefined
        ? Duration.seconds(unknownSeconds)
        : Duration.infinity
}

const digestOf = (key: string): string => hash("sha256", key, "base64url")

/** A new key with its prefix for kind and mode. */
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
  kind: KeyKind,
  plan: Plan,
  settings: Schema.Struct({
    allowedOrigins: Schema.optionalKey(Schema.Array(Schema.String)),
    rateLimits: Schema.optionalKey(RateLimits)
  })
})

const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))

const holderOf = ({ id, organization_id, mode, kind, plan, settings }: typeof Row.Type): KeyHolder => ({
  keyId: id,
  tenant: { organizationId: organization_id, mode },
  kind,
  ...(settings.allowedOrigins?.length && { allowedOrigins: settings.allowedOrigins }),
  rateLimits: rateLimitsOf(plan, settings.rateLimits)
})
