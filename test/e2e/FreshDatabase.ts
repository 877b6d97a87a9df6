/**
 * A database of a test's own for a server process: a new one on the local Postgres server where one answers, else the
 * embedded server in a folder of its own. Either way nothing of it is left.
 */
import { PgClient } from "@effect/sql-pg"
import { NodeFileSystem } from "@effect/platform-node"
import { Effect, Exit, Redacted, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { folderAt } from "../../src/store/embedded/ServerFolder.ts"
import { stop } from "../../src/store/embedded/ServerProcess.ts"
import * as TestDatabase from "../store/TestDatabase.ts"

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
  const database = await (TestDatabase.serverAnswers ? onServer() : embedded())
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
  Effect.runPromise(
    PgClient.make({ url: Redacted.make(url), maxConnections: 2 }).pipe(
      Effect.flatMap(use),
      Effect.scoped,
      Effect.provide(Reactivity.layer)
    )
  )

async function onServer(): Promise<FreshDatabase> {
  const scope = Effect.runSync(Scope.make())
  const { url } = await Effect.runPromise(Scope.provide(TestDatabase.emptyDatabase, scope))
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
