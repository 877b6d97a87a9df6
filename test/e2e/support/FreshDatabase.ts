/**
 * A database of a test's own for a server process: a new one on the server of the test run, or, for a script, on the
 * local Postgres server if one answers, else the embedded server in a folder of its own. Nothing of it is left.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { Effect, Exit, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { folderAt } from "../../../src/store/postgres/embedded/ServerFolder.ts"
import { stop } from "../../../src/store/postgres/embedded/ServerProcess.ts"
import { connect } from "../../store/support/connections.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import * as TestServer from "../../store/support/TestServer.ts"

export interface FreshDatabase {
  /** What a server process needs in its environment to use it. */
  readonly environment: NodeJS.ProcessEnv
  /** Its address; absent for an embedded server. */
  readonly url?: string
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Those that have not been given up yet. */
const open = new Set<FreshDatabase>()

/** A database with nothing in it. */
export async function make(): Promise<FreshDatabase> {
  const database = await ((await hasServer()) ? onServer() : embedded())
  const tracked: FreshDatabase = {
    ...database,
    [Symbol.asyncDispose]: async () => {
      if (open.delete(tracked)) await database[Symbol.asyncDispose]()
    }
  }
  open.add(tracked)
  return tracked
}

/** Gives all of them up at once, because the process is to end. */
export const disposeAll = (): Promise<unknown> =>
  Promise.allSettled([...open].map((database) => database[Symbol.asyncDispose]()))

/** Runs statements on a database by its address. */
export const query = <A, E>(url: string, use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(Effect.scoped(Effect.flatMap(connect(url, 2), use)))

const hasServer = async (): Promise<boolean> =>
  TestServer.current.template !== undefined || (await TestServer.refusal(TestServer.current.url)) === undefined

async function onServer(): Promise<FreshDatabase> {
  const scope = Effect.runSync(Scope.make())
  const { url } = await Effect.runPromise(Scope.provide(TestDatabase.migratedDatabase, scope))
  return {
    url,
    environment: { DATABASE_URL: url },
    [Symbol.asyncDispose]: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

async function embedded(): Promise<FreshDatabase> {
  const directory = await mkdtemp(join(tmpdir(), "usher-e2e-"))
  // The server runs as an account of its own, which must get inside.
  await chmod(directory, 0o755)
  return {
    environment: { DATABASE_URL: "", DATA_DIR: directory },
    [Symbol.asyncDispose]: async () => {
      const stopped = stop(folderAt(join(directory, "postgres"))).pipe(
        Effect.provide(NodeFileSystem.layer),
        Effect.ignore
      )
      await Effect.runPromise(stopped)
      await rm(directory, { recursive: true, force: true })
    }
  }
}
