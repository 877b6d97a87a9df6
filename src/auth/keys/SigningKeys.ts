/**
 * The Ed25519 keys that sign tokens and grants, and the secrets of refresh tokens that belong to them. The keys are
 * stored in the database, so all processes share them. The first process to start creates the first key. The public keys
 * are published at `/.well-known/jwks.json`.
 *
 * One key signs. After a rotation (`SigningKeyRotation`) the former key stays published and accepted until an operator
 * removes it. A refresh token it signed may live for its full lifetime, and a grant without expiry lives forever. Every
 * process is notified of rotations and removals. A process that meets an unknown key reads the keys again.
 *
 * With `SECRETS_KEY` the private keys are stored sealed. A process opens each when it is new to it, derives the secret of
 * the key's refresh tokens, and keeps only the current private key. A secret does not reveal the private key.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schedule, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import * as Jose from "jose"
import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto"
import type { Millis } from "../../domain/values/Time.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { CurrentKeyring } from "../../store/secrets/CurrentKeyring.ts"
import { fromStored, type Keyring, toStored } from "../../store/secrets/Sealing.ts"
import * as Time from "../../store/coordination/Time.ts"

/** The algorithm of every signature that others verify. */
export const algorithm = "EdDSA"

/** A public key as published at `/.well-known/jwks.json`. */
export const PublicKey = Schema.Struct({
  kty: Schema.Literal("OKP"),
  crv: Schema.Literal("Ed25519"),
  x: Schema.String,
  kid: Schema.String,
  alg: Schema.Literal("EdDSA"),
  use: Schema.Literal("sig")
}).annotate({ identifier: "PublicKey" })

/** Least time between two reads caused by unknown keys. Bounds the cost of tokens with made-up keys. */
const lookAgainSeconds = 1

/** Advisory lock for changes of the current key. The number is arbitrary; no other part of Usher uses it. */
const creationLock = 7_380_211_001

interface CurrentKey {
  readonly kid: string
  readonly privateKey: Jose.CryptoKey
  /** Signs refresh tokens, which only Usher verifies. */
  readonly refreshSecret: KeyObject
}

/** The parts of an accepted key that verify. */
interface AcceptedKey {
  readonly publicKey: Jose.CryptoKey
  readonly refreshSecret: KeyObject
}

interface KnownKeys {
  readonly current: CurrentKey
  readonly accepted: ReadonlyMap<string, AcceptedKey>
  readonly jwks: ReadonlyArray<typeof PublicKey.Type>
}

export class SigningKeys extends Context.Service<
  SigningKeys,
  {
    /** The key that signs new tokens now. */
    readonly current: CurrentKey
    /** Returns the key to verify with, or undefined if the key is not accepted. */
    publicKey(kid: string): Jose.CryptoKey | undefined
    /** Returns the secret of the key's refresh tokens, or undefined if the key is not accepted. */
    refreshSecret(kid: string): KeyObject | undefined
    /** The current key and the accepted former keys, newest first. */
    readonly jwks: ReadonlyArray<typeof PublicKey.Type>
    /**
     * How many keys this process has seen removed. Callers that cache verified signatures must clear their cache when
     * it changes.
     */
    readonly removals: number
    /** Reads the keys again. Returns true if new keys may have been found. */
    readonly lookAgain: Effect.Effect<boolean>
  }
