import { NodeServices } from "@effect/platform-node"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer, Schedule, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Settings } from "../../../../src/settings/Settings.ts"
import * as Database from "../../../../src/store/postgres/Database.ts"

const holderPath = fileURLToPath(new URL("embeddedHolder.ts", import.meta.url))
const isRoot = process.geteuid?.() === 0

/** Whether other users may enter the folders above this one. If not, no process of theirs can run Usher from here. */
const isOpenToOthers = ancestorsOf(holderPath).every((folder) => (statSync(folder).mode & 0o001) !== 0)

function ancestorsOf(path: string): ReadonlyArray<string> {
  const folder = dirname(path)
  return folder === path ? [] : [folder, ...ancestorsOf(folder)]
}

/** A separate data folder. At the end its server is killed and the folder is removed. */
const dataFolder = Effect.acquireRelease(
  Effect.sync(() => {
    const parent = mkdtempSync(join(tmpdir(), "usher-embedded-"))
    // Other users may pass through, as they may in a project's folder.
    chmodSync(parent, 0o755)
    return {
      parent,
      dataDir: join(parent, "data"),
      pidFile: join(parent, "data", "postgres", "data", "postmaster.pid")
    }
  }),
  ({ parent, pidFile }) =>
    Effect.gen(function* () {
      const pid = serverPid(pidFile)
      if (pid !== undefined) yield* killed(pid)
      rmSync(parent, { recursive: true, force: true })
    })
)

/**
 * A cluster that has been started once and holds one row. All tests copy it, because making one takes a second of
 * work.
 */
const template = Effect.runSync(
  Effect.cached(
    Effect.gen(function* () {
      const parent = mkdtempSync(join(tmpdir(), "usher-embedded-"))
      chmodSync(parent, 0o755)
      const create = (sql: SqlClient.SqlClient) => sql`create table kept as select 1 as holder`
      yield* Effect.scoped(Effect.flatMap(open(join(parent, "data")), create))
      return parent
    })
  )
)

/** A data folder that was used before: it holds one row. */
const usedFolder = Effect.gen(function* () {
  const folder = yield* dataFolder
  execFileSync("cp", ["-a", join(yield* template, "data"), folder.dataDir])
  return folder
})

afterAll(() => Effect.runPromise(Effect.map(template, (parent) => rmSync(parent, { recursive: true, force: true }))))

const serverPid = (pidFile: string) =>
  existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8").split("\n")[0]) : undefined

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Whether the process is not root, or is root only in a user namespace of its own. */
const isUnprivileged = (pid: number) =>
  statSync(`/proc/${pid}`).uid !== 0 || readlinkSync(`/proc/${pid}/ns/user`) !== readlinkSync("/proc/self/ns/user")

const until = (condition: () => boolean) =>
  Effect.sync(condition).pipe(
    Effect.repeat({ until: (holds) => holds, schedule: Schedule.spaced("10 millis") }),
    Effect.timeout("20 minutes")
  )

const killed = (pid: number) =>
  Effect.suspend(() => {
    if (isAlive(pid)) process.kill(pid, "SIGKILL")
    return until(() => !isAlive(pid))
  }).pipe(Effect.orDie)

/** Opens the database as this process does, while the scope lives. */
const open = (dataDir: string, scope?: Scope.Scope) =>
  Effect.gen(function* () {
    const layer = Database.layer.pipe(Layer.provide(Settings.layerTest({ dataDir })), Layer.provide(NodeServices.layer))
    const services = yield* Layer.buildWithScope(layer, scope ?? (yield* Effect.scope))
    return yield* Effect.provide(SqlClient.SqlClient, services)
  })

/** Another process that uses the database. */
const holder = (dataDir: string, options: { readonly uid?: number; readonly gid?: number } = {}) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = spawn(process.execPath, [holderPath], {
        ...options,
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
        env: { PATH: process.env.PATH, DATA_DIR: dataDir }
      })
      const ready = new Promise<{ readonly port: number }>((resolve, reject) => {
        let errors = ""
        child.stderr.on("data", (chunk) => (errors += chunk))
        child.stdout.once("data", (chunk) => resolve(JSON.parse(`${chunk}`)))
        child.once("error", reject)
        child.once("exit", (code) => reject(new Error(`holder ended with ${code}: ${errors}`)))
      })
      return { child, ready: Effect.promise(() => ready) }
    }),
    ({ child }) => ended(child, "SIGKILL")
  )

