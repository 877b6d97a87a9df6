/**
 * The shared count in Redis: one hash a window, changed by two scripts, each one atomic step. Redis never holds truth:
 * hashes expire soon after their window, and may be lost at any time.
 *
 * Every call has a time-out. A Redis that does not answer twice in a row makes this process count alone at once, so that
 * one that hangs holds up the requests of one moment and no more; it is asked twice a second whether it is back.
 */
import { Effect, Latch, Redacted, type Scope } from "effect"
import { Redis } from "ioredis"
import { randomUUID } from "node:crypto"
import { type QuotaLease, QuotaLeaseLost } from "./QuotaLease.ts"

/** How long Redis may take to answer. */
const answerMillis = 200

/** How often a lost Redis is asked whether it is back. */
const probeMillis = 500

/** After so many probes without an answer the connection itself is given up. */
const probesPerConnection = 4

/** A loan takes as many units as are needed, and beyond them this part of what is left. */
const blockShare = 8

/** How much longer than its window a hash is kept, for processes whose clocks are behind. */
const keptMillis = 60_000

/** KEYS: the window. ARGV: limit, needed, spent, alone, used, epoch, new epoch, block share, milliseconds to live, channel. */
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
  /** Keeps the lender's keys apart from others in the same Redis. */
  readonly prefix?: string
  /** How long Redis may take to answer a call. */
  readonly answerMillisMax?: number
}

/** The lender at this URL. Starts also without Redis. */
export const make = (
  url: Redacted.Redacted,
  { prefix = "usher:limits:", answerMillisMax = answerMillis }: Options = {}
): Effect.Effect<QuotaLease, never, Scope.Scope> =>
  Effect.gen(function* () {
    const client = yield* connection(url, answerMillisMax)
    const listener = yield* connection(url, answerMillisMax)
    client.defineCommand("lend", { numberOfKeys: 1, lua: lendScript })
    client.defineCommand("giveBack", { numberOfKeys: 1, lua: giveBackScript })
    const scripts = client as Redis & Scripts
    const channel = `${prefix}recalls`
    let isLost = true

    const ping = call(() => client.ping())
    yield* connected(client)

    const watch = Effect.gen(function* () {
      for (let probes = 1; ; probes++) {
        const answer = yield* Effect.result(ping)
        if (answer._tag === "Success") return
        if (probes === 1) {
          const reason = `Redis is out of reach (${answer.failure.reason})`
          yield* Effect.logWarning(`${reason}: this process counts rate limits alone`)
        }
        if (probes % probesPerConnection === 0) {
          client.disconnect(true)
          listener.disconnect(true)
        }
        yield* Effect.sleep(probeMillis)
      }
    })
    const lost = yield* Latch.make(true)
    yield* Effect.forkScoped(
      Effect.gen(function* () {
        for (;;) {
          yield* lost.await
          yield* watch
          isLost = false
          yield* lost.close
          yield* Effect.logInfo("Redis is in reach: rate limits are shared with the other processes")
        }
      })
    )

    /** Asks once more if Redis was only slow; counts it as lost if it is silent. */
    const insistent = <A>(evaluate: () => Promise<A>): Effect.Effect<A, QuotaLeaseLost> =>
      call(evaluate).pipe(
        Effect.catch(() => Effect.andThen(ping, call(evaluate))),
        Effect.tapError(() => {
          isLost = true
          return lost.open
        })
      )

    return {
      isInReach: () => !isLost,
      lend: ({ key, requestsMax, windowMillis, needed, spent, local, used, epoch }) => {
        const counts = [requestsMax, needed, spent, local, used]
        const ends = windowMillis + keptMillis
        return Effect.map(
          insistent(() => scripts.lend(prefix + key, ...counts, epoch, randomUUID(), blockShare, ends, channel)),
          ([lent, left, open, epoch]) => ({ lent, left, open, epoch })
        )
      },
      giveBack: ({ key, epoch, closed, unspent }) =>
        // Never twice: what is given back once may be lent to another at once.
        Effect.asVoid(call(() => scripts.giveBack(prefix + key, epoch, closed, unspent))),
      onRecall: (recall) => {
        listener.on("message", (_, key: string) => recall(key.slice(prefix.length)))
        const subscribe = () => void listener.subscribe(channel).catch(() => listener.disconnect(true))
        listener.on("ready", subscribe)
        if (listener.status === "ready") subscribe()
      }
    }
  })

/** A connection that reconnects by itself, and fails calls at once while it is down. */
const connection = (url: Redacted.Redacted, answerMillisMax: number) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const client = new Redis(Redacted.value(url), {
        enableOfflineQueue: false,
        enableReadyCheck: false,
        maxRetriesPerRequest: 0,
        autoResubscribe: false,
        // A script that has run must not run again.
        autoResendUnfulfilledCommands: false,
        connectTimeout: 2_000,
        commandTimeout: answerMillisMax,
        retryStrategy: (times) => Math.min(times * 50, 1_000)
      })
      // What fails is told by the calls; without a listener each would end the process.
      client.on("error", () => undefined)
      return client
    }),
    (client) => Effect.sync(() => client.disconnect())
  )

/** Returns once there is a connection, or after a second without one. */
const connected = (client: Redis) =>
  Effect.callback<void>((resume) => {
    client.once("ready", () => resume(Effect.void))
  }).pipe(Effect.timeoutOrElse({ duration: "1 second", orElse: () => Effect.void }))

const call = <A>(evaluate: () => Promise<A>): Effect.Effect<A, QuotaLeaseLost> =>
  Effect.tryPromise({
    try: evaluate,
    catch: (error) => new QuotaLeaseLost({ reason: error instanceof Error ? error.message : String(error) })
  })
