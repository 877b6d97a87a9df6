/** The linter's configuration has the rules of the house: the order of the rings, a pure domain, services for effects. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))
const programs = join(root, "node_modules/.bin")

/** Lints files in a folder of their own. Returns line and rule of each problem, by path. */
function lint(files: { readonly [path: string]: ReadonlyArray<string> }) {
  const folder = mkdtempSync(join(tmpdir(), "usher-lint-"))
  try {
    for (const [path, lines] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), `${lines.join("\n")}\n`)
    }
    const { stdout } = spawnSync(join(programs, "oxlint"), ["-c", join(root, ".ci/oxlintrc.json"), "-f", "unix"], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, PATH: `${programs}${delimiter}${process.env["PATH"]}` }
    })
    return [...stdout.matchAll(/^(\S+?):(\d+):\d+: .*\((.+?)\)\]$/gm)]
      .map(([, path, line, rule]) => `${path}:${line} ${rule}`)
      .toSorted()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("the linter", () => {
  it("reports imports that point right, sideways or out of src", () => {
    assert.deepStrictEqual(
      lint({
        "src/auth/tokens/Tokens.ts": [
          'import { a } from "../../settings/Settings.ts"',
          'import { b } from "../../engine/Engine.ts"',
          "export const c = [a, b]"
        ],
        "src/api/admin/QueueApi.ts": [
          'import { a } from "../../domain/values/Ids.ts"',
          'import { b } from "../../store/records/Records.ts"',
          'import { c } from "../../settings/Settings.ts"',
          "export const d = [a, b, c]"
        ],
        "src/engine/Engine.ts": ['export * from "../api/Errors.ts"'],
        "src/http/server/Server.ts": [
          'export * from "../../main.ts"',
          'export const a = import("../../../test/tidy/rules/Tree.ts")'
        ],
        "src/store/journal/Journal.ts": [
          'import { a } from "../../domain/Ids.ts"',
          'import { b } from "../../engine/Engine.ts"',
          "export const c = [a, b]"
        ]
      }),
      [
        "src/api/admin/QueueApi.ts:2 no-restricted-imports",
        "src/api/admin/QueueApi.ts:3 no-restricted-imports",
        "src/auth/tokens/Tokens.ts:2 no-restricted-imports",
        "src/engine/Engine.ts:1 no-restricted-imports",
        "src/http/server/Server.ts:1 no-restricted-imports",
        "src/http/server/Server.ts:2 no-restricted-imports",
        "src/store/journal/Journal.ts:2 no-restricted-imports"
      ]
    )
  })

  it("reports imports in a circle, also of types", () => {
    assert.deepStrictEqual(
      lint({
        "src/engine/A.ts": ['import type { B } from "./B.ts"', "export type A = B"],
        "src/engine/B.ts": ['import type { A } from "./A.ts"', "export type B = A"]
      }),
      ["src/engine/A.ts:1 no-cycle", "src/engine/B.ts:1 no-cycle"]
    )
  })

  it("reports a domain import of a runtime, a driver or Node, and of anything but hashing in the file that hashes", () => {
    assert.deepStrictEqual(
      lint({
        "src/domain/queue/Queue.ts": [
          'import { Schema, type Layer } from "effect"',
          'import { Effect } from "effect/Effect"',
          'import * as Option from "effect/Option"',
          'import * as Clock from "effect/Clock"',
          'import { SqlClient } from "effect/sql"',
          'import { createHash } from "node:crypto"',
          'import { Pool } from "pg"',
          "export const a: Layer.Any = [Schema, Effect, Option, Clock, SqlClient, createHash, Pool]"
        ],
        "src/domain/draw/Draw.ts": ['import { Effect } from "effect"', "export const a = Effect"],
        "src/domain/values/Digest.ts": ['import { hash } from "node:crypto"', "export const a = hash"],
        "src/domain/values/Signatures.ts": ['import { randomBytes } from "node:crypto"', "export const a = randomBytes"]
      }),
      [
        "src/domain/draw/Draw.ts:1 no-restricted-imports",
        ...[2, 4, 5, 6, 7].map((line) => `src/domain/queue/Queue.ts:${line} no-restricted-imports`),
        "src/domain/values/Signatures.ts:1 no-restricted-imports"
      ]
    )
  })

  it("reports clocks, chance, timers, printing and the environment in src, and not in scripts of browsers", () => {
    const lines = [
      "export const a = Date.now()",
      "export const b = Math.random()",
      'export const c = process.env["HOME"]',
      "setTimeout(() => undefined, 1)",
      "console.log(1)"
    ]
    assert.deepStrictEqual(lint({ "src/engine/Engine.ts": lines, "src/client/client.ts": lines }), [
      ...[1, 2, 3].map((line) => `src/engine/Engine.ts:${line} no-restricted-properties`),
      ...[4, 5].map((line) => `src/engine/Engine.ts:${line} no-restricted-globals`)
    ])
  })

  it("reports long files and functions", () => {
    const body = Array.from({ length: 60 }, (_, index) => `  globalThis.a${index} = ${index}`)
    assert.deepStrictEqual(
      lint({
        "src/engine/Long.ts": ["export function a() {", ...body, "}"],
        "src/engine/Longer.ts": Array.from({ length: 401 }, (_, index) => `export const a${index} = ${index}`)
      }),
      ["src/engine/Long.ts:1 max-lines-per-function", "src/engine/Longer.ts:401 max-lines"]
    )
  })
})
