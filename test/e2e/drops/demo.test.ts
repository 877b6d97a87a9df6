import { assert, describe, it } from "@effect/vitest"
import { fileURLToPath } from "node:url"
import { run } from "../support/Processes.ts"

const main = fileURLToPath(new URL("../../../src/main.ts", import.meta.url))

describe("usher demo", () => {
  it("runs a drop with a crash, reports every promise as kept, and exits with success", async () => {
    const printed = await run([main, "demo", "--consumers", "60"], process.env, 1_600)
    assert.include(printed, "SIGKILL")
    assert.match(printed, /no entry was lost: 60 acknowledged entries, 0 missing/)
    assert.include(printed, "the draw can be checked by anyone")
    assert.include(printed, "All 16 promises held.")
    assert.notInclude(printed, "BROKEN")
  })
})