const ended = (child: ChildProcess, signal: NodeJS.Signals) =>
  Effect.callback<number | null>((resume) => {
    const hasEnded = child.exitCode !== null || child.signalCode !== null
    if (hasEnded || child.pid === undefined) return resume(Effect.succeed(child.exitCode))
    child.once("exit", (code) => resume(Effect.succeed(code)))
    child.kill(signal)
  })

const keptRows = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ count: number }>`select count(*)::int as count from kept`, (rows) => rows[0]?.count)

const nobody = { uid: 65_534, gid: 65_534 }

/** A process of another user starts the server, root continues it, and a third user is refused. */
const continuesAsOwner = Effect.gen(function* () {
  const { dataDir, parent, pidFile } = yield* dataFolder
  chmodSync(parent, 0o777)
  const first = yield* holder(dataDir, nobody)
  yield* first.ready
  assert.strictEqual(statSync(`/proc/${serverPid(pidFile)}`).uid, nobody.uid)
  yield* ended(first.child, "SIGKILL")

  yield* Effect.scoped(
    Effect.gen(function* () {
      const sql = yield* open(dataDir)
      assert.strictEqual(yield* keptRows(sql), 1)
      assert.strictEqual(statSync(`/proc/${serverPid(pidFile)}`).uid, nobody.uid)
    })
  )
  const stranger = yield* holder(dataDir, { uid: 65_533, gid: 65_533 })
  const error = yield* stranger.ready.pipe(Effect.catchDefect(Effect.succeed))
  assert.include(`${error}`, "belongs to user 65534, but this process runs as user 65533")
})

/** In a closed checkout the folder's owner could not run the programs, so root refuses to start them. */
const refusesClosedPrograms = Effect.gen(function* () {
  const { dataDir } = yield* usedFolder
  execFileSync("chown", ["-R", `${nobody.uid}:${nobody.gid}`, dataDir])
  const error = yield* Effect.flip(open(dataDir))
  assert.match(error.message, /user 65534, under which it would run, cannot enter \/\S+\. /)
})

