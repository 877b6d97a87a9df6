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
import { clockReadings, needlessExceptions } from "./tidy/rules/clocks.ts"
import { assertTidy, type Finding } from "./tidy/rules/Finding.ts"
import { strayTopLevel, untestedDomain, unwantedWords } from "./tidy/rules/layout.ts"
import { slowExpressions } from "./tidy/rules/expressions.ts"
import { scatteredTenancy } from "./tidy/rules/tenancy.ts"
import { bannedTokens } from "./tidy/rules/tokens.ts"
import { bannedWords } from "./tidy/rules/words.ts"
import { readTree, type TextFile, topLevel, typescriptIn } from "./tidy/rules/Tree.ts"

const tree = readTree()
const source = typescriptIn(tree, "src/")
/** Without the scripts of browsers, which have no Effect. */
const server = source.filter(({ path }) => !/^src\/(pages\/browser|client)\//.test(path))
const fileNamed = (path: string): TextFile => tree.find((file) => file.path === path) ?? { path, text: "" }

/** Returns the findings in short form, for samples. */
const found = (findings: ReadonlyArray<Finding>): ReadonlyArray<string> =>
  findings.map(({ path, line, problem }) => `${path}:${line} ${problem}`)

describe("the source", () => {
  it("uses no banned syntax", () => assertTidy(bannedTokens(server)))

  it("that uses some is found", () => {
    const statements = [
      "async function a() {}",
      "const b = async () => {}",
      "function c() { try { b() } finally { c() } }",
      "const d = new Date()",
      "// try new Date() and async",
      "const e = new Date(0)"
    ]
    const sample = { path: "src/engine/actor/Actor.ts", text: statements.join("\n") }
    assert.deepStrictEqual(
      found(bannedTokens([sample])),
      ["async", "async", "try", "new Date()"].map(
        (token, index) => `${sample.path}:${index + 1} ${token} is banned in src`
      )
    )
  })

  it("with an expression that backtracks, searches from every character, or is composed is found", () => {
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

  it("reads clocks in one file", () => {
    const read = tree.filter(({ path }) => !path.startsWith("src/pages/browser/"))
    assertTidy(clockReadings(read, exceptional.clocks))
    assert.deepStrictEqual(needlessExceptions(tree, exceptional.clocks), [])
  })

  it("that reads a clock elsewhere is found", () => {
    const text = [
      "const a = Clock.currentTimeMillis",
      "const b = Effect.map(Clock.Clock, (clock: Clock.Clock) => clock)",
      "const c = [Date.now(), performance.now(), DateTime.now, process.hrtime()]",
      "const d = sql`select now() - interval '1 day'`",
      "// Date.now()",
      "const e = Time.now"
    ].join("\n")
    const sample = [
      { path: "src/engine/A.ts", text },
      { path: "src/store/a.sql", text: "-- now()\nselect clock_timestamp()" },
      { path: "src/load/A.ts", text }
    ]
    const exceptions = [{ path: "src/engine/A.ts", reading: "Date.now", reason: "a sample" }]
    assert.deepStrictEqual(found(clockReadings(sample, exceptions)), [
      "src/engine/A.ts:1 reads Clock.currentTimeMillis",
      "src/engine/A.ts:2 reads Clock.Clock",
      "src/engine/A.ts:3 reads performance.now",
      "src/engine/A.ts:3 reads DateTime.now",
      "src/engine/A.ts:3 reads process.hrtime",
      "src/engine/A.ts:4 reads now()",
      "src/store/a.sql:2 reads clock_timestamp()"
    ])
    assert.deepStrictEqual(needlessExceptions(sample, [...exceptions, { ...exceptions[0]!, reading: "now" }]).length, 1)
  })

  it("writes the condition on the tenant in one file", () => assertTidy(scatteredTenancy(source)))

  it("that writes the condition on the tenant elsewhere is found", () => {
    const text = "const a = sql`select from orders o\nwhere o.organization_id = ${id}`"
    const sample = ["store/consumer/Orders", "store/records/Tenancy", "store/postgres/migrations/0002_orders"].map(
      (path) => ({ path: `src/${path}.ts`, text })
    )
    assert.deepStrictEqual(found(scatteredTenancy(sample)), [
      "src/store/consumer/Orders.ts:2 writes a condition on the tenant"
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
      { path: "src/domain/consumer/Order.ts", text: "export const a = () => 1" },
      { path: "src/domain/queue/Queue.ts", text: "export const a = () => 1" },
      {
        path: "src/domain/values/Shape.ts",
        text: 'import type { A } from "./Queue.ts"\nexport interface B extends A {}'
      },
      { path: "src/domain/values/Time.ts", text: "export const a = () => 1" },
      { path: "src/domain/mechanism/Refusals.ts", text: 'export class Full extends TaggedError("Full", {}) {}' },
      { path: "src/domain/values/Amount.ts", text: "export class Amount { double() { return 2 } }" },
      {
        path: "src/domain/values/Page.ts",
        text: 'export const A = Schema.Literals(["b", "c"])\nexport const d = 1 as const'
      },
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
    const sample = [{ path: "src/main.ts", text: "// Whoever asks\n// whom" }]
    const exception = { path: "src/main.ts", word: "whom", reason: "a sample" }
    const problem = "src/main.ts:1 says Whoever"
    assert.deepStrictEqual(found(bannedWords(sample, [])), [problem, "src/main.ts:2 says whom"])
    assert.deepStrictEqual(found(bannedWords(sample, [exception])), [problem])
    assert.deepStrictEqual(found(bannedWords([], [exception])), [
      "src/main.ts:1 does not say whom, but has an exception for it"
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
        [/^README\.md$/, 700],
        [/^src\/ARCHITECTURE\.md$/, 2_000],
        [/^src\/decisions\/\d{2,3}-.*\.md$/, 255]
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
