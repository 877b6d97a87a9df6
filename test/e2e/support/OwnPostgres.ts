/**
 * A Postgres server of a test's own, from the programs that Usher brings along, to be ended without ceremony and started
 * again, stopped, or made to refuse writes. It keeps its port. Nothing of it is left.
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
  /** The processes that were stopped. */
  private frozen: Array<number> = []

  /** A server that is ready, with an empty database. */
  static async make(): Promise<OwnPostgres> {
    const directory = await mkdtemp(join(tmpdir(), "usher-e2e-"))
    // The server runs as an account of its own, which must get inside.
    await chmod(directory, 0o755)
    const { server, port } = await run(
      Effect.gen(function* () {
        const binaries = yield* findBinaries
        const folder = folderAt(join(directory, "postgres"))
        const account = yield* chooseAccount(binaries, directory, folder.root)
        yield* ensureCluster(folder, binaries, account)
        const server = { folder, binaries, account }
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

  /** Ends the server in its immediate mode, as if its machine had lost power, and starts it again; returns when it is ready. */
  async restart(): Promise<void> {
    await this.end()
    await this.start()
  }

  /** Ends the server in its immediate mode: every connection is cut. */
  async end(): Promise<void> {
    process.kill(await this.processId(), "SIGQUIT")
    while ((await run(observe(this.server.folder)))._tag !== "Stopped") await pause(5)
  }

  /** Starts the server that was ended; returns when it is ready. */
  async start(): Promise<void> {
    await run(ready(this.server))
  }

  /** Stops the server and all its sessions (SIGSTOP); its sockets stay open. */
  async freeze(): Promise<void> {
    const server = await this.processId()
    process.kill(server, "SIGSTOP")
    const { stdout } = await promisify(execFile)("pgrep", ["-P", `${server}`])
    this.frozen = [server, ...stdout.trim().split("\n").map(Number)]
    for (const id of this.frozen) process.kill(id, "SIGSTOP")
  }

  /** Lets a stopped server go on. */
  thaw(): void {
    for (const id of this.frozen.splice(0)) process.kill(id, "SIGCONT")
  }

  /** Makes the server refuse writes, as one that has become a standby does, or take them again. */
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
