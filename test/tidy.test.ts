/**
 * Style rules that a test enforces need no reviewer. Every rule reads the tree and names file, line and remedy. Each
 * rule also gets a bad sample, so that a rule that no longer finds anything fails.
 */
import { assert, describe, it } from "@effect/vitest"
import * as exceptional from "./tidy/exceptions.ts"
import { markdownTable } from "../src/settings/Settings.ts"
import {
  brokenLinks,
  longDocuments,
  staleSettingsTable,
  untrueLimits,
  withSettingsTable
} from "./tidy/rules/documents.ts"
import { assertTidy, type Finding } from "./tidy/rules/Finding.ts"
import { importCycles, importsPointingRight, impureImports } from "./tidy/rules/imports.ts"
import { strayTopLevel, untestedDomain, unwantedWords } from "./tidy/rules/layout.ts"
import { slowExpressions } from "./tidy/rules/expressions.ts"
import { longFiles, longFunctions } from "./tidy/rules/size.ts"
import { scatteredTenancy } from "./tidy/rules/tenancy.ts"
import { bannedTokens, type Exception } from "./tidy/rules/tokens.ts"
import { bannedWords } from "./tidy/rules/words.ts"
import { readTree, type TextFile, topLevel, typescriptIn } from "./tidy/rules/Tree.ts"

/** The allowed uses of banned tokens. */
const exceptions: ReadonlyArray<Exception> = []

