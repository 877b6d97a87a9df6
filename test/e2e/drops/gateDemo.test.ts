import { assert, describe, it } from "@effect/vitest"
import { fileURLToPath } from "node:url"
import { run } from "../support/Processes.ts"

const main = fileURLToPath(new URL("../../../src/main.ts", import.meta.url))

/** Where no program is found but Node's own folder. */
const withoutNginx = { ...process.env, PATH: fileURLToPath(new URL(".", `file://${process.execPath}`)) }

describe("usher demo --gate", () => {
  it("puts a shop behind nginx where it is installed, and reports every promise as kept", async () => {
    const printed = await run([main, "demo", "--gate"], process.env, 1_600)
    assert.match(printed, /The shop: http:\/\/127\.0\.0\.1:\d+, behind (nginx|the gate in the shop's own process)/)
    assert.match(printed, /the shop never has more than 20 inside: .*at most 20 grants/)
    assert.include(printed, "All 7 promises held.")
    assert.notInclude(printed, "BROKEN")
  })

  it("puts the gate into the shop's own process where nginx is not installed", async () => {
    const printed = await run([main, "demo", "--gate"], withoutNginx, 1_600)
    assert.include(printed, "nginx is not installed")
    assert.include(printed, "All 7 promises held.")
  })
})
