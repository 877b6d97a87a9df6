import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { createsOrganization, shellCommand } from "../../src/settings/ShellCommand.ts"

describe("a command that an operator types", () => {
  it("is a script of the package, which runs without anything on the path", () => {
    assert.strictEqual(shellCommand("resume"), "npm run usher -- resume")
    const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))
    const [, script = ""] = /^npm run (\w+) -- /.exec(createsOrganization) ?? []
    assert.include(scripts[script], "src/main.ts")
  })
})