>()("usher/auth/keys/SigningKeys") {
  static readonly layer = Layer.effect(SigningKeys)(
    Effect.gen(function* () {
      const invalidations = yield* Invalidations
      const sql = yield* PgClient.PgClient
      const keyring = yield* CurrentKeyring
      const read = (present?: KnownKeys) => Effect.provideService(readKeys(keyring, present), PgClient.PgClient, sql)
      let known = yield* read()
      let removals = 0
      let lookedAt: Millis = 0

      const refresh = Effect.suspend(() =>
        Effect.map(read(known), (found) => {
          if ([...known.accepted.keys()].some((kid) => !found.accepted.has(kid))) removals++
          known = found
        })
      )

      yield* invalidations.subscribe("signing_key", {
        // Invalidations wait for this handler. Until the keys are read no later one is handled, and the caches soon
        // count as stale.
        handle: () => Effect.ignore(Effect.retry(refresh, Schedule.spaced("200 millis"))),
        refresh
      })

      return {
        get current() {
          return known.current
        },
        publicKey: (kid) => known.accepted.get(kid)?.publicKey,
        refreshSecret: (kid) => known.accepted.get(kid)?.refreshSecret,
        get jwks() {
          return known.jwks
        },
        get removals() {
          return removals
        },
        lookAgain: Effect.gen(function* () {
          const now = yield* Time.serverNow
          if (now - lookedAt < lookAgainSeconds * 1000) return false
          lookedAt = now
          yield* refresh
          return true
        }).pipe(Effect.catchTag("Unavailable", () => Effect.succeed(false)))
      }
    })
  )

  /** A single key that is not stored, for tests. */
  static readonly layerMemory = Layer.effect(SigningKeys)(
    Effect.gen(function* () {
      const made = yield* makeKey
      const privateKey = yield* importKey(made.privateKey)
      const publicKey = yield* importKey(made.publicKey)
      const refreshSecret = refreshSecretOf(made.privateKey)
      const { kid } = made.publicKey
      return {
        current: { kid, privateKey, refreshSecret },
        publicKey: (id) => (id === kid ? publicKey : undefined),
        refreshSecret: (id) => (id === kid ? refreshSecret : undefined),
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
  private_key: Schema.NullOr(PrivateKey),
  sealed_private_key: Schema.NullOr(Schema.Uint8Array),
  sealed_by: Schema.NullOr(Schema.String),
  public_key: PublicKey,
  retired_at: Schema.NullOr(Schema.Date)
})

const decodePrivateKey = Schema.decodeUnknownSync(Schema.fromJsonString(PrivateKey))

/** Returns the private key of a row. The start has checked that this process can open it. */
const privateKeyOf = (keyring: Keyring, { kid, private_key, sealed_private_key, sealed_by }: typeof Row.Type) => {
  if (private_key !== null) return Effect.succeed(private_key)
  const opened = fromStored(keyring, `signing_key:${kid}`, { bytes: sealed_private_key!, sealedBy: sealed_by })
  if (opened !== undefined) return Effect.sync(() => decodePrivateKey(Buffer.from(opened).toString()))
  return Effect.die(new Error(`The signing key ${kid} cannot be opened with SECRETS_KEY`))
}

/** Returns the secret of a key's refresh tokens. It is derived one way, and lives as long as the key is accepted. */
const refreshSecretOf = ({ d }: typeof PrivateKey.Type): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync("sha256", Buffer.from(d, "base64url"), "", "usher: refresh tokens", 32)))

/** Reads the keys and imports them for use. A private key that is known already is not opened again. */
const readKeys = Effect.fnUntraced(function* (
  keyring: Keyring,
  present: KnownKeys | undefined
): Effect.fn.Return<KnownKeys, Unavailable, PgClient.PgClient> {
  const rows = yield* loadOrCreate(keyring).pipe(Effect.catchTag("SchemaError", Effect.die), orUnavailable)
  const accepted = new Map<string, AcceptedKey>()
  let current = present?.current
  for (const row of rows) {
    const { kid } = row
    const isCurrent = row.retired_at === null
    const known = present?.accepted.get(kid)
    const isNew = known === undefined || (isCurrent && current?.kid !== kid)
    if (!isNew) {
      accepted.set(kid, known)
      continue
    }
    const privateKey = yield* privateKeyOf(keyring, row)
    const refreshSecret = refreshSecretOf(privateKey)
    accepted.set(kid, { publicKey: yield* importKey(row.public_key), refreshSecret })
    if (isCurrent) current = { kid, privateKey: yield* importKey(privateKey), refreshSecret }
  }
  return { current: current!, accepted, jwks: rows.map((row) => row.public_key) }
})

/**
 * Reads the keys, newest first; never empty. If there is none, one process creates it while the others wait for the
 * lock.
 */
const loadOrCreate = Effect.fnUntraced(function* (keyring: Keyring) {
  const sql = yield* PgClient.PgClient
  const load = SqlSchema.findAll({
    Request: Schema.Void,
    Result: Row,
    execute: () => sql`
      select kid, private_key, sealed_private_key, sealed_by, public_key, retired_at
      from signing_keys order by created_at desc, kid`
  })
  const known = yield* load()
  if (known.some((row) => row.retired_at === null)) return known
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* lock
      const now = yield* load()
      if (now.some((row) => row.retired_at === null)) return now
      yield* insertKey(keyring)
      return yield* load()
    })
  )
})

/** Takes the lock for changes of the current key. It is held until the transaction ends. */
export const lock = Effect.flatMap(
  PgClient.PgClient,
  (sql) => sql`select pg_advisory_xact_lock(${creationLock}::bigint)`
)

/** Creates a key and stores it as the current one. Returns its `kid`. */
export const insertKey = Effect.fnUntraced(function* (keyring: Keyring) {
  const sql = yield* PgClient.PgClient
  const { publicKey, privateKey } = yield* makeKey
  const { kid } = publicKey
  const { bytes, sealedBy } = toStored(keyring, `signing_key:${kid}`, Buffer.from(JSON.stringify(privateKey)))
  const isSealed = sealedBy !== null
  yield* sql`
    insert into signing_keys (kid, private_key, sealed_private_key, sealed_by, public_key, created_at)
    values (${kid}, ${isSealed ? null : sql.json(privateKey)}, ${isSealed ? bytes : null}, ${sealedBy},
      ${sql.json(publicKey)}, clock_timestamp())`
  return publicKey.kid
})

/** Makes a key. A `kid` does not begin with "-", which a command line would read as a flag. */
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
  ),
  Effect.repeat({ while: ({ publicKey }) => publicKey.kid.startsWith("-") })
)

/** Extractable, so that `Signing.ts` may use the key with `node:crypto`, which signs synchronously. */
const importKey = (jwk: Jose.JWK) =>
  Effect.promise(() => Jose.importJWK(jwk, algorithm, { extractable: true })).pipe(
    Effect.map((key) => key as Jose.CryptoKey)
  )
