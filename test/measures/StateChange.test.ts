import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { stateChanges } from "../../src/measures/StateChange.ts"

describe("state changes", () => {
  it("are listed for operators, each with its meaning", () => {
    const document = readFileSync(new URL("../../src/cli/OPERATIONS.md", import.meta.url), "utf8")
    const rows = [...document.matchAll(/^\| `([a-z]+\.[a-z_]+)` \| (.+) \|$/gm)].map(([, name, text]) => [name, text])
    assert.deepStrictEqual(Object.fromEntries(rows), { ...stateChanges })
  })
})
