/**
 * The shared count in Redis: one hash for each window, changed by two scripts, each one atomic step. Redis is never the
 * source of truth: hashes expire soon after their window and may be lost at any time.
 *
 * Every call has a time-out. If Redis fails to answer twice in a row, this process counts alone at once, so a Redis
 * that hangs delays the requests of one moment only. It is probed twice a second until it answers.
 */
import { Effect, Latch, Redacted, type Scope } from "effect"
import type { Redis } from "ioredis"
import { randomUUID } from "node:crypto"
import { connect, connected } from "../../store/coordination/RedisConnection.ts"
import { type QuotaLease, QuotaLeaseLost } from "./QuotaLease.ts"
import { annotated } from "../../measures/StateChange.ts"

/** Milliseconds in which Redis must answer. */
const answerMillis = 200

/** Milliseconds between two probes of an unavailable Redis. */
const probeMillis = 500

/** Probes without an answer after which the connection is replaced. */
const probesPerConnection = 4

/** A loan has the units that are needed and, in addition, one part in so many of the units left. */
const blockShare = 8

/** Milliseconds for which a hash is kept after its window, for processes whose clocks are behind. */
const keptMillis = 60_000

/**
 * KEYS: the window. ARGV: limit, needed, spent, alone, used, epoch, new epoch, block share, milliseconds to live,
 * channel.
 */
const lendScript = `
local limit, needed, spent = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local state = redis.call("HMGET", KEYS[1], "epoch", "taken", "open", "single")
local epoch, taken, open, single = state[1], tonumber(state[2] or 0), tonumber(state[3] or 0), state[4]
if not epoch then
  epoch = ARGV[7]
  redis.call("HSET", KEYS[1], "epoch", epoch)
  redis.call("PEXPIRE", KEYS[1], ARGV[9])
end
if epoch == ARGV[6] then
  taken = taken + tonumber(ARGV[4])
  open = math.max(0, open - spent)
else
  taken = taken + tonumber(ARGV[5])
end
local left = math.max(0, limit - taken)
local lent = needed
if not single then lent = lent + math.floor(left / tonumber(ARGV[8])) end
if lent >= left then
  lent = left
  if not single then redis.call("HSET", KEYS[1], "single", 1) end
end
if lent == 0 and open > 0 then redis.call("PUBLISH", ARGV[10], KEYS[1]) end
redis.call("HSET", KEYS[1], "taken", taken + lent, "open", open + lent)
return { lent, left - lent, open, epoch }`

/** KEYS: the window. ARGV: epoch, closed, unspent. */
const giveBackScript = `
if redis.call("HGET", KEYS[1], "epoch") ~= ARGV[1] then return 0 end
-- Subtracted from zero, because Lua's negative zero is no number to Redis.
redis.call("HINCRBY", KEYS[1], "open", 0 - tonumber(ARGV[2]))
redis.call("HINCRBY", KEYS[1], "taken", 0 - tonumber(ARGV[3]))
return 1`

interface Scripts {
  lend(key: string, ...args: ReadonlyArray<string | number>): Promise<readonly [number, number, number, string]>
  giveBack(key: string, ...args: ReadonlyArray<string | number>): Promise<number>
}

export interface Options {
  /** The prefix of the lender's keys, which separates them from others in the same Redis. */
  readonly prefix?: string
  /** Milliseconds in which Redis must answer a call. */
  readonly answerMillisMax?: number
}

/** Makes the lender at this URL. It starts without Redis too. */
export const make = (
  url: Redacted.Redacted,
  { prefix = "usher:limits:", answerMillisMax = answerMillis }: Options = {}
): Effect.Effect<QuotaLease, never, Scope.Scope> =>
  Effect.gen(function* () {
    const client = yield* connect(url, { answerMillisMax })
    const listener = yield* connect(url, { answerMillisMax })
    client.defineCommand("lend", { numberOfKeys: 1, lua: lendScript })
    client.defineCommand("giveBack", { numberOfKeys: 1, lua: giveBackScript })
    const scripts = client as Redis & Scripts
    const channel = `${prefix}recalls`
    const ping = call(() => client.ping())
    yield* connected(client)
    const reach = yield* makeReach(ping, () => {
      client.disconnect(true)
      listener.disconnect(true)
    })

    /** Calls again if Redis was slow. Counts Redis as unavailable if it does not answer. */
    const insistent = <A>(evaluate: () => Promise<A>): Effect.Effect<A, QuotaLeaseLost> =>
      call(evaluate).pipe(
        Effect.catch(() => Effect.andThen(ping, call(evaluate))),
        Effect.tapError(() => reach.lose)
      )

    return {
      isInReach: reach.isInReach,
      lend: ({ key, requestsMax, windowMillis, needed, spent, local, used, epoch }) => {
        const counts = [requestsMax, needed, spent, local, used]
        const ends = windowMillis + keptMillis
        return Effect.map(
          insistent(() => scripts.lend(prefix + key, ...counts, epoch, randomUUID(), blockShare, ends, channel)),
          ([lent, left, open, epoch]) => ({ lent, left, open, epoch })
        )
      },
      giveBack: ({ key, epoch, closed, unspent }) =>
        // Called once only: returned units may be lent to another process at once.
        Effect.asVoid(call(() => scripts.giveBack(prefix + key, epoch, closed, unspent))),
      onRecall: (recall) => {
        listener.on("message", (_, key: string) => recall(key.slice(prefix.length)))
        const subscribe = () => void listener.subscribe(channel).catch(() => listener.disconnect(true))
        listener.on("ready", subscribe)
        if (listener.status === "ready") subscribe()
      }
    }
  })

/**
 * Whether Redis answers. An unavailable Redis is probed until it answers again; `reconnect` replaces the connections.
 */
const makeReach = Effect.fnUntraced(function* (ping: Effect.Effect<unknown, QuotaLeaseLost>, reconnect: () => void) {
  let isLost = true
  const lost = yield* Latch.make(true)

  const watch = Effect.gen(function* () {
    for (let probes = 1; ; probes++) {
      const answer = yield* Effect.result(ping)
      if (answer._tag === "Success") return
      if (probes === 1) {
        const reason = `Redis is out of reach (${answer.failure.reason})`
        yield* annotated("redis.lost")(Effect.logWarning(`${reason}: this process counts rate limits alone`))
      }
      if (probes % probesPerConnection === 0) reconnect()
      yield* Effect.sleep(probeMillis)
    }
  })

  yield* Effect.forkScoped(
    Effect.gen(function* () {
      for (;;) {
        yield* lost.await
        yield* watch
        isLost = false
        yield* lost.close
        yield* annotated("redis.back")(
          Effect.logInfo("Redis is in reach: rate limits are shared with the other processes")
        )
      }
    })
  )

  return {
    isInReach: () => !isLost,
    lose: Effect.suspend(() => {
      isLost = true
      return lost.open
    })
  }
})

const call = <A>(evaluate: () => Promise<A>): Effect.Effect<A, QuotaLeaseLost> =>
  Effect.tryPromise({
    try: evaluate,
    catch: (error) => new QuotaLeaseLost({ reason: error instanceof Error ? error.message : String(error) })
  })
