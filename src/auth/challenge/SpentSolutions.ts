/**
 * The solutions that have served, so that each serves once. A single process remembers them in memory. Several
 * processes share them in Redis, if `REDIS_URL` is set; and in the database if it is not, or while Redis is away. While
 * only some processes reach Redis, a solution can serve once on either side. A solution is forgotten when its challenge
 * has expired.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Option, type Redacted } from "effect"
import { hash } from "node:crypto"
import type { Millis } from "../../domain/values/Time.ts"
import { Settings } from "../../settings/Settings.ts"
import { redisPrefix } from "../../store/coordination/Installation.ts"
import { connect, connected } from "../../store/coordination/RedisConnection.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { orUnavailable } from "../../store/postgres/SqlFailure.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Solutions in memory. While it is full, further ones are refused until some expire. */
const spentMax = 500_000

/** Milliseconds in which Redis must answer. */
const answerMillisMax = 200

export class SpentSolutions extends Context.Service<
  SpentSolutions,
  {
    /** True if solutions are remembered outside of this process, so that they are known after a restart. */
    readonly isShared: boolean
    /** Returns true the first time. Answers at once in a single process. */
    spend(id: string, expiresAt: Millis): boolean | Effect.Effect<boolean, Unavailable>
  }
>()("usher/auth/challenge/SpentSolutions") {
  static readonly layer = Layer.effect(SpentSolutions)(
    Effect.gen(function* () {
      const clock = yield* Time.serverClock
      const { cluster, redisUrl } = yield* Settings
      const own = new SpentHere(() => clock.currentTimeMillisUnsafe())
      const inDatabase = yield* makeInDatabase
      const inRedis = Option.isSome(redisUrl) ? yield* makeInRedis(redisUrl.value) : undefined
      const isShared = inRedis !== undefined || cluster

      const shared = Effect.fnUntraced(function* (id: string, expiresAt: Millis) {
        if (inRedis === undefined) return yield* inDatabase(id, expiresAt)
        const answer = yield* inRedis(id, Math.max(1, expiresAt - clock.currentTimeMillisUnsafe()))
        return Option.isSome(answer) ? answer.value : yield* inDatabase(id, expiresAt)
      })

      return {
        isShared,
        spend: (solution, expiresAt) => {
          const id = hash("sha256", solution, "base64url")
          if (!own.add(id, expiresAt)) return false
          return isShared ? shared(id, expiresAt) : true
        }
      }
    })
  )
}

/** The ids that have served here, with their expiry. */
class SpentHere {
  readonly #now: () => Millis
  readonly #expiries = new Map<string, Millis>()
  #cleanedAt: Millis = 0

  constructor(now: () => Millis) {
    this.#now = now
  }

  /** Adds an id. Returns false if it is known, or if there is no room. */
  add(id: string, expiresAt: Millis): boolean {
    if (this.#expiries.has(id)) return false
    this.#clean()
    if (this.#expiries.size >= spentMax) return false
    this.#expiries.set(id, expiresAt)
    return true
  }

  /** Removes what has expired, once a minute. */
  #clean(): void {
    const now = this.#now()
    if (now - this.#cleanedAt < 60_000) return
    this.#cleanedAt = now
    for (const [id, expiresAt] of this.#expiries) if (expiresAt <= now) this.#expiries.delete(id)
  }
}

const makeInDatabase = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  return (id: string, expiresAt: Millis) =>
    orUnavailable(
      Effect.map(
        sql`
          insert into spent_challenges (id, expires_at) values (${id}, ${new Date(expiresAt)})
          on conflict do nothing returning id`,
        (rows) => rows.length === 1
      )
    )
})

/** Makes the function that sets a key, and tells whether it is the first to. A start waits a second for Redis. */
const makeInRedis = Effect.fnUntraced(function* (url: Redacted.Redacted) {
  const client = yield* connect(url, { answerMillisMax })
  yield* connected(client)
  const prefix = yield* redisPrefix("challenges")
  return (id: string, millis: number) =>
    Effect.tryPromise(() => client.set(prefix + id, "1", "PX", millis, "NX")).pipe(
      Effect.map((answer) => answer === "OK"),
      Effect.option
    )
})
