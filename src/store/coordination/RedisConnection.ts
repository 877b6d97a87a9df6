/**
 * Connections to Redis. The data in Redis may be lost at any time. While Redis is unreachable a caller gets a failure
 * at once, and continues without it.
 */
import { Effect, Redacted, type Scope } from "effect"
import type { Redis } from "ioredis"

/** Opens a connection that reconnects automatically. A call fails while it is down, or after `answerMillisMax`. */
export const connect = (
  url: Redacted.Redacted,
  options: { readonly answerMillisMax: number }
): Effect.Effect<Redis, never, Scope.Scope> =>
  Effect.gen(function* () {
    // Loaded only if it is used, because starts are faster without it.
    const { Redis } = yield* Effect.promise(() => import("ioredis"))
    return yield* Effect.acquireRelease(
      Effect.sync(() => {
        const client = new Redis(Redacted.value(url), {
          enableOfflineQueue: false,
          enableReadyCheck: false,
          maxRetriesPerRequest: 0,
          autoResubscribe: false,
          // A command that has run must not run again.
          autoResendUnfulfilledCommands: false,
          connectTimeout: 2_000,
          commandTimeout: options.answerMillisMax,
          retryStrategy: (times) => Math.min(times * 50, 1_000)
        })
        // The calls report failures. Without a listener each would end the process.
        client.on("error", () => undefined)
        return client
      }),
      (client) => Effect.sync(() => client.disconnect())
    )
  })

/** Returns when the connection is up, or after a second. */
export const connected = (client: Redis): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    client.once("ready", () => resume(Effect.void))
  }).pipe(Effect.timeoutOption("1 second"), Effect.asVoid)
