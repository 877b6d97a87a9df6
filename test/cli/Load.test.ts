/** `usher load` against a real server on loopback: a small herd, its report, and what is refused. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Report } from "../../src/load/Report.ts"
import * as Queue from "../support/queueOnServer.ts"
import * as TestDatabase from "../store/support/TestDatabase.ts"
import { organization, serving } from "./servingProcess.ts"
import * as Usher from "./usherProcess.ts"

const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "usher-load-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

/** A server and an organization, and the command line with its test keys. */
const aWorld = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  const settings = { DATABASE_URL: url }
  const server = yield* serving({ ...settings, OPERATIONS_PORT: "0" })
  yield* Usher.until(() => server.stderr().includes("Operations on"))
  const [metricsUrl] = /http:\/\/[\d.]+:\d+(?=[^\n]*$)/m.exec(/Operations on .*/.exec(server.stderr())![0])!
  const keys = yield* organization(settings)
  const path = yield* folder
  const load = (more: ReadonlyArray<string>, withKeys: Record<string, string> = {}) =>
    Usher.run(["load", "--url", server.consumerUrl, "--admin-url", server.adminUrl, ...more], {
      PUBLISHABLE_KEY: keys.testPublishableKey,
      SECRET_KEY: keys.testSecretKey,
      ...withKeys
    })
  const allow = (perSecond: number, minutes = 5) => {
    const named = ["--organization", keys.organizationId, "--minutes", `${minutes}`, "--per-second", `${perSecond}`]
    return Usher.run(["organizations", "allow-load", ...named], settings)
  }
  const admin = (path: string) =>
    Effect.promise(() =>
      Queue.send("GET", `${server.adminUrl}/api${path}`, { authorization: `Bearer ${keys.testSecretKey}` })
    )
  return { metricsUrl: `${metricsUrl}/metrics`, keys, load, allow, admin, file: (name: string) => join(path, name) }
})

const reportIn = (file: string): Report => JSON.parse(readFileSync(file, "utf8"))

