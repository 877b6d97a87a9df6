/**
 * A new database for a server process: on the server of the test run; for a script, on the local Postgres server if
 * there is one; otherwise on an embedded server in a temporary folder. Disposal removes it completely.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { Effect, Exit, Scope } from "effect"
import type { SqlClient } from "effect/sql"
import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { folderAt } from "../../../src/store/postgres/embedded/ServerFolder.ts"
import { stop } from "../../../src/store/postgres/embedded/ServerProcess.ts"
import { onDatabase } from "../../store/support/connections.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import * as TestServer from "../../store/support/TestServer.ts"

export interface FreshDatabase {
  /** The environment variables that make a server process use it. */
  readonly environment: NodeJS.ProcessEnv
  /** Its URL; absent for an embedded server. */
  readonly url?: string
  readonly [Symbol.asyncDispose]: () => Promise<void>
}

/** Databases that are not disposed yet. */
const open = new Set<FreshDatabase>()

/** Creates a database without rows, which may have this version's tables. */
export const make = (): Promise<FreshDatabase> => tracked(onServerOrEmbedded(TestDatabase.migratedDatabase))

/** Creates a database without tables. */
export const makeEmpty = (): Promise<FreshDatabase> => tracked(onServerOrEmbedded(TestDatabase.emptyDatabase))

/** Creates a database on an embedded server, which the first process starts. */
export const makeEmbedded = (): Promise<FreshDatabase> => tracked(embedded())

const onServerOrEmbedded = async (kind: typeof TestDatabase.migratedDatabase) =>
  (await hasServer()) ? onServer(kind) : embedded()

async function tracked(creating: Promise<FreshDatabase>): Promise<FreshDatabase> {
  const database = await creating
  const own: FreshDatabase = {
    ...database,
    [Symbol.asyncDispose]: async () => {
      if (open.delete(own)) await database[Symbol.asyncDispose]()
    }
  }
  open.add(own)
  return own
}

/** Disposes all databases before the process exits. */
export const disposeAll = (): Promise<unknown> =>
  Promise.allSettled([...open].map((database) => database[Symbol.asyncDispose]()))

/** Runs statements on a database. */
export const query = <A, E>(url: string, use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(onDatabase(url, use, 2))

const hasServer = async (): Promise<boolean> =>
  TestServer.current.template !== undefined || (await TestServer.refusal(TestServer.current.url)) === undefined

async function onServer(kind: typeof TestDatabase.migratedDatabase): Promise<FreshDatabase> {
  const scope = Effect.runSync(Scope.make())
  const { url } = await Effect.runPromise(Scope.provide(kind, scope))
  return {
    url,
    environment: { DATABASE_URL: url },
    [Symbol.asyncDispose]: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

async function embedded(): Promise<FreshDatabase> {
  const directory = await mkdtemp(join(tmpdir(), "usher-e2e-"))
  // The server runs under its own account, which needs access to the folder.
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
