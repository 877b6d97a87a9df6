/** `usher database upgrade` on a cluster of an earlier major version of Postgres, where this machine has one. */
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type FileSystem } from "effect"
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { findBinaries, majorVersion } from "../../../src/store/postgres/embedded/Binaries.ts"
import { chooseAccount, runAs } from "../../../src/store/postgres/embedded/ServerAccount.ts"
import { folderAt, username } from "../../../src/store/postgres/embedded/ServerFolder.ts"
import { ready, stop } from "../../../src/store/postgres/embedded/ServerProcess.ts"
import { onDatabase } from "../../store/support/connections.ts"
import * as Usher from "../usherProcess.ts"

const installed = "/usr/lib/postgresql"
const majors = existsSync(installed) ? readdirSync(installed).filter((name) => Number(name) >= 15) : []
const major = majors.find((name) => Number(name) < majorVersion)

const withFiles = <A, E>(effect: Effect.Effect<A, E, FileSystem.FileSystem>) =>
  Effect.provide(effect, NodeFileSystem.layer)

/** Makes a cluster of the earlier version in a data folder, with one organization. */
const formerCluster = Effect.fnUntraced(function* (dataDir: string, programs: string) {
  const folder = folderAt(join(dataDir, "postgres"))
  mkdirSync(folder.root, { recursive: true, mode: 0o700 })
  const binaries = { initdb: join(programs, "initdb"), postgres: join(programs, "postgres"), packageName: "postgres" }
  // An account that can run this version's programs too.
  const account = yield* chooseAccount(yield* findBinaries, dataDir, join(dataDir, "none"))
  writeFileSync(folder.password, "former-password", { mode: 0o600 })
  if (account._tag === "Other") {
    for (const path of [folder.root, folder.password]) chownSync(path, account.uid, account.gid)
  }
  const secrets = [`--username=${username}`, "--auth=scram-sha-256", `--pwfile=${folder.password}`]
  const made = yield* runAs(account, binaries.initdb, ["-D", folder.data, "--encoding=UTF8", "--locale=C", ...secrets])
  assert(made.succeeded, made.output)
  const port = yield* ready({ folder, binaries, account })
  const urlOf = (name: string) => `postgres://${username}:former-password@127.0.0.1:${port}/${name}`
  yield* onDatabase(urlOf("postgres"), (sql) => sql`create database usher`)
  const settings = { DATABASE_URL: urlOf("usher") }
  assert.strictEqual((yield* Usher.run(["migrate"], settings)).code, 0)
  const organizations = ["organizations", "create", "--name", "House", "--plan", "growth", "--json"]
  assert.strictEqual((yield* Usher.run(organizations, settings)).code, 0)
  yield* stop(folder)
  return folder
})

const sentence = "is refused at the start with the command that upgrades it, which keeps all data"
const title = major === undefined ? `${sentence} [skipped: no earlier Postgres]` : sentence

describe("an embedded Postgres of an earlier major version", () => {
  it.live.skipIf(major === undefined)(title, () =>
    Effect.gen(function* () {
      const { dataDir } = yield* Usher.dataFolder
      mkdirSync(dataDir)
      const programs = join(installed, major!, "bin")
      const folder = yield* withFiles(formerCluster(dataDir, programs))
      const settings = { DATA_DIR: dataDir }

      const refused = yield* Usher.run(["nodes"], settings)
      assert.include(refused.stderr, `was made by Postgres ${major}`)
      assert.include(refused.stderr, "usher database upgrade --old-binaries FOLDER")

      const wrong = yield* Usher.run(["database", "upgrade", "--old-binaries", dataDir], settings)
      assert.include(wrong.stderr, "has no program `postgres`")
      assert.strictEqual(readFileSync(join(folder.data, "PG_VERSION"), "utf8").trim(), major)

      const command = ["database", "upgrade", "--old-binaries", programs]
      const upgraded = yield* Usher.run(command, settings)
      assert.strictEqual(upgraded.code, 0, upgraded.stderr)
      assert.include(upgraded.stdout, "no difference")
      assert.strictEqual(readFileSync(join(folder.data, "PG_VERSION"), "utf8").trim(), `${majorVersion}`)
      assert.sameMembers(readdirSync(dataDir), ["postgres", `postgres.old-${major}`])
      const list = ["organizations", "list", "--json"]
      assert.include((yield* Usher.run(list, settings)).stdout, "House")
      assert.include((yield* Usher.run(command, settings)).stdout, "of this version's Postgres already")

      // Killed between the two renames, an upgrade is completed by the next start.
      renameSync(folder.root, join(dataDir, "postgres.upgraded"))
      assert.include((yield* Usher.run(list, settings)).stdout, "House")
    })
  )

  it.live("is not upgraded where DATABASE_URL names an external server", () =>
    Effect.gen(function* () {
      const settings = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none" }
      const refused = yield* Usher.run(["database", "upgrade", "--old-binaries", "/none"], settings)
      assert.include(refused.stderr, "DATABASE_URL names an external server")
    })
  )
})