describe("usher load", () => {
  it.live("runs a herd in two parts, reports it, proves it and archives its mechanisms", () =>
    Effect.gen(function* () {
      const { load, allow, admin, file, metricsUrl } = yield* aWorld
      const allowed = yield* allow(2_000)
      assert.match(allowed.stdout, /2000 requests a second until \d{4}-/)
      const herd = ["--consumers", "120", "--arrival", "herd:2s", "--admit-rate", "6000", "--patience", "20"]
      const parts = [["1/2", "poll"] as const, ["2/2", "stream"] as const]
      for (const [index, [part, watch]] of parts.entries()) {
        const written = ["--json", file(`${index}.json`), "--html", file(`${index}.html`)]
        const run = yield* load([
          ...herd,
          "--part",
          part,
          "--watch",
          watch,
          ...written,
          "--metrics-url",
          metricsUrl,
          "--fail-if",
          "errors>0%,unsent>0%"
        ])
        assert.strictEqual(run.code, 0, run.stdout + run.stderr)
        const measured = watch === "poll" ? "The servers took" : "Not the servers' processor time"
        assert.match(
          run.stdout,
          new RegExp(`Sizing +Measured: at most \\d+ entries in a second, p99 \\d+ ms\\. ${measured}`)
        )
        assert.match(
          run.stdout,
          /60 consumers need 1 front, .*\n +At most, Postgres included: one process [\d,]+, 4 cores/
        )
        const report = reportIn(file(`${index}.json`))
        assert.deepInclude(report.totals, { due: 60, unsent: 0, entered: 60, granted: 60, completed: 60, errors: 0 })
        assert.isAbove(report.latency.p99!, 0)
        assert.strictEqual(
          report.seconds.reduce((sum, { entered }) => sum + entered, 0),
          60
        )
        assert.isAbove(report.servers!.length, 0)
        assert.isAbove(Math.max(...report.servers!.map(({ cores }) => cores)), 0)
        assert.strictEqual(report.proofs.length, 8)
        for (const { claim, holds, detail } of report.proofs) assert.isTrue(holds, `${claim}: ${detail}`)
        const page = readFileSync(file(`${index}.html`), "utf8")
        assert.include(page, "Passed.")
        assert.include(page, "Processors that the servers use")
        assert.match(page, /<svg .*<polyline/s)
        assert.notMatch(page, /<script|https?:\/\/(?!127\.0\.0\.1)/)
      }
      const merged = yield* Usher.run([
        "load",
        "merge",
        file("0.json"),
        file("1.json"),
        "--json",
        file("all.json"),
        "--fail-if",
        "max>0ms"
      ])
      assert.strictEqual(merged.code, 1, "every entry takes longer than nothing")
      assert.match(merged.stdout + merged.stderr, /max>0ms: \d/)
      const all = reportIn(file("all.json"))
      assert.deepInclude(all.totals, { due: 120, entered: 120, completed: 120 })
      assert.deepStrictEqual(all.parts, ["1/2", "2/2"])
      assert.strictEqual(all.proofs.length, 16)

      const mix = "queue=4,draw=1,auction=1,timed_release=1,waitlist=1,appointment=1"
      const arriving = [
        "--consumers",
        "90",
        "--arrival",
        "herd:1s",
        "--admit-rate",
        "6000",
        "--patience",
        "20",
        "--mix",
        mix
      ]
      const written = ["--json", file("mixed.json"), "--html", file("mixed.html"), "--fail-if", "errors>0%,unsent>0%"]
      const mixed = yield* load([...arriving, ...written])
      assert.strictEqual(mixed.code, 0, mixed.stdout + mixed.stderr)
      const { totals, kinds, proofs } = reportIn(file("mixed.json"))
      assert.sameMembers(
        kinds!.map(({ kind }) => kind),
        ["queue", "draw", "auction", "timed_release", "waitlist", "appointment"]
      )
      const sum = (of: (kind: NonNullable<Report["kinds"]>[number]) => number) =>
        kinds!.reduce((total, kind) => total + of(kind), 0)
      assert.deepStrictEqual([totals.due, sum(({ entered }) => entered)], [90, totals.entered])
      assert.strictEqual(totals.entered + sum(({ refused }) => refused), 90)
      assert.strictEqual(
        totals.completed,
        sum(({ kind, entered }) => (/queue|timed/.test(kind) ? entered : 0))
      )
      for (const { claim, holds, detail } of proofs) assert.isTrue(holds, `${claim}: ${detail}`)
      assert.strictEqual(proofs.length, 8 + 4 * 3 + 4)
      assert.match(readFileSync(file("mixed.html"), "utf8"), /By mechanism.*<td>timed_release<\/td>/s)
      const { body } = yield* admin("/experiences")
      assert.deepStrictEqual(body.data, [], "no experience is left")
    })
  )

  it.live(
    "refuses live keys, a deployment without permission, one with too little, and one whose permission was withdrawn",
    () =>
      Effect.gen(function* () {
        const { load, allow, keys, admin, metricsUrl } = yield* aWorld
        const herd = ["--consumers", "100", "--arrival", "herd:1s"]
        const live = yield* load(herd, { PUBLISHABLE_KEY: keys.publishableKey, SECRET_KEY: keys.secretKey })
        assert.strictEqual(live.code, 1)
        assert.include(live.stdout + live.stderr, "never runs with live keys")
        yield* allow(1_000)
        const unread = yield* load([...herd, "--metrics-url", `${metricsUrl}/absent`])
        assert.strictEqual(unread.code, 1)
        assert.match(unread.stdout + unread.stderr, /could not be read: it answered 404/)
        yield* allow(1_000, 0)
        const without = yield* load(herd)
        assert.strictEqual(without.code, 1)
        assert.match(
          without.stdout + without.stderr,
          /has no permission to be loaded\..*usher organizations allow-load/s
        )
        yield* allow(100)
        const little = yield* load(herd)
        assert.strictEqual(little.code, 1)
        assert.include(little.stdout + little.stderr, "200 at their peak")
        yield* allow(1_000, 0)
        assert.include((yield* load(herd)).stderr, "has no permission")
        assert.deepStrictEqual((yield* admin("/experiences")).body.data, [])
      })
  )
})