const tree = readTree()
const source = typescriptIn(tree, "src/")
/** Without the scripts of browsers, which have no Effect. */
const server = source.filter(({ path }) => !/^src\/(pages\/browser|client)\//.test(path))
const code = ["src/", "test/", "bench/"].flatMap((folder) => typescriptIn(tree, folder))
/** A migration is written once and never split. */
const programs = code.filter(({ path }) => !/^(test|src\/store\/postgres\/migrations)\//.test(path))
const fileNamed = (path: string): TextFile => tree.find((file) => file.path === path) ?? { path, text: "" }

/** Returns the findings in short form, for samples. */
const found = (findings: ReadonlyArray<Finding>): ReadonlyArray<string> =>
  findings.map(({ path, line, problem }) => `${path}:${line} ${problem}`)

describe("imports", () => {
  it("only point left", () => assertTidy(importsPointingRight(source)))

  it("to the right, sideways, out of src or from an unknown folder are found", () => {
    const sample = [
      {
        path: "src/store/journal/Journal.ts",
        text: 'import { a } from "../../domain/Ids.ts"\nimport { b } from "../../engine/Engine.ts"'
      },
      {
        path: "src/auth/tokens/Tokens.ts",
        text: 'import { a } from "../../settings/Settings.ts"\nimport { b } from "../../engine/Engine.ts"'
      },
      {
        path: "src/http/server/Server.ts",
        text: 'export * from "../../main.ts"\nconst a = import("../../../test/tidy/rules/Tree.ts")'
      },
      { path: "src/misc/Things.ts", text: 'import { a } from "../domain/Ids.ts"' }
    ]
    assert.deepStrictEqual(found(importsPointingRight(sample)), [
      "src/store/journal/Journal.ts:2 store imports engine (../../engine/Engine.ts)",
      "src/auth/tokens/Tokens.ts:2 auth imports engine (../../engine/Engine.ts)",
      "src/http/server/Server.ts:1 http imports main.ts (../../main.ts)",
      "src/http/server/Server.ts:2 http imports test/tidy/rules/Tree.ts (../../../test/tidy/rules/Tree.ts)",
      "src/misc/Things.ts:1 src/misc is in no ring"
    ])
  })

  it("never go in a circle", () => assertTidy(importCycles(source)))

  it("in a circle are found", () => {
    const sample = [
      { path: "src/engine/A.ts", text: 'import type { b } from "./B.ts"' },
      { path: "src/engine/B.ts", text: 'import { c } from "./C.ts"' },
      { path: "src/engine/C.ts", text: 'import { a } from "./A.ts"' }
    ]
    assert.deepStrictEqual(found(importCycles(sample)), [
      "src/engine/C.ts:1 imports in a circle: src/engine/A.ts → src/engine/B.ts → src/engine/C.ts → src/engine/A.ts"
    ])
  })

  it("keep the domain pure", () => assertTidy(impureImports(source)))

  it("of a runtime, a driver or Node into the domain are found", () => {
    const text = [
      'import { Effect, Schema, type Layer } from "effect"',
      'import * as Option from "effect/Option"',
      'import * as Clock from "effect/Clock"',
      'import { SqlClient } from "effect/sql"',
      'import { createHash } from "node:crypto"'
    ].join("\n")
    assert.deepStrictEqual(found(impureImports([{ path: "src/domain/queue/Queue.ts", text }])), [
      "src/domain/queue/Queue.ts:1 domain imports Effect",
      "src/domain/queue/Queue.ts:3 domain imports effect/Clock",
      "src/domain/queue/Queue.ts:4 domain imports effect/sql",
      "src/domain/queue/Queue.ts:5 domain imports node:crypto"
    ])
  })

  it("of anything but hashing into the file that hashes are found", () => {
    const hashing = 'import { createHash, hash } from "node:crypto"'
    const text = `${hashing}\nimport { randomBytes } from "node:crypto"\nimport * as crypto from "node:crypto"`
    assert.deepStrictEqual(found(impureImports([{ path: "src/domain/values/Digest.ts", text }])), [
      "src/domain/values/Digest.ts:2 domain imports node:crypto",
      "src/domain/values/Digest.ts:3 domain imports node:crypto"
    ])
  })
})

describe("the source", () => {
  it("uses no banned token, and has no unused exception", () => assertTidy(bannedTokens(server, exceptions)))

  it("that uses one is found", () => {
    const statements = [
      "async function a() {}",
      "const b = async () => {}",
      "function c() { try { b() } finally { c() } }",
      "const d = Date.now()",
      "const e = new Date()",
      "const f = Math.random()",
      "setTimeout(c, 1)",
      'console.log("g")',
      "const h = d as any",
      'const i = process.env["HOME"]',
      "// @ts-ignore"
    ]
    const sample = { path: "src/engine/actor/Actor.ts", text: statements.join("\n") }
    const tokens = ["async", "async", "try", "Date.now", "new Date()", "Math.random", "setTimeout", "console", "as any"]
    assert.deepStrictEqual(
      found(bannedTokens([sample], [])),
      [...tokens, "process.env", "@ts-ignore"].map(
        (token, index) => `${sample.path}:${index + 1} ${token} is banned in src`
      )
    )
  })

  it("may mention them in comments and text, and make a date from a number", () => {
    const text = '// try Date.now() and async\nconst a = "console.log"\nconst b = new Date(0)'
    assert.deepStrictEqual(found(bannedTokens([{ path: "src/domain/values/Time.ts", text }], [])), [])
  })

  it("with an exception that is no longer used is found", () => {
    const exception = { path: "src/main.ts", token: "console", reason: "a sample" }
    const sample = { path: exception.path, text: 'console.log("a")' }
    assert.deepStrictEqual(found(bannedTokens([sample], [exception])), [])
    assert.deepStrictEqual(found(bannedTokens([{ ...sample, text: "" }], [exception])), [
      "src/main.ts:1 does not use console, but has an exception for it"
    ])
  })

  it("matches text in linear time", () => assertTidy(slowExpressions(source)))

  it("that backtracks, searches from every character, or composes an expression is found", () => {
    const slow = [
      "/^(a+)+$/",
      String.raw`/^\s*(?:"[\w -]+"|[\w -]+)(?:\s*,\s*(?:"[\w -]+"|[\w -]+))*\s*$/`,
      String.raw`/^\d*\d*x/u`,
      String.raw`/\/+$/`,
      String.raw`/\s*\n\s*/g`,
      "/(?:a|ab?)*$/i"
    ]
    const composed = ['new RegExp("a")', "RegExp(text)"]
    const linear = [String.raw`/(?<!\/)\/+$/`, "/^[a-z]+$/", String.raw`/^(?:\d{1,3}\.){3}\d{1,3}$/`, "/\\s+/g"]
    const text = [...slow, ...composed, ...linear].join("\n;")
    assert.deepStrictEqual(
      slowExpressions([{ path: "src/a.ts", text }]).map(({ line }) => line),
      [...slow, ...composed].map((_, index) => index + 1)
    )
  })

  it("writes the condition on the tenant in one file", () => assertTidy(scatteredTenancy(source)))

  it("that writes the condition on the tenant elsewhere is found", () => {
    const text = "const a = sql`select from orders o\nwhere o.organization_id = ${id}`"
    const sample = ["store/consumer/Orders", "store/records/Tenancy", "store/postgres/migrations/0008_orders"].map(
      (path) => ({ path: `src/${path}.ts`, text })
    )
    assert.deepStrictEqual(found(scatteredTenancy(sample)), [
      "src/store/consumer/Orders.ts:2 writes a condition on the tenant"
    ])
  })

  it("has files of at most 400 lines", () => assertTidy(longFiles(code, 400, {})))

  it("has functions of at most 60 lines", () => assertTidy(longFunctions(programs, 60, exceptional.functions)))

  it("with a longer file or function is found, and so is an exception that is larger than needed", () => {
    const sample = [{ path: "src/main.ts", text: "const a = 1\nfunction b() {\n  return a\n}\n" }]
    assert.deepStrictEqual(found(longFiles(sample, 4, {})), [])
    assert.deepStrictEqual(found(longFiles(sample, 3, {})), ["src/main.ts:4 has 4 lines, at most 3"])
    assert.deepStrictEqual(found(longFiles(sample, 2, { "src/main.ts": 3 })), ["src/main.ts:4 has 4 lines, at most 3"])
    assert.deepStrictEqual(found(longFiles(sample, 3, { "src/main.ts": 4 })), [])
    assert.deepStrictEqual(found(longFiles(sample, 3, { "src/main.ts": 5 })), [
      "src/main.ts:4 has 4 lines, and an exception for 5"
    ])
    assert.deepStrictEqual(found(longFiles(sample, 4, { "src/main.ts": 4 })), [
      "src/main.ts:4 has 4 lines, and an exception for 4"
    ])
    assert.deepStrictEqual(found(longFunctions(sample, 2, {})), [
      "src/main.ts:2 has 3 lines in one function, at most 2"
    ])
  })
})

describe("the layout", () => {
  it("has only the agreed names at the top", () => assertTidy(strayTopLevel(topLevel())))

  it("with another name at the top is found", () => {
    assert.deepStrictEqual(found(strayTopLevel(["src", "lib"])), ["lib:1 is at the top level"])
  })

  it("has a test for every file of the domain", () => assertTidy(untestedDomain(tree)))

  it("with a domain file that runs something and has no test is found", () => {
    const sample = [
      { path: "src/domain/consumer/Order.ts", text: "export const a = 1" },
      { path: "src/domain/queue/Queue.ts", text: "export const a = 1" },
      {
        path: "src/domain/values/Shape.ts",
        text: 'import type { A } from "./Queue.ts"\nexport interface B extends A {}'
      },
      { path: "src/domain/values/Time.ts", text: "export const a = 1" },
      { path: "src/domain/mechanism/Refusals.ts", text: 'export class Full extends TaggedError("Full", {}) {}' },
      { path: "src/domain/values/Amount.ts", text: "export class Amount { double() { return 2 } }" },
      { path: "test/domain/values/Time.test.ts", text: "" }
    ]
    assert.deepStrictEqual(found(untestedDomain(sample)), [
      "src/domain/consumer/Order.ts:1 has no test",
      "src/domain/values/Amount.ts:1 has no test"
    ])
  })

  it("contains no words for unfinished work and no path of one machine", () => assertTidy(unwantedWords(tree)))

  it("with such a word in it is found", () => {
    const word = "todo".toUpperCase()
    const sample = { path: "src/main.ts", text: `const a = 1\n// ${word}: b` }
    assert.deepStrictEqual(found(unwantedWords([sample])), [`src/main.ts:2 contains ${word}`])
  })
})

describe("the words", () => {
  it("are plain, in code and documents", () => {
    const read = tree.filter(({ path }) => /\.(ts|md)$/.test(path) && !path.startsWith("test/tidy"))
    assertTidy(bannedWords(read, exceptional.words))
  })

  it("that are banned are found, and so is an exception that is not used", () => {
    const sample = [{ path: "src/main.ts", text: "// Whoever asks\nconst territory = 1" }]
    const exception = { path: "src/main.ts", word: "territory", reason: "a sample" }
    const problem = "src/main.ts:1 says Whoever"
    assert.deepStrictEqual(found(bannedWords(sample, [])), [problem, "src/main.ts:2 says territory"])
    assert.deepStrictEqual(found(bannedWords(sample, [exception])), [problem])
    assert.deepStrictEqual(found(bannedWords([], [exception])), [
      "src/main.ts:1 does not say territory, but has an exception for it"
    ])
  })
})

describe("the documents", () => {
  it("have no broken link", () => assertTidy(brokenLinks(tree)))

  it("with a broken link are found", () => {
    const text =
      "# A head\n[a](#a-head) [b](src) [c](src/main.ts) [d](https://example.com)\n[e](#b-head) [f](src/none.ts)"
    const sample = [
      { path: "README.md", text },
      { path: "src/main.ts", text: "" }
    ]
    assert.deepStrictEqual(found(brokenLinks(sample)), [
      "README.md:3 links to #b-head",
      "README.md:3 links to src/none.ts"
    ])
  })

  it("are short", () =>
    assertTidy(
      longDocuments(tree, [
        [/^README\.md$/, 1_500],
        [/^src\/ARCHITECTURE\.md$/, 2_000],
        [/^src\/decisions\/\d{2,3}-.*\.md$/, 250]
      ])
    ))

  it("with more words than agreed are found", () => {
    const sample = [
      { path: "README.md", text: "# Usher\n\nThree words more\n" },
      { path: "src/LIMITS.md", text: "without a limit of its own" }
    ]
    assert.deepStrictEqual(found(longDocuments(sample, [[/^README\.md$/, 5]])), [])
    assert.deepStrictEqual(found(longDocuments(sample, [[/^README\.md$/, 4]])), ["README.md:1 has 5 words, at most 4"])
  })

  it("show every setting as in the code", () =>
    assertTidy(staleSettingsTable(fileNamed("src/settings/README.md"), markdownTable())))

  it("with an old table of settings are found, and are corrected by the script", () => {
    const text = "# Settings\n<!-- settings -->\n\n| old |\n\n<!-- /settings -->\nrest"
    const problem = "src/settings/README.md:2 the table of settings is not the one of src/settings/Settings.ts"
    assert.deepStrictEqual(found(staleSettingsTable({ path: "src/settings/README.md", text }, "| new |")), [problem])
    const updated = { path: "src/settings/README.md", text: withSettingsTable(text, "| new |") }
    assert.deepStrictEqual(found(staleSettingsTable(updated, "| new |")), [])
    assert.isTrue(updated.text.endsWith("<!-- /settings -->\nrest"))
  })
})

describe("the limits", () => {
  it("are the source's", () => assertTidy(untrueLimits(tree)))

  it("that differ from the source's are found", () => {
    const rows = ["| [`a`](A.ts) | 1,000 | |", "| [`b`](A.ts)     | 5      | |", "| [`c`](A.ts) | 5 | |"]
    const sample = [
      { path: "src/LIMITS.md", text: rows.join("\n") },
      { path: "src/A.ts", text: "const a = 1_000\nconst options = { b: 6 }" }
    ]
    assert.deepStrictEqual(found(untrueLimits(sample)), [
      "src/LIMITS.md:2 b is 5 here and 6 in src/A.ts",
      "src/LIMITS.md:3 c is 5 here and not a plain number in src/A.ts"
    ])
  })
})
