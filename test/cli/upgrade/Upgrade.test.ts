/** `usher upgrade` as this release and as the next one, on a database of this release. */
import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { textOf } from "../../../src/domain/values/Release.ts"
import { contracted } from "../../e2e/support/release/nextRelease.ts"
import { latest } from "../../../src/store/postgres/Steps.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import * as UsherInProcess from "../usherInProcess.ts"

const next = fileURLToPath(new URL("../../e2e/support/release/nextReleaseProgram.ts", import.meta.url))

it.live("usher upgrade shows the outstanding steps, finishes it once, and keeps the former release out", () =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase.migratedDatabase
    const settings = { DATABASE_URL: url, LOG_LEVEL: "warn" }
    const asNext = (...args: ReadonlyArray<string>) =>
      execFileSync(process.execPath, [next, ...args], { env: { ...process.env, ...settings }, encoding: "utf8" })
    const own = (...args: ReadonlyArray<string>) => UsherInProcess.run(args, settings)

    assert.include(
      (yield* own("upgrade", "status")).stdout,
      `The database is at schema ${latest}, level 1.\nNo upgrade is pending.`
    )
    assert.include((yield* own("upgrade", "finish")).stdout, "No upgrade is pending.")

    asNext("migrate")
    const pending = asNext("upgrade", "status")
    assert.include(pending, `The database is at schema ${textOf([latest, latest + 1])}, level 1.`)
    assert.include(pending, `these steps are left: ${contracted}`)
    assert.include(pending, "`usher upgrade finish` can finish it")
    assert.strictEqual((yield* own("upgrade", "status")).code, 0)

    assert.include(asNext("upgrade", "finish"), `The level is 2, and it was 1. Applied: ${contracted}.`)
    assert.include(asNext("upgrade", "status", "--json"), '"isPending":false')
    const { code, stderr } = yield* own("upgrade", "status")
    assert.strictEqual(code, 1)
    assert.include(stderr, "its upgrade is finished")
  })
)
