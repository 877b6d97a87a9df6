/**
 * A process that uses the embedded database under `DATA_DIR`, for tests that need a second process, or one to kill.
 * It prints one line of JSON when the database is ready, and ends gracefully on SIGTERM. SIGINT kills it, as Ctrl-C
 * would.
 */
import { NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Settings } from "../../../../src/settings/Settings.ts"
import * as Database from "../../../../src/store/postgres/Database.ts"

// The handler is installed first, because a reader of the line may end this process immediately.
const terminated = new Promise<void>((resolve) => process.once("SIGTERM", () => resolve()))

const hold = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Postgres may refuse one of two processes that create it at the same moment. The second try finds it.
  yield* Effect.retry(sql`create table if not exists kept (holder int)`, { times: 5 })
  yield* sql`insert into kept (holder) values (${process.pid})`
  const [row] = yield* sql<{ port: number }>`select inet_server_port() as port`
  yield* Console.log(JSON.stringify({ port: row?.port }))
  yield* Effect.promise(() => terminated)
}).pipe(
  Effect.provide(Database.layer.pipe(Layer.provide(Settings.layer), Layer.provide(NodeServices.layer))),
  Effect.tapError((error) => Console.error(error.message))
)

Effect.runPromise(hold).then(
  () => process.exit(0),
  () => process.exit(1)
)
