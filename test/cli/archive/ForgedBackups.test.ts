/** Backups that somebody has changed together with their digests. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { organization } from "../servingProcess.ts"
import * as UsherInProcess from "../usherInProcess.ts"
import { databaseAndFolder } from "./archiveFixture.ts"

const secretsKey = Buffer.alloc(32, 7).toString("base64")

const usher = (url: string, ...args: ReadonlyArray<string>) =>
  UsherInProcess.run(args, { DATABASE_URL: url, SECRETS_KEY: secretsKey })

describe("usher restore", () => {
  it.live("refuses a file that was changed with its digests, and one that its key cannot verify", () =>
    Effect.gen(function* () {
      const { url: source, folder } = yield* databaseAndFolder
      const file = join(folder, "usher.tar")
      yield* organization({ DATABASE_URL: source })
      assert.strictEqual((yield* usher(source, "backup", file)).code, 0)
      const other = Buffer.alloc(32, 8).toString("base64")
      const forgeries: ReadonlyArray<readonly [string, (files: Unpacked) => void, RegExp]> = [
        [
          "a row",
          ({ table }) => table("organizations", (text) => text.replace("enterprise", "growth")),
          /HMAC differs/
        ],
        ["no row", ({ table }) => table("organizations", () => ""), /its HMAC differs/],
        ["the heads", ({ manifest }) => manifest(({ heads }) => heads.events++), /its HMAC differs/],
        [
          "the instant",
          ({ manifest }) => manifest((one) => (one.at = "2020-01-01T00:00:00.000Z")),
          /differs from the manifest/
        ],
        ["the HMAC", ({ manifest }) => manifest((one) => (one.authentication.hmacSha256 = "00")), /its HMAC differs/],
        ["a key", ({ manifest }) => manifest((one) => (one.authentication.keyId = "0".repeat(16))), /does not have/],
        ["no HMAC", ({ manifest }) => manifest((one) => delete one.authentication), /it has no HMAC/]
      ]
      const { url } = yield* TestDatabase.emptyDatabase
      const forged = `${file}.forged`
      for (const [name, change, problem] of forgeries) {
        forge(file, forged, change)
        const { code, stderr } = yield* usher(url, "restore", forged)
        assert.deepStrictEqual([code, problem.test(stderr)], [1, true], `${name}: ${stderr}`)
        assert.include(stderr, "Nothing was restored", name)
      }
      const restore = (path: string, keys: string, ...args: ReadonlyArray<string>) =>
        Effect.flatMap(TestDatabase.emptyDatabase, ({ url }) =>
          UsherInProcess.run(["restore", path, ...args], { DATABASE_URL: url, SECRETS_KEY: keys })
        )
      assert.match((yield* restore(file, other)).stderr, /its HMAC is of the key [0-9a-f]{16}, which SECRETS_KEY/)
      assert.match((yield* restore(file, "")).stderr, /its HMAC is of the key [0-9a-f]{16}, which SECRETS_KEY/)
      assert.strictEqual((yield* restore(file, `${other},${secretsKey}`)).code, 0)
      // The last forgery is as a file of a release that wrote no HMAC.
      const unverified = yield* restore(forged, secretsKey, "--unverified")
      assert.deepStrictEqual([unverified.code, /was restored unverified/.test(unverified.stderr)], [0, true])
      assert.strictEqual((yield* restore(forged, "")).code, 0)
    })
  )
})

/** The changes of an unpacked backup. Its digests are made again. */
interface Unpacked {
  readonly table: (name: string, change: (text: string) => string) => void
  readonly manifest: (change: (manifest: any) => void) => void
}

/** Writes a copy of a backup that is changed as somebody would change it who knows its format, but not its key. */
const forge = (file: string, forged: string, change: (files: Unpacked) => void): void => {
  const folder = mkdtempSync(join(tmpdir(), "usher-forged-"))
  const names = spawnSync("tar", ["-tf", file], { encoding: "utf8" }).stdout.trim().split("\n")
  spawnSync("tar", ["-xf", file, "-C", folder])
  const path = (name: string) => join(folder, name)
  const sha256 = (content: string | Buffer) => createHash("sha256").update(content).digest("hex")
  const json = (name: string, edit: (value: any) => void) => {
    const value = JSON.parse(readFileSync(path(name), "utf8"))
    edit(value)
    writeFileSync(path(name), `${JSON.stringify(value, null, 2)}\n`)
  }
  change({
    manifest: (edit) => json("manifest.json", edit),
    table: (name, edit) => {
      const parts = names.filter((one) => one.startsWith(`${name}/`))
      const text = edit(Buffer.concat(parts.map((part) => gunzipSync(readFileSync(path(part))))).toString())
      for (const [index, part] of parts.entries()) writeFileSync(path(part), gzipSync(index === 0 ? text : ""))
      json("manifest.json", ({ tables }) => {
        const table = tables.find((one: any) => one.name === name)
        Object.assign(table, { bytes: Buffer.byteLength(text), sha256: sha256(text) })
        if (text === "") table.rows = 0
      })
    }
  })
  const sums = ["backup.json", "manifest.json"].map((name) => `${sha256(readFileSync(path(name)))}  ${name}\n`)
  writeFileSync(path("SHA256SUMS"), sums.join(""))
  spawnSync("tar", ["--format=ustar", "-cf", forged, "-C", folder, ...names])
  rmSync(folder, { recursive: true })
}
