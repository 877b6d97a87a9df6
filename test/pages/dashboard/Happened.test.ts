/** The words of the history of a drop. */
import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { hasWords } from "../../../src/pages/dashboard/drop/Happened.ts"

const folder = new URL("../../engine/recorded/level1/", import.meta.url)

interface Recording {
  readonly journals: ReadonlyArray<{ readonly events: ReadonlyArray<readonly [type: string]> }>
}

describe("The history of a drop", () => {
  it("has words for every event of a mechanism", () => {
    const files = readdirSync(folder).filter((file) => file !== "stock.jsonl")
    const lines = files.flatMap((file) => readFileSync(new URL(file, folder), "utf8").trim().split("\n"))
    const recorded = lines.flatMap((line) => (JSON.parse(line) as Recording).journals)
    const types = new Set(["SupplyNoted", ...recorded.flatMap(({ events }) => events.map(([type]) => type))])
    assert.isAbove(types.size, 30)
    assert.deepStrictEqual(
      [...types].filter((type) => !hasWords(type)),
      []
    )
  })
})
