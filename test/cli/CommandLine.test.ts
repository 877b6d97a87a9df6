import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer, Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { existsSync } from "node:fs"
import * as TestDatabase from "../store/support/TestDatabase.ts"
import { expanded as nextStep, nextRelease } from "../e2e/support/release/nextRelease.ts"
import * as UsherInProcess from "./usherInProcess.ts"
import * as Usher from "./usherProcess.ts"

const keyNames = ["organizationId", "publishableKey", "secretKey", "testPublishableKey", "testSecretKey"]

const anId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

const create = (...more: ReadonlyArray<string>) => ["organizations", "create", "--name", "Atelier Nord", ...more]

const connected = (url: string) => PgClient.make({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))

/** Runs `usher` as a process and here. Fails if the results differ. */
const runBothWays = Effect.fnUntraced(function* (args: ReadonlyArray<string>, settings: Record<string, string> = {}) {
  const [inProcess, process] = [yield* UsherInProcess.run(args, settings), yield* Usher.run(args, settings)]
  assert.deepStrictEqual(inProcess, process)
  return process
})

describe("usher", () => {
  it.live("has the same output and exit code as a process and inside the tests' process", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* runBothWays(["serve", "--help"])).code, 0)
      assert.strictEqual((yield* runBothWays(["dance"])).code, 1)
    })
  )

  for (const command of [
    ["serve"],
    ["migrate"],
    ["organizations", "create"],
    ["organizations", "list"],
    ["organizations", "set-plan"],
    ["keys", "list"],
    ["keys", "rotate"],
    ["signing-keys", "list"],
    ["signing-keys", "rotate"],
    ["signing-keys", "remove"],
    ["mechanisms", "parked"],
    ["mechanisms", "unpark"],
    ["nodes"],
    ["gate"],
    ["webhooks", "listen"],
    ["webhooks", "trigger"],
    ["webhooks", "replay"],
    ["webhooks", "deliver"],
    ["verify-draw"],
    ["replay"]
  ]) {
    it.live(`${command.join(" ")} --help shows its usage with an example`, () =>
      Effect.gen(function* () {
        const { code, stdout, stderr } = yield* UsherInProcess.run([...command, "--help"])
        assert.strictEqual(code, 0)
        assert.include(stdout, "EXAMPLES")
        assert.include(stdout, `usher ${command.join(" ")}`)
        assert.strictEqual(stderr, "")
      })
    )
  }

  const invalid: ReadonlyArray<readonly [args: ReadonlyArray<string>, named: string]> = [
    [["dance"], "dance"],
    [["migrate", "--twice"], "--twice"],
    [["organizations", "create", "--plan", "growth"], "--name"],
    [create("--plan", "gold"), '"starter" | "growth" | "enterprise"'],
    [["organizations", "create", "--name", " "], "1 to 200 printable characters"],
    [["organizations", "create", "--name", "x".repeat(201)], "1 to 200 printable characters"],
    [["organizations", "set-plan", "--organization", anId], "--plan"],
    [
      ["organizations", "set-plan", "--organization", anId, "--plan", "enterprise", "--limit", "requests=5"],
      "adminApiPerMinute"
    ],
    [["keys", "list"], "--organization"],
    [["keys", "list", "--organization", "Brand"], "--organization"],
    [["keys", "rotate", "--organization", anId, "--kind", "secret"], "--mode"],
    [["keys", "rotate", "--organization", anId, "--mode", "live", "--kind", "private"], '"publishable" | "secret"'],
    [["signing-keys", "remove"], "--kid"],
    [["mechanisms", "unpark"], "mechanism"],
    [["webhooks", "listen"], "--forward-to"],
    [["webhooks", "listen", "--forward-to", "ftp://127.0.0.1/"], "an http or https URL"],
    [["webhooks", "listen", "--forward-to", "http://127.0.0.1/", "--organization", "Brand"], "--organization"],
    [["webhooks", "trigger"], "type"],
    [["webhooks", "trigger", "distribution.unknown"], "distribution.joined"],
    [["webhooks", "trigger", "order.paid", "--webhook", "12"], "the id of a webhook"],
    [["webhooks", "replay", "--webhook", anId], "--from"],
    [["webhooks", "replay", "--webhook", anId, "--from", "yesterday"], "failed, an instant such as"],
    [["webhooks", "replay", "--webhook", anId, "--from", "2026-11-22T18:00:00"], "failed, an instant such as"],
    [["webhooks", "replay", "--webhook", anId, "--from", "0"], "failed, an instant such as"],
    [["webhooks", "replay", "--from", "failed"], "--webhook"],
    [["verify-draw"], "proof"],
    [["verify-draw", "proof.json", "--entry", "12"], "26 hexadecimal digits"]
  ]
  for (const [args, named] of invalid) {
    it.live(`${args.join(" ").slice(0, 60)} is refused on standard error, naming ${named}`, () =>
      Effect.gen(function* () {
        const { code, stdout, stderr } = yield* UsherInProcess.run(args)
        assert.strictEqual(code, 1)
        assert.strictEqual(stdout, "")
        assert.include(stderr, named)
        assert.match(stderr, /Run `usher.* --help`/)
      })
    )
  }

  it.live("reports a wrong setting in one message, without a stack, and ends with code 1", () =>
    Effect.gen(function* () {
      const { code, stdout, stderr } = yield* Usher.run(["migrate"], { LOG_LEVEL: "loud" })
      assert.strictEqual(code, 1)
      assert.strictEqual(stdout, "")
      assert.strictEqual(stderr.trim().split("\n").length, 1)
      assert.match(stderr, /^usher: LOG_LEVEL must be one of all, .*, but it is "loud"\. Correct it/)
    })
  )

  it.live("reports an unreachable database in one message, without the password", () =>
    Effect.gen(function* () {
      const { code, stdout, stderr } = yield* UsherInProcess.run(create("--json"), {
        DATABASE_URL: "postgres://u:geheim@127.0.0.1:1/d"
      })
      assert.strictEqual(code, 1)
      assert.strictEqual(stdout, "")
      assert.strictEqual(stderr.trim().split("\n").length, 1)
      assert.include(stderr, "DATABASE_URL (127.0.0.1, port 1")
      assert.notInclude(stderr, "geheim")
    })
  )

  it.live("creates organizations on the embedded database, with output for people and as one line for scripts", () =>
    Effect.gen(function* () {
      const { dataDir, pidFile } = yield* Usher.dataFolder
      const settings = { DATA_DIR: dataDir, LOG_LEVEL: "all" }
      const early = yield* UsherInProcess.run(create("--json"), { DATA_DIR: dataDir })
      assert.deepStrictEqual([early.code, early.stdout], [1, ""])
      assert.strictEqual(
        early.stderr,
        "usher: The database has no tables of Usher's yet. Run `usher migrate`, or start `usher serve`, to make them.\n"
      )
      assert.strictEqual((yield* UsherInProcess.run(["migrate"], settings)).code, 0)
      const first = yield* Usher.run(create("--plan", "starter", "--json"), settings)
      assert.strictEqual(first.code, 0)
      assert.match(first.stdout, /^\{.*\}\n$/)
      const keys = JSON.parse(first.stdout) as Record<string, string>
      assert.deepStrictEqual(Object.keys(keys), keyNames)
      assert.match(keys["publishableKey"]!, /^pk_live_/)
      assert.match(keys["testSecretKey"]!, /^sk_test_/)
      assert.notInclude(first.stderr, keys["secretKey"]!)

      const second = yield* UsherInProcess.run(create(), { DATA_DIR: dataDir })
      assert.strictEqual(second.code, 0)
      for (const kind of ["pk_live_", "sk_live_", "pk_test_", "sk_test_"]) assert.include(second.stdout, kind)
      assert.isFalse(existsSync(pidFile), "the embedded server has stopped")
    })
  )

  describe("on a server named by DATABASE_URL", () => {
    it.live("migrates, and reports the second time that there is nothing to do", () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase.emptyDatabase
        const first = yield* UsherInProcess.run(["migrate"], { DATABASE_URL: url })
        assert.deepStrictEqual([first.code, first.stderr], [0, ""])
        assert.match(first.stdout, /^Applied 0001_baseline/)
        const second = yield* UsherInProcess.run(["migrate"], { DATABASE_URL: url })
        assert.deepStrictEqual([second.code, second.stdout], [0, "The database's schema is up to date.\n"])
      })
    )

    it.live("refuses a schema that it cannot use in every command but migrate and serve, and does not change it", () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase.migratedDatabase
        const sql = yield* connected(url)
        const refused = Effect.fnUntraced(function* (expected: ReadonlyArray<string>, release?: Layer.Layer<never>) {
          for (const args of [
            create(),
            ["organizations", "list"],
            ["seed", "--large", "1"],
            ["keys", "list", "--organization", anId],
            ["signing-keys", "rotate"],
            ["mechanisms", "parked"],
            ["nodes"]
          ]) {
            const settings = { DATABASE_URL: url, LOG_LEVEL: "warn" }
            const { code, stdout, stderr } = yield* UsherInProcess.run(args, settings, release)
            assert.deepStrictEqual([code, stdout], [1, ""], args.join(" "))
            assert.strictEqual(stderr.trim().split("\n").length, 1)
            for (const text of expected) assert.include(stderr, text)
          }
        })
        const step = Effect.map(
          sql<{ step: number }>`select max(migration_id) as step from usher_migrations`,
          (rows) => rows[0]!.step
        )
        const latest = yield* step
        // Steps that only remove what former releases use may be missing.
        const needed = Number.parseInt(nextStep)
        yield* refused([`at step ${latest}`, `works with step ${needed}`, "run `usher migrate`"], nextRelease)
        assert.strictEqual(yield* step, latest)
        yield* sql`insert into usher_migrations (migration_id, name) values (${latest + 1}, 'from_the_future')`
        const expanded = { DATABASE_URL: url, LOG_LEVEL: "warn" }
        assert.strictEqual((yield* UsherInProcess.run(["nodes"], expanded)).code, 0)
        yield* sql`update installation set schema_base = ${latest + 1}`
        yield* refused([
          `at steps ${latest + 1} and level 1`,
          `knows steps up to ${latest}`,
          "Start that version or a later one"
        ])
        assert.strictEqual(yield* step, latest + 1)
      })
    )

    it.live(
      "refuses a database of a version from before the first release in every command, and does not change it",
      () =>
        Effect.gen(function* () {
          const { url } = yield* TestDatabase.emptyDatabase
          const sql = yield* connected(url)
          yield* sql`create table usher_migrations (migration_id int primary key, name text not null)`
          yield* sql`insert into usher_migrations values (1, 'foundation'), (43, 'textContracted')`
          for (const args of [
            ["serve"],
            ["migrate"],
            create(),
            ["nodes"],
            ["upgrade", "status"],
            ["verify-journal"],
            ["backup", "unwritten.usher"]
          ]) {
            const { code, stdout, stderr } = yield* UsherInProcess.run(args, { DATABASE_URL: url, LOG_LEVEL: "warn" })
            assert.deepStrictEqual([code, stdout], [1, ""], args.join(" "))
            assert.match(stderr, /^usher: .* from before the first release.* Name another database .*\n$/)
          }
          const tables = yield* sql`select tablename as name from pg_tables where schemaname = 'public'`
          assert.deepStrictEqual(tables, [{ name: "usher_migrations" }])
        })
    )

    it.live("lists and rotates keys, and reports an unknown organization or key with the fix", () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase.migratedDatabase
        const settings = { DATABASE_URL: url, LOG_LEVEL: "warn" }
        const made = JSON.parse((yield* UsherInProcess.run(create("--json"), settings)).stdout) as Record<
          string,
          string
        >
        const organization = ["--organization", made["organizationId"]!.toUpperCase()]

        const all = yield* UsherInProcess.run(["organizations", "list", "--json"], settings)
        assert.deepStrictEqual(JSON.parse(all.stdout), [
          { id: made["organizationId"], name: "Atelier Nord", plan: "growth" }
        ])
        const listed = yield* UsherInProcess.run(["keys", "list", ...organization], settings)
        assert.deepStrictEqual([listed.code, listed.stdout.trim().split("\n").length], [0, 4])
        assert.include(listed.stdout, `…${made["testSecretKey"]!.slice(-4)}`)
        for (const name of keyNames.slice(1)) assert.notInclude(listed.stdout, made[name]!.slice(12))

        const rotated = yield* UsherInProcess.run(
          ["keys", "rotate", ...organization, "--kind", "secret", "--mode", "test"],
          settings
        )
        assert.deepStrictEqual([rotated.code, rotated.stderr], [0, ""])
        assert.match(rotated.stdout, /^ {2}sk_test_[\w-]{32,}$/m)
        const again = yield* UsherInProcess.run(["keys", "list", ...organization], settings)
        assert.notInclude(again.stdout, `…${made["testSecretKey"]!.slice(-4)}`)

        const limits = ["--limit", "adminApiPerMinute=5000", "--limit", "queueEntriesPerSecond=7"]
        const planned = yield* UsherInProcess.run(
          ["organizations", "set-plan", ...organization, "--plan", "enterprise", ...limits],
          settings
        )
        assert.deepStrictEqual([planned.code, planned.stderr], [0, ""])
        const sql = yield* connected(url)
        assert.deepStrictEqual(yield* sql`select plan, settings from organizations`, [
          { plan: "enterprise", settings: { rateLimits: { adminApiPerMinute: 5000, queueEntriesPerSecond: 7 } } }
        ])

        for (const [args, remedy] of [
          [["organizations", "set-plan", "--organization", anId, "--plan", "starter"], "usher organizations list"],
          [["keys", "list", "--organization", anId], "usher organizations list"],
          [
            ["keys", "rotate", "--organization", anId, "--kind", "secret", "--mode", "live"],
            "usher organizations list"
          ],
          [["signing-keys", "remove", "--kid", "none"], "usher signing-keys list"]
        ] as const) {
          const { code, stdout, stderr } = yield* UsherInProcess.run(args, settings)
          assert.deepStrictEqual([code, stdout], [1, ""])
          assert.strictEqual(stderr.trim().split("\n").length, 1)
          assert.include(stderr, remedy)
          assert.include(stderr, args[2], "the message names the argument")
        }
      })
    )

    it.live("reports that no process serves, and that no mechanism is parked", () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase.migratedDatabase
        const settings = { DATABASE_URL: url, LOG_LEVEL: "warn" }
        const nodes = yield* runBothWays(["nodes"], settings)
        assert.deepStrictEqual([nodes.code, nodes.stderr], [0, ""])
        assert.match(nodes.stdout, /^No node is alive/)
        assert.strictEqual((yield* UsherInProcess.run(["nodes", "--json"], settings)).stdout, "[]\n")
        const parked = yield* UsherInProcess.run(["mechanisms", "parked"], settings)
        assert.deepStrictEqual([parked.code, parked.stdout], [0, "No mechanism is parked.\n"])
        for (const id of [anId, "unknown"]) {
          const unparked = yield* UsherInProcess.run(["mechanisms", "unpark", id], settings)
          assert.deepStrictEqual([unparked.code, unparked.stdout], [1, ""])
          assert.include(unparked.stderr, `No parked mechanism has the id ${id}`)
          assert.include(unparked.stderr, "usher mechanisms parked")
        }
      })
    )

    it.live("ends a waiting command on SIGINT, with the code of an interruption", () =>
      Effect.gen(function* () {
        const { url } = yield* TestDatabase.migratedDatabase
        const sql = yield* connected(url)
        yield* Effect.forkScoped(
          sql.withTransaction(Effect.andThen(sql`lock table organizations in exclusive mode`, Effect.never))
        )
        const waiting = yield* Usher.start(create("--json"), { DATABASE_URL: url })
        yield* sql<{ waits: boolean }>`
          select exists (select 1 from pg_locks join pg_class c on c.oid = relation
            where relname = 'organizations' and not granted) as waits`.pipe(
          Effect.repeat({ until: (rows) => rows[0]?.waits === true, schedule: Schedule.spaced("50 millis") })
        )
        waiting.child.kill("SIGINT")
        const { code, stdout } = yield* Usher.end(waiting)
        assert.deepStrictEqual([code, stdout], [130, ""])
      })
    )
  })
})