describe("the embedded Postgres", { concurrent: false }, () => {
  it.live("refuses a folder or a file of it that leads elsewhere, or that others may change", () =>
    Effect.gen(function* () {
      const { dataDir, parent } = yield* usedFolder
      const own = (name: string) => join(dataDir, "postgres", name)
      const outside = join(parent, "outside")
      const linked = (path: string) => {
        renameSync(path, outside)
        symlinkSync(outside, path)
        return () => {
          rmSync(path)
          renameSync(outside, path)
        }
      }
      const opened = (path: string, mode: number) => {
        const before = statSync(path).mode
        chmodSync(path, mode)
        return () => chmodSync(path, before)
      }
      const changes: ReadonlyArray<readonly [string, () => () => void, string]> = [
        ["the folder", () => linked(join(dataDir, "postgres")), "postgres is a symbolic link"],
        ["the cluster", () => linked(own("data")), "data is a symbolic link"],
        ["the log", () => linked(own("log")), "log is a symbolic link"],
        ["the port", () => linked(own("port")), "port is a symbolic link"],
        ["the password", () => linked(own("password")), "password is a symbolic link"],
        ["a writable folder", () => opened(join(dataDir, "postgres"), 0o777), "postgres can be changed by other users"],
        ["a writable password", () => opened(own("password"), 0o660), "password can be changed by other users"]
      ]
      for (const [name, change, problem] of changes) {
        const restore = change()
        const error = yield* Effect.flip(open(dataDir))
        assert.include(error.message, problem, name)
        restore()
      }
      if (isRoot) {
        chownSync(own("port"), 65_533, 65_533)
        assert.include((yield* Effect.flip(open(dataDir))).message, "port belongs to user 65533")
        chownSync(own("port"), 0, 0)
      }
      assert.strictEqual(yield* Effect.scoped(Effect.flatMap(open(dataDir), keptRows)), 1)
    })
  )

  it.live("is a real server, created on the first start, closed to others, and stopped after the last use", () =>
    Effect.gen(function* () {
      const { dataDir, pidFile } = yield* dataFolder
      const scope = yield* Scope.make()
      const sql = yield* open(dataDir, scope)
      const [row] = yield* sql<Record<string, unknown>>`
        select current_setting('fsync') as fsync, current_setting('listen_addresses') as address,
          current_setting('server_encoding') as encoding, current_setting('password_encryption') as passwords,
          current_setting('data_checksums') as checksums, 'B' < 'a' as "byCodePoint", lower('ÄÉ') as lower`
      assert.deepStrictEqual(row, {
        fsync: "on",
        address: "127.0.0.1",
        encoding: "UTF8",
        passwords: "scram-sha-256",
        checksums: "on",
        byCodePoint: true,
        lower: "äé"
      })
      assert.strictEqual(statSync(join(dataDir, "postgres")).mode & 0o777, 0o700)
      assert.strictEqual(statSync(join(dataDir, "postgres", "password")).mode & 0o777, 0o600)
      const trusting = /^\s*(local|host)\b.*\b(trust|password|md5|ident|peer)\s*$/m
      assert.notMatch(readFileSync(join(dataDir, "postgres", "data", "pg_hba.conf"), "utf8"), trusting)

      const pid = serverPid(pidFile)!
      assert.isTrue(isAlive(pid))
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(existsSync(pidFile))
      yield* until(() => !isAlive(pid))
    })
  )

  it.live("outlives a killed process, and the next process adopts it with its data", () =>
    Effect.gen(function* () {
      const { dataDir, pidFile } = yield* usedFolder
      const first = yield* holder(dataDir)
      const { port } = yield* first.ready
      const pid = serverPid(pidFile)!
      yield* ended(first.child, "SIGKILL")
      assert.isTrue(isAlive(pid))

      const scope = yield* Scope.make()
      const sql = yield* open(dataDir, scope)
      assert.strictEqual(serverPid(pidFile), pid)
      assert.deepStrictEqual(yield* sql`select inet_server_port() as port`, [{ port }])
      assert.strictEqual(yield* keptRows(sql), 2)
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(existsSync(pidFile))
    })
  )

  it.live("is not reached by Ctrl-C in the terminal", () =>
    Effect.gen(function* () {
      const { dataDir, pidFile } = yield* usedFolder
      const first = yield* holder(dataDir)
      yield* first.ready
      const pid = serverPid(pidFile)!
      process.kill(-first.child.pid!, "SIGINT")
      yield* until(() => first.child.signalCode === "SIGINT")
      const sql = yield* open(dataDir)
      assert.strictEqual(serverPid(pidFile), pid)
      assert.strictEqual(yield* keptRows(sql), 2)
    })
  )

  it.live("recovers when it was killed together with its process", () =>
    Effect.gen(function* () {
      const { dataDir, pidFile } = yield* usedFolder
      const first = yield* holder(dataDir)
      yield* first.ready
      yield* ended(first.child, "SIGKILL")
      yield* killed(serverPid(pidFile)!)
      assert.isTrue(existsSync(pidFile))
      const sql = yield* open(dataDir)
      assert.strictEqual(yield* keptRows(sql), 2)
    })
  )

  it.live("keeps the written data, and starts although its pid file names another living process", () =>
    Effect.gen(function* () {
      const { dataDir, pidFile } = yield* usedFolder
      writeFileSync(
        pidFile,
        `${process.ppid}\n${join(dataDir, "postgres", "data")}\n1\n5432\n\n127.0.0.1\n0 0\nready\n`
      )
      const sql = yield* open(dataDir)
      assert.strictEqual(yield* keptRows(sql), 1)
      assert.notStrictEqual(serverPid(pidFile), process.ppid)
      if (isRoot) assert.isTrue(isUnprivileged(serverPid(pidFile)!), "an unprivileged user runs it")
    })
  )

  it.live("is shared by two processes, and stopped by the last one to leave", () =>
    Effect.gen(function* () {
      const { dataDir, pidFile } = yield* usedFolder
      const other = yield* holder(dataDir)
      const { port } = yield* other.ready
      const scope = yield* Scope.make()
      const sql = yield* open(dataDir, scope)
      assert.deepStrictEqual(yield* sql`select inet_server_port() as port`, [{ port }])
      const pid = serverPid(pidFile)!

      assert.strictEqual(yield* ended(other.child, "SIGTERM"), 0)
      assert.strictEqual(yield* keptRows(sql), 2)
      assert.strictEqual(serverPid(pidFile), pid)

      yield* Scope.close(scope, Exit.void)
      yield* until(() => !existsSync(pidFile) && !isAlive(pid))
    })
  )

  it.live(
    "is one server for processes that make a first start at the same time, and for those that leave at once",
    () =>
      Effect.gen(function* () {
        const { dataDir, parent, pidFile } = yield* dataFolder
        const holders = yield* Effect.all([holder(dataDir), holder(dataDir), holder(dataDir)])
        const ports = yield* Effect.forEach(holders, (one) => one.ready, { concurrency: "unbounded" })
        assert.strictEqual(new Set(ports.map(({ port }) => port)).size, 1)
        const codes = yield* Effect.forEach(holders, (one) => ended(one.child, "SIGTERM"), { concurrency: "unbounded" })
        assert.deepStrictEqual(codes, [0, 0, 0])
        assert.isFalse(existsSync(pidFile))
        const sql = yield* open(dataDir)
        assert.strictEqual(yield* keptRows(sql), 3)
        assert.isTrue(existsSync(join(parent, "data", "postgres")))
      })
  )

  it.live("is started again on its port when it ends while it is in use", () =>
    Effect.gen(function* () {
      const { dataDir, pidFile } = yield* usedFolder
      const sql = yield* open(dataDir)
      const [before] = yield* sql`select inet_server_port() as port`
      yield* killed(serverPid(pidFile)!)
      const [after] = yield* sql`select inet_server_port() as port`.pipe(
        Effect.retry({ schedule: Schedule.spaced("50 millis") }),
        Effect.timeout("20 minutes")
      )
      assert.deepStrictEqual(after, before)
    })
  )

  it.live("refuses a folder that another major version has made, and names it", () =>
    Effect.gen(function* () {
      const { dataDir } = yield* usedFolder
      writeFileSync(join(dataDir, "postgres", "data", "PG_VERSION"), "17\n")
      const error = yield* Effect.flip(open(dataDir))
      assert.include(error.message, "Postgres 17")
      assert.include(error.message, join(dataDir, "postgres", "data"))
      assert.include(error.message, "DATABASE_URL")
    })
  )

  it.live("refuses a data folder that cannot be one, and names the setting", () =>
    Effect.gen(function* () {
      const { parent } = yield* dataFolder
      writeFileSync(join(parent, "file"), "")
      const error = yield* Effect.flip(open(join(parent, "file", "data")))
      assert.match(error.message, /^DATA_DIR: /)
    })
  )

  describe.skipIf(!isRoot)(isRoot ? "under root" : "under root [skipped: not root]", () => {
    it.live("runs in a folder that only root may enter", () =>
      Effect.gen(function* () {
        const { dataDir, parent } = yield* dataFolder
        chmodSync(parent, 0o700)
        yield* Effect.scoped(Effect.flatMap(open(dataDir), (sql) => sql`create table kept as select 1 as holder`))
        const sql = yield* open(dataDir)
        assert.strictEqual(yield* keptRows(sql), 1)
      })
    )

    it.live(
      "continues as the owner of the folder, and refuses another user, or an owner that cannot enter the folder of the programs",
      () => (isOpenToOthers ? continuesAsOwner : refusesClosedPrograms)
    )
  })
})
