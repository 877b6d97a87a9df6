import { assert, describe, it } from "@effect/vitest"
import { help, parseArguments, programNames, scenarioIds } from "../../bench/Arguments.ts"

describe("the bench's command line", () => {
  it("runs every scenario when nothing is asked for, without the programs that take long", () => {
    const { scenarios, programs, quick, curves } = parseArguments([])
    assert.deepStrictEqual([...scenarios], [...scenarioIds])
    assert.deepStrictEqual(
      programNames.filter((name) => !programs.includes(name)),
      ["dbos", "pg-boss"]
    )
    assert.isFalse(quick)
    assert.isTrue(curves)
  })

  it("takes scenarios in any case and order, options with a blank or an equals sign", () => {
    const parsed = parseArguments([
      "p3",
      "P1",
      "--json",
      "a.json",
      "--svg=b.svg",
      "--quick",
      "--programs",
      "noop,usher"
    ])
    assert.deepStrictEqual([...parsed.scenarios], ["P1", "P3"])
    assert.deepStrictEqual([...parsed.programs], ["usher", "noop"])
    assert.deepStrictEqual([...parseArguments(["--programs", "pg-boss,usher"]).programs], ["usher", "pg-boss"])
    assert.strictEqual(parsed.json, "a.json")
    assert.strictEqual(parsed.svg, "b.svg")
    assert.isTrue(parsed.quick)
  })

  it("names a wrong argument and the valid ones", () => {
    assert.throws(() => parseArguments(["P99"]), /Unknown scenario "P99"; known are P1, /)
    assert.throws(() => parseArguments(["--speed"]), /Unknown option --speed/)
    assert.throws(() => parseArguments(["--quick=yes"]), /Unknown option --quick=yes/)
    assert.throws(() => parseArguments(["--json"]), /--json needs a value/)
    assert.throws(() => parseArguments(["--programs", "usher,express"]), /Unknown program "express"/)
    assert.throws(() => parseArguments(["--rounds", "0"]), /--rounds must be a whole number from 1 to 99/)
    assert.throws(() => parseArguments(["--idle", "20001"]), /--idle must be a whole number from 0 to 20000/)
    assert.throws(() => parseArguments(["P1", "P5", "--tls"]), /--tls is for P1, P3, P10, not for P5/)
  })

  it("explains every scenario and shows an example", () => {
    for (const id of scenarioIds) assert.include(help, `  ${id} `)
    assert.include(help, "Example: npm run bench -- P1 P3 --json figures.json")
  })
})
