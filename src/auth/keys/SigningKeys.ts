/**
 * The Ed25519 keys that tokens and grants are signed with. They are kept in the database, so that every process has the
 * same ones; the first process to start makes the first. Their public halves are at `/.well-known/jwks.json`.
 *
 * One key signs. After a rotation (`SigningKeyRotation`) the former one stays published and is accepted, because what it
 * signed may live as long as a refresh token, or, as a grant that does not expire, for ever: it goes when an operator
 * removes it. Every process is told of both; and one that meets a key it does not know looks once more.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer, Schedule, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import * as Jose from "jose"
import type { Millis } from "../../domain/values/Time.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"

/** The algorithm of every signature; a token that names another is refused. */
export const algorithm = "EdDSA"

/** A public key as `/.well-known/jwks.json` shows it. */
export const PublicKey = Schema.Struct({
  kty: Schema.Literal("OKP"),
  crv: Schema.Literal("Ed25519"),
  x: Schema.String,
  kid: Schema.String,
  alg: Schema.Literal("EdDSA"),
  use: Schema.Literal("sig")
}).annotate({ identifier: "PublicKey" })

/** Between two looks for keys that are not known: whoever sends tokens with made-up keys causes no more than that. */
const lookAgainSeconds = 1

/** Names the lock under which the current key changes; any number that no other part of Usher uses. */
const creationLock = 7_380_211_001

export class SigningKeys extends Context.Service<
  SigningKeys,
  {
    /** What new signatures are made with, at this moment. */
    readonly current: { readonly kid: string; readonly privateKey: Jose.CryptoKey }
    /** The key to verify with; undefined if there is no such key. */
    publicKey(kid: string): Jose.CryptoKey | undefined
    /** The current key and the former ones that are still accepted, newest first. */
    readonly jwks: ReadonlyArray<typeof PublicKey.Type>
    /** How often keys have been taken away: whoever remembers that a signature was good must forget it when this changes. */
    readonly removals: number
    /** Looks for keys that this process has not heard of; true if it may have found some. */
    readonly lookAgain: Effect.Effect<boolean>
  }
>()("usher/auth/keys/SigningKeys") {
  static readonly layer = Layer.effect(
    SigningKeys,
    Effect.gen(function* () {
      const invalidations = yield* Invalidations
      const read = Effect.provideService(readKeys, PgClient.PgClient, yield* PgClient.PgClient)
      let known = yield* read
      let removals = 0
      let lookedAt: Millis = 0

      const refresh = Effect.map(read, (found) => {
        if ([...known.publicKeys.keys()].some((kid) => !found.publicKeys.has(kid))) removals++
        known = found
      })

      yield* invalidations.subscribe("signing_key", {
        // Until the keys are read nothing else is heard, and so nothing else is believed for long.
        handle: () => Effect.ignore(Effect.retry(refresh, Schedule.spaced("200 millis"))),
        refresh
      })

      return {
        get current() {
          return known.current
        },
        publicKey: (kid) => known.publicKeys.get(kid),
        get jwks() {
          return known.jwks
        },
        get removals() {
          return removals
        },
        lookAgain: Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          if (now - lookedAt < lookAgainSeconds * 1000) return false
          lookedAt = now
          yield* refresh
          return true
        }).pipe(Effect.catchTag("Unavailable", () => Effect.succeed(false)))
      }
    })
  )

  /** A key of its own, kept nowhere: for tests. */
  static readonly layerMemory = Layer.effect(
    SigningKeys,
    Effect.gen(function* () {
      const made = yield* makeKey
      const privateKey = yield* importKey(made.privateKey)
      const publicKey = yield* importKey(made.publicKey)
      return {
        current: { kid: made.publicKey.kid, privateKey },
        publicKey: (kid) => (kid === made.publicKey.kid ? publicKey : undefined),
        jwks: [made.publicKey],
        removals: 0,
        lookAgain: Effect.succeed(false)
      }
    })
  )
}

const PrivateKey = Schema.Struct({
  kty: Schema.Literal("OKP"),
  crv: Schema.Literal("Ed25519"),
  x: Schema.String,
  d: Schema.String
})

const Row = Schema.Struct({
  kid: Schema.String,
  private_key: PrivateKey,
  public_key: PublicKey,
  retired_at: Schema.NullOr(Schema.Date)
})

/** The keys as this process uses them. */
const readKeys = Effect.gen(function* () {
  const rows = yield* Effect.catchTag(loadOrCreate, "SchemaError", Effect.die)
  const current = rows.find((row) => row.retired_at === null)!
  const publicKeys = new Map<string, Jose.CryptoKey>()
  for (const row of rows) publicKeys.set(row.kid, yield* importKey(row.public_key))
  return {
    current: { kid: current.kid, privateKey: yield* importKey(current.private_key) },
    publicKeys,
    jwks: rows.map((row) => row.public_key)
  }
}).pipe(orUnavailable)

/** The keys, newest first; never empty. Whoever finds none makes one, alone: the others wait for the lock, then see it. */
const loadOrCreate = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const load = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Row,
    execute: () => sql`select kid, private_key, public_key, retired_at from signing_keys order by created_at desc, kid`
  })
  const known = yield* load()
  if (known.some((row) => row.retired_at === null)) return known
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* lock
      const now = yield* load()
      if (now.some((row) => row.retired_at === null)) return now
      yield* insertKey
      return yield* load()
    })
  )
})

/** Whoever holds it is alone in changing which key is current, until its transaction ends. */
export const lock = Effect.flatMap(
  PgClient.PgClient,
  (sql) => sql`select pg_advisory_xact_lock(${creationLock}::bigint)`
)

/** Makes a key and stores it as the current one; answers its `kid`. */
export const insertKey = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const { publicKey, privateKey } = yield* makeKey
  yield* sql`
    insert into signing_keys (kid, private_key, public_key, created_at)
    values (${publicKey.kid}, ${sql.json(privateKey)}, ${sql.json(publicKey)}, clock_timestamp())`
  return publicKey.kid
})

const makeKey = Effect.promise(() => Jose.generateKeyPair(algorithm, { extractable: true })).pipe(
  Effect.flatMap((pair) => Effect.promise(() => Jose.exportJWK(pair.privateKey))),
  Effect.flatMap((jwk) =>
    Effect.map(
      Effect.promise(() => Jose.calculateJwkThumbprint(jwk)),
      (kid) => {
        const { x, d } = jwk as { readonly x: string; readonly d: string }
        const publicKey = { kty: "OKP", crv: "Ed25519", x, kid, alg: "EdDSA", use: "sig" } as const
        return { publicKey, privateKey: { kty: "OKP", crv: "Ed25519", x, d } as const }
      }
    )
  )
)

const importKey = (jwk: Jose.JWK) =>
  Effect.promise(() => Jose.importJWK(jwk, algorithm)).pipe(Effect.map((key) => key as Jose.CryptoKey))
