/**
 * A separate Postgres server for a test, from Usher's embedded binaries. The test can shut it down immediately and
 * restart it, suspend it, or make it refuse writes. It keeps its port. Disposal removes it completely.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { Effect, type FileSystem } from "effect"
import { execFile } from "node:child_process"
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { findBinaries } from "../../../src/store/postgres/embedded/Binaries.ts"
import { chooseAccount } from "../../../src/store/postgres/embedded/ServerAccount.ts"
import { ensureCluster, folderAt, username } from "../../../src/store/postgres/embedded/ServerFolder.ts"
import { observe, ready, type Startable, stop } from "../../../src/store/postgres/embedded/ServerProcess.ts"
import { onDatabase } from "../../store/support/connections.ts"
import type { FreshDatabase } from "./FreshDatabase.ts"
import { pause } from "./Processes.ts"

export class OwnPostgres implements FreshDatabase {
  readonly url: string
  readonly environment: NodeJS.ProcessEnv
  private readonly server: Startable
  private readonly directory: string
  /** The suspended processes. */
  private frozen: Array<number> = []

  /** Starts a server with an empty database. `overrides` replace parameters of the embedded server. */
  static async make(overrides: NonNullable<Startable["overrides"]> = {}): Promise<OwnPostgres> {
    const directory = await mkdtemp(join(tmpdir(), "usher-e2e-"))
    // The server runs under its own account, which needs access to the folder.
    await chmod(directory, 0o755)
    const { server, port } = await run(
      Effect.gen(function* () {
        const binaries = yield* findBinaries
        const folder = folderAt(join(directory, "postgres"))
        const account = yield* chooseAccount(binaries, directory, folder.root)
        yield* ensureCluster(folder, binaries, account)
        const server = { folder, binaries, account, overrides }
        return { server, port: yield* ready(server) }
      })
    )
    const password = await readFile(server.folder.password, "utf8")
    const urlOf = (database: string) => `postgres://${username}:${password}@127.0.0.1:${port}/${database}`
    await Effect.runPromise(onDatabase(urlOf("postgres"), (sql) => sql`create database usher`))
    return new OwnPostgres(directory, server, urlOf("usher"))
  }

  private constructor(directory: string, server: Startable, url: string) {
    this.directory = directory
    this.server = server
    this.url = url
    this.environment = { DATABASE_URL: url }
  }

  /** Shuts the server down in immediate mode, like a power failure, and starts it again. Returns when it is ready. */
  async restart(): Promise<void> {
    await this.end()
    await this.start()
  }

  /** Shuts the server down in immediate mode, which cuts every connection. */
  async end(): Promise<void> {
    process.kill(await this.processId(), "SIGQUIT")
    while ((await run(observe(this.server.folder)))._tag !== "Stopped") await pause(5)
  }

  /** Starts the server after `end`. Returns when it is ready. */
  async start(): Promise<void> {
    await run(ready(this.server))
  }

  /** Suspends the server and all its sessions (SIGSTOP); its sockets stay open. */
  async freeze(): Promise<void> {
    const server = await this.processId()
    process.kill(server, "SIGSTOP")
    const { stdout } = await promisify(execFile)("pgrep", ["-P", `${server}`])
    this.frozen = [server, ...stdout.trim().split("\n").map(Number)]
    for (const id of this.frozen) process.kill(id, "SIGSTOP")
  }

  /** Resumes a suspended server. */
  thaw(): void {
    for (const id of this.frozen.splice(0)) process.kill(id, "SIGCONT")
  }

  /** Makes the server refuse writes, like a standby, or accept them again. */
  async setReadOnly(isReadOnly: boolean): Promise<void> {
    const value = isReadOnly ? "on" : "off"
    await Effect.runPromise(
      onDatabase(this.url, (sql) =>
        Effect.andThen(
          sql.unsafe(`alter system set default_transaction_read_only = ${value}`),
          sql`select pg_reload_conf()`
        )
      )
    )
  }

  private async processId(): Promise<number> {
    const found = await run(observe(this.server.folder))
    if (found._tag !== "Ready") throw new Error(`the server is ${found._tag}`)
    return found.pid
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.thaw()
    await run(Effect.ignore(stop(this.server.folder)))
    await rm(this.directory, { recursive: true, force: true })
  }
}

const run = <A, E>(effect: Effect.Effect<A, E, FileSystem.FileSystem>): Promise<A> =>
  Effect.runPromise(Effect.provide(effect, NodeFileSystem.layer))
