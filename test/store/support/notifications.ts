/** Waits for the notifications of changes between processes (`Invalidations`). */
import { PgClient } from "@effect/sql-pg"
import { Effect, Queue } from "effect"
import { randomUUID } from "node:crypto"

const channel = "usher_invalidations"

/**
 * Returns when so many processes have handled every change that was committed before. It asks them as another process
 * would: each answers after it has handled all earlier notifications.
 */
export const changesHandled = (processes = 1) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const question = randomUUID()
    const notifications = yield* sql.listen(channel)
    yield* sql`select pg_notify(${channel}, ${`settle:a test:${question}`})`
    let answers = 0
    while (answers < processes) {
      const { payload } = yield* Queue.take(notifications)
      if (payload.startsWith("settled:") && payload.endsWith(question)) answers++
    }
  }).pipe(Effect.scoped, Effect.orDie)
